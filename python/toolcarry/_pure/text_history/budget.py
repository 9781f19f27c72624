"""A text history within a budget: results first, then the lines of calls, and only then messages, the oldest each time.

Of the messages whole exchanges go, which a message of the user's begins; of the last one what the user says goes last, and
prompts go after all else. A line that is measured by itself begins with a bracket behind a line feed, where both encodings
split: so the tokens of a message are those of its parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from toolcarry._pure.context.limits import Measure
from toolcarry._pure.text.truncate import cut
from toolcarry._pure.text_history.call_line import SEPARATOR, ToolLine
from toolcarry._pure.text_history.message import ASSISTANT, Told
from toolcarry._pure.tokens.truncate import cut_tokens

LEAST: Final = 80
"""Characters of a result that stay as long as lines need not be shortened to their calls."""


class Sized:
    """A line, and what it takes with what stands behind it."""

    __slots__ = ("_end", "_measure", "line", "size")

    def __init__(self, line: ToolLine, end: str, measure: Measure) -> None:
        self.line = line
        self._end = end
        self._measure = measure
        self.size = measure.size(line.text() + end)

    def cut(self, over: int) -> int:
        """Cut the result by as much as is over, or as far as may be; how much smaller the line is."""
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
        """Leave nothing but the call; how much smaller the line is."""
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
        """How much of a result may stay for the line to take no more than is allowed; never less than the least."""
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


def shrink(told: list[Told], total: int, measure: Measure) -> tuple[list[Told], int]:
    """The messages that fit a total, and what they take."""
    lines = [list(sized_lines(message, measure)) for message in told]
    said = [measure.size(message.said) for message in told]
    over = sum(said) + sum([line.size for each in lines for line in each]) - total
    for make_smaller in (Sized.cut, Sized.shorten):
        for each in lines:
            for line in each:
                if over <= 0:
                    return told, total + over
                over -= make_smaller(line, over)
    sizes = [own + sum([line.size for line in each]) for own, each in zip(said, lines, strict=True)]
    gone: set[int] = set()
    for unit in units(told):
        if over <= 0:
            break
        gone.update(unit)
        over -= sum([sizes[number] for number in unit])
    kept = [message for number, message in enumerate(told) if number not in gone]
    return kept, total + over


def sized_lines(message: Told, measure: Measure) -> Iterator[Sized]:
    for number, line in enumerate(message.lines, 1):
        yield Sized(line, "" if number == len(message.lines) else SEPARATOR, measure)


def units(told: Sequence[Told]) -> Iterator[list[int]]:
    """What goes as one, in the order in which it goes, as numbers of messages."""
    exchanges: list[list[int]] = [[]]
    prompts: list[int] = []
    for number, message in enumerate(told):
        if message.role not in ("user", ASSISTANT):
            prompts.append(number)
            continue
        if message.role == "user" and exchanges[-1]:
            exchanges.append([])
        exchanges[-1].append(number)
    *earlier, last = exchanges
    yield from earlier
    yield from ([number] for number in last if told[number].role == ASSISTANT)
    yield from ([number] for number in last if told[number].role != ASSISTANT)
    yield from ([number] for number in prompts)
