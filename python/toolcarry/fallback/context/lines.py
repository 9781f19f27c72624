"""Blocks in lines: the cost of each, its words, and those that are taken; see ``novel`` for how they are chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry.fallback.context.block import (
    DIFF_KEYS,
    NEW_KEYS,
    WRITTEN_KEYS,
    first_text,
    language_of,
    reference_of,
    sources,
)
from toolcarry.fallback.context.budget import Candidate
from toolcarry.fallback.context.fence import (
    NO_OUTPUT,
    Fenced,
    Source,
    cut_to,
    fence_mark,
    limits_on,
)
from toolcarry.fallback.context.limits import Limits, Measure
from toolcarry.fallback.shorten.kinds import FAILURES
from toolcarry.fallback.words import estimate, words_of
from toolcarry.model.content import result_text
from toolcarry.model.content.client_blocks import without_blocks
from toolcarry.model.content.media import is_media_line
from toolcarry.model.pairing.block import Entry
from toolcarry.model.text.truncate import cut
from toolcarry.model.titles import section_of
from toolcarry.types.policy import CarryPolicy
from toolcarry.types.values import CutSide, Partial

GAP: Final = "..."

CHARS: Final = 4
"""The characters that stand for one token where the total counts characters."""
SHARED: Final = 4_000
"""The tokens of a total of which a quarter is a share; of what is beyond, half is."""
HEADING: Final = 16
"""The tokens of a heading and its fences, as far as the choice is concerned."""
LONGEST_PIECE: Final = 400

_NUMBER = re.compile(r"^ *([0-9]{1,9})(?:\u2192|\t|\||: ?| )")


def without_numbers(lines: list[str]) -> list[str] | None:
    """Return the lines without the numbers that a tool put before them; None if most have none.

    >>> without_numbers(["1\\tone", "2\\ttwo", "", "3\\tthree"])
    ['one', 'two', '', 'three']
    """
    before = ascending = filled = 0
    for line in lines:
        if not line.strip(" \t"):
            continue
        filled += 1
        match = _NUMBER.match(line)
        if match is not None:
            number = int(match[1])
            ascending += before != 0 and number == before + 1
            before = number
    if filled < 3 or 5 * ascending < 3 * (filled - 1):
        return None
    return [_NUMBER.sub("", line, count=1) for line in lines]


def pieces(line: str) -> Iterator[str]:
    """Yield the parts of a line, each of at most ``LONGEST_PIECE`` characters. The line of a medium stays whole."""
    if len(line) > LONGEST_PIECE and not is_media_line(line):
        start = 0
        while len(line) - start > LONGEST_PIECE:
            window = line[start : start + LONGEST_PIECE + 1]
            end = 1 + max(window.rfind(" ", LONGEST_PIECE // 2, LONGEST_PIECE),
                          window.rfind(",", LONGEST_PIECE // 2, LONGEST_PIECE))  # fmt: skip
            end = end or cut(window, LONGEST_PIECE, "head")[0] or LONGEST_PIECE
            yield window[:end]
            start += end
        line = line[start:]
    yield line


class Prices:
    """The unit of a total: the sizes of short texts, exact and estimated."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.token = CHARS if measure.encoding is None else 1
        """The size that stands for one token."""
        self.gap = measure.size(f"{GAP}\n")

    def estimate(self, line: str) -> int:
        return len(line) + 1 if self.measure.encoding is None else estimate(line)

    def share(self, total: int) -> int:
        """Return the part of a total that the newest blocks, and one file, may take."""
        first = min(total, SHARED * self.token)
        return first // 4 + (total - first) // 2


class TextLines:
    """A text of a block in lines: what they cost, their words, and those of them that are taken."""

    __slots__ = (
        "best",
        "block",
        "cost",
        "costs",
        "is_cut",
        "joined",
        "language",
        "lines",
        "numbers",
        "open",
        "said",
        "taken",
        "taken_count",
        "words",
    )

    def __init__(self, block: Block, lines: list[str], source: Source, is_cut: bool) -> None:
        self.block = block
        self.language = source.language
        self.is_cut = is_cut
        self.said = source.content is None
        """True if the text is an argument of the call, and no result."""
        self.lines: list[str] = []
        self.joined: list[bool] = []
        """True for a part that continues the line before."""
        self.numbers: list[int] = []
        for number, line in enumerate(lines, 1):
            for part, piece in enumerate(pieces(line)):
                self.lines.append(piece)
                self.joined.append(part > 0)
                self.numbers.append(number)
        self.costs = [block.prices.estimate(line) for line in self.lines]
        self.cost = sum(self.costs)
        self.words = [words_of(line) for line in self.lines]
        self.taken = [False] * len(self.lines)
        self.taken_count = 0
        self.open = [(place, 0) for place, words in enumerate(self.words) if words]
        """The lines that may have new words, each with the highest rate that it can have (0: not known)."""
        self.best = 0

    def failures(self) -> list[int]:
        """Return the places of the lines that say that something failed, and are not taken."""
        lines = enumerate(zip(self.lines, self.taken, strict=True))
        return [
            place
            for place, (line, is_taken) in lines
            if not is_taken and any(word in line for word in FAILURES)
        ]

    def ranges(self) -> tuple[tuple[int, int], ...]:
        """Return the numbers of the lines that are taken, from 1, as ranges."""
        ranges: list[tuple[int, int]] = []
        for number, is_taken in zip(self.numbers, self.taken, strict=True):
            if is_taken:
                if ranges and number <= ranges[-1][1] + 1:
                    ranges[-1] = ranges[-1][0], number
                else:
                    ranges.append((number, number))
        return tuple(ranges)

    def fence(self, end: str) -> Fenced:
        """Return the lines that are taken, in a fence, with gaps marked."""
        parts: list[str] = []
        before = -1
        for place, is_taken in enumerate(self.taken):
            if not is_taken:
                continue
            is_next = before == place - 1
            if not is_next:
                parts.append(f"{GAP}\n")
            elif self.joined[place]:
                parts[-1] = parts[-1][:-1]
            parts.append(f"{self.lines[place]}\n")
            before = place
        if before < len(self.lines) - 1:
            parts.append(f"{GAP}\n")
        content = "".join(parts)
        mark = fence_mark(content)
        is_cut = self.is_cut or self.taken_count < len(self.lines)
        return Fenced(f"{mark}{self.language}\n{content}{mark}\n{end}", len(content), is_cut)


