"""Fit a text history into a budget: cut results, then lines of calls, and only then messages, the oldest first.

Messages are removed in whole exchanges, which begin with a user message. In the last exchange the user messages go
last, and prompts go after everything else. A line that is measured by itself begins with a bracket after a line feed,
at which both encodings split: so the tokens of a message are the sum of those of its parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from toolcarry._pure.context.limits import Measure
from toolcarry._pure.text.truncate import cut
from toolcarry._pure.text_history.call_line import SEPARATOR, ToolLine
from toolcarry._pure.text_history.message import ASSISTANT, HistoryMessage
from toolcarry._pure.tokens.truncate import cut_tokens

LEAST: Final = 80
"""The characters of a result that stay, until lines have to be shortened to their calls."""


class Sized:
    """A line, and its size with the text after it."""

    __slots__ = ("_end", "_measure", "line", "size")

    def __init__(self, line: ToolLine, end: str, measure: Measure) -> None:
        self.line = line
        self._end = end
        self._measure = measure
        self.size = measure.size(line.text() + end)

    def cut(self, over: int) -> int:
        """Cut the result to save ``over``, or as much as possible, and return how much smaller the line is."""
        text = self.line.result
        if len(text) <= LEAST:
            return 0
        least, _ = cut(text, LEAST, "head")
        if self._size(text[:least]) >= self.size:
            return 0
        self.line.result = text[: self._longest(text, least, self.size - over)]
        self.line.fate = "cut_further"
        return self._resize(self._size(self.line.result))

    def shorten(self, _over: int) -> int:
        """Remove everything but the call, and return how much smaller the line is."""
        size = self._measure.size(self.line.call + self._end)
        if size >= self.size:
            return 0
        self.line.fate = "shortened"
        return self._resize(size)

    def _resize(self, size: int) -> int:
        won = self.size - size
        self.size = size
        return won

    def _longest(self, text: str, least: int, allowed: int) -> int:
        """Return how much of a result the line may keep to stay within ``allowed``; never less than ``least``."""
        limit = allowed - self._size("")
        encoding = self._measure.encoding
        while limit > 0:
            if encoding is None:
                head, _ = cut(text, limit, "head")
            else:
                head, _ = cut_tokens(text, limit, "head", encoding)
            if head <= least:
                break
            excess = self._size(text[:head]) - allowed
            if excess <= 0:
                return head
            limit -= excess
        return least

    def _size(self, result: str) -> int:
        return self._measure.size(self.line.with_result(result, is_cut=True) + self._end)


def shrink(
    history_messages: list[HistoryMessage], total: int, measure: Measure
) -> tuple[list[HistoryMessage], int]:
    """Return the messages that fit a total, and their size."""
    lines = [list(_sized_lines(message, measure)) for message in history_messages]
    said = [measure.size(message.text_before_lines) for message in history_messages]
    over = sum(said) + sum([line.size for each in lines for line in each]) - total
    for make_smaller in (Sized.cut, Sized.shorten):
        for each in lines:
            for line in each:
                if over <= 0:
                    return history_messages, total + over
                over -= make_smaller(line, over)
    sizes = [own + sum([line.size for line in each]) for own, each in zip(said, lines, strict=True)]
    gone: set[int] = set()
    for unit in units(history_messages):
        if over <= 0:
            break
        gone.update(unit)
        over -= sum([sizes[number] for number in unit])
    kept = [message for number, message in enumerate(history_messages) if number not in gone]
    return kept, total + over


def _sized_lines(message: HistoryMessage, measure: Measure) -> Iterator[Sized]:
    for number, line in enumerate(message.lines, 1):
        yield Sized(line, "" if number == len(message.lines) else SEPARATOR, measure)


def units(history_messages: Sequence[HistoryMessage]) -> Iterator[list[int]]:
    """Yield the messages that are removed together, as numbers, in the order of removal."""
    exchanges: list[list[int]] = [[]]
    prompts: list[int] = []
    for number, message in enumerate(history_messages):
        if message.role not in ("user", ASSISTANT):
            prompts.append(number)
            continue
        if message.role == "user" and exchanges[-1]:
            exchanges.append([])
        exchanges[-1].append(number)
    *earlier, last = exchanges
    yield from earlier
    yield from ([number] for number in last if history_messages[number].role == ASSISTANT)
    yield from ([number] for number in last if history_messages[number].role != ASSISTANT)
    yield from ([number] for number in prompts)