class Block:
    """A block that is looked at: its texts in lines, and the rule that opened it."""

    __slots__ = ("_heading", "cost", "entry", "is_file", "prices", "rule", "section", "texts")

    def __init__(self, entry: Entry, policy: CarryPolicy, limits: Limits, prices: Prices) -> None:
        self.entry = entry
        self.prices = prices
        self.section = section_of(entry)
        self.is_file = self.section in ("files", "changes")
        self.rule = ""
        """The rule that opened the block; empty if it is not shown."""
        self._heading: Candidate | None = None
        self.texts = [
            TextLines(self, lines, source, is_cut)
            for source, lines, is_cut in _texts(entry, self.is_file, policy, limits)
        ]
        self.cost = HEADING * prices.token + sum([text.cost for text in self.texts])

    def heading(self) -> Candidate:
        if self._heading is None:
            self._heading = Candidate(self.entry, bool(self.texts), self.prices.measure)
        return self._heading

    def fence(self) -> list[Fenced]:
        """Return the texts that have lines that are taken."""
        shown = [text for text in self.texts if text.taken_count]
        is_cut = len(shown) < len(self.texts)
        parts = [text.fence("\n" if text is shown[-1] else "") for text in shown]
        return [part._replace(is_cut=True) for part in parts] if is_cut else parts

    def size(self) -> int:
        """Return the exact size of the block with the lines that are taken."""
        measure = self.prices.measure
        return self.heading().line_size + sum([measure.size(part.text) for part in self.fence()])

    def partial(self) -> Iterator[Partial]:
        """Yield the lines that are shown of each text of which some are left out."""
        for text in self.texts:
            if text.taken_count < len(text.taken):
                entry, lines = self.entry, text.numbers[-1]
                yield Partial(entry.position, entry.call_id, not text.said, lines, text.ranges())

    def give_up(self, count: int) -> None:
        """Give up the first lines that are taken; without lines the block is closed."""
        for text in self.texts:
            for place, is_taken in enumerate(text.taken):
                if is_taken and count:
                    text.taken[place] = False
                    text.taken_count -= 1
                    count -= 1
        if not any([text.taken_count for text in self.texts]):
            self.rule = ""


def _texts(
    entry: Entry, is_file: bool, policy: CarryPolicy, limits: Limits
) -> Iterator[tuple[Source, list[str], bool]]:
    """Yield the texts of a block, each with its lines, and true if the limit on one result has cut it."""
    if section_of(entry) == "changes" and entry.call is not None:
        yield _change(entry, policy, limits)
        return
    for source in sources(entry, policy.keep, references=policy.references):
        lines, is_cut = _lines(source, limits)
        yield source, (without_numbers(lines) or lines) if is_file else lines, is_cut


def _change(entry: Entry, policy: CarryPolicy, limits: Limits) -> tuple[Source, list[str], bool]:
    """Return the snippet that an edit returned, else its new lines, else its result."""
    side: CutSide = "head" if policy.keep == "auto" else policy.keep
    reference = reference_of(entry, references=policy.references)
    language = language_of(entry.value or "")
    new = _new_text(entry.given)
    if entry.result is not None:
        text = result_text(entry.content)
        answer = Source(text, language, side, reference, content=entry.content)
        lines, is_cut = _lines(answer, limits)
        snippet = without_numbers(lines)
        if snippet is not None:
            return answer, snippet, is_cut
        if entry.is_error or not new:
            return answer._replace(language=""), lines, is_cut
    source = Source(new, language, side, reference)
    return source, *_lines(source, limits)


def _new_text(given: JsonObject) -> str:
    """Return the new lines of an edit, or the text of a write."""
    edits = map(as_object, as_list(given.get("edits")) or [])
    new = [first_text(edit, NEW_KEYS) or "" for edit in edits if edit is not None]
    text = "\n".join([part.removesuffix("\n") for part in new if part])
    return text or first_text(given, (*NEW_KEYS, *DIFF_KEYS, *WRITTEN_KEYS)) or ""


def _lines(source: Source, limits: Limits) -> tuple[list[str], bool]:
    """Return the lines of a text within the limit on one result, without the client's blocks, and true if it is cut."""
    text, _, is_cut = cut_to(source, limits_on(source, limits))
    content = text if source.content is None else without_blocks(text)
    is_cut = is_cut or content != text
    return (content.removesuffix("\n") or NO_OUTPUT).split("\n"), is_cut
