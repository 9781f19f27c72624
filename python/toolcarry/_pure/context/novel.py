"""The selection of ``fill="novel"``: the lines of results that say most that is new, within the total.

Every line that is shown is a line of a result (or a part of a very long one), in its place under the heading of its
block. A line ``...`` stands for lines that are left out, and the report has the numbers of those that are shown.

The rules, in this order:

1. NUMBERS: the numbers that a tool puts before the lines of a file are left out.
2. NEWEST: the newest blocks are shown whole, up to a quarter of the total (half of what is beyond 4,000 tokens); if the
   newest alone is larger, the head of a file or both ends of any other text.
3. FILES: of the last 24 blocks, those that show a file, and take no more than that share each, are shown whole, newest
   first, up to half of the total.
4. NOVEL: of all other texts, those lines are shown first that bring the most new words per token.
5. GAPS: the lines of a gap are shown if they take hardly more room than its ``...``.
6. REST: the rest of the total goes to the missing lines of the newest blocks.
7. ONCE: a line of 40 characters or more that another block shows is not shown again.

A word is a run of six or more characters of names and paths, and it is new if no line that is shown has it. A line of a
file that a tool returned counts three words more, since it may be edited next. An edit is the snippet that the tool
returned, or its new lines. Words of a call's own arguments count half: the conversation has them already.

NOVEL is greedy, in rounds: each looks at all lines once, newest block first, and takes those that bring the rate of new
words that the round asks for, which is four fifths of that of the round before. The walk stops when the lines that were
looked at would fill the total several times. So the time is linear. The choice estimates tokens; the total counts them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry._pure.content import result_text
from toolcarry._pure.content.media import is_media_line
from toolcarry._pure.context.block import (
    DIFF_KEYS,
    NEW_KEYS,
    SECTIONS,
    WRITTEN_KEYS,
    Section,
    first_text,
    language_of,
    section_of,
    sources,
)
from toolcarry._pure.context.budget import FRAMING, Candidate, Fill, Trace
from toolcarry._pure.context.fence import (
    NO_OUTPUT,
    Fenced,
    Source,
    cut_to,
    fence_mark,
    limits_on,
)
from toolcarry._pure.context.limits import Limits, Measure
from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.text.truncate import cut
from toolcarry.types.policy import Policy
from toolcarry.types.values import CutSide, KeepText, Partial

GAP: Final = "..."
LONGEST_NOVEL_TITLE: Final = 100

CHARS: Final = 4
"""The characters that stand for one token where the total counts characters."""
SHARED: Final = 4_000
"""The tokens of a total of which a quarter is a share; of what is beyond, half is."""
OLDEST_FILE: Final = 24
FILE_LINE: Final = 6
"""What a line of a file counts more, where a new word counts two and a word of an argument one."""
ROUNDS: Final = 16
FIRST_RATE: Final = 1_024
"""What a new word per token is worth. The first round asks for it."""
WINDOW, LEAST_WINDOW = 2, 16_000
"""The walk stops at this many times the total, and this many tokens more."""
HEADING: Final = 16
"""The tokens of a heading and its fences, as far as the choice is concerned."""
SMALL_GAP: Final = 3
LEAST_REST: Final = 10
REPEATED: Final = 40
LONGEST_PIECE: Final = 400

_LETTERS = r"A-Za-z_\u00c0-\u1fff\u2c00-\u2fff\u3040-\ufeff\uff10-\U0010ffff"
"""Letters, by their ranges, which both backends share."""
_WORD = re.compile(rf"[{_LETTERS}][{_LETTERS}0-9./:@#-]{{5,}}")
_NUMBER = re.compile(r"^ *([0-9]{1,9})(?:\u2192|\t|\||: ?| )")
_RUN = re.compile(r"[A-Za-z]+|[0-9]+|[^\x00-\x7f]+|[ \t]+|[!-/:-@\[-`{-~]+")


def estimate(line: str) -> int:
    """Return about how many tokens a line has, its line feed included.

    >>> estimate("    return first_line + 1")
    8
    """
    tokens, last = 1, ""
    for match in _RUN.finditer(line):
        last, size = match[0][0], match.end() - match.start()
        if not last.isascii():
            tokens += size
        elif last.isalpha():
            tokens += 1 + (size - 1) // 7
        elif last in " \t":
            tokens += size > 1
        else:
            tokens += (size + 2) // 3
    ends_in_sign = last != "" and not (last.isascii() and (last.isalnum() or last in " \t"))
    return max(tokens - ends_in_sign, 1)


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


class Lines:
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
        self.words = [list(dict.fromkeys(_WORD.findall(line))) for line in self.lines]
        self.taken = [False] * len(self.lines)
        self.taken_count = 0
        self.open = [(place, 0) for place, words in enumerate(self.words) if words]
        """The lines that may have new words, each with the highest rate that it can have (0: not known)."""
        self.best = 0

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

    def fenced(self, end: str) -> Fenced:
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

    def __init__(self, entry: Entry, keep: KeepText, limits: Limits, prices: Prices) -> None:
        self.entry = entry
        self.prices = prices
        self.section = section_of(entry)
        self.is_file = self.section in ("files", "changes")
        self.rule = ""
        """The rule that opened the block; empty if it is not shown."""
        self._heading: Candidate | None = None
        self.texts = [
            Lines(self, lines, source, is_cut)
            for source, lines, is_cut in _texts(entry, self.is_file, keep, limits)
        ]
        self.cost = HEADING * prices.token + sum([text.cost for text in self.texts])

    def heading(self) -> Candidate:
        if self._heading is None:
            self._heading = Candidate(
                self.entry, bool(self.texts), self.prices.measure, LONGEST_NOVEL_TITLE
            )
        return self._heading

    def fenced(self) -> list[Fenced]:
        """Return the texts that have lines that are taken."""
        shown = [text for text in self.texts if text.taken_count]
        is_cut = len(shown) < len(self.texts)
        parts = [text.fenced("\n" if text is shown[-1] else "") for text in shown]
        return [part._replace(is_cut=True) for part in parts] if is_cut else parts

    def size(self) -> int:
        """Return the exact size of the block with the lines that are taken."""
        measure = self.prices.measure
        return self.heading().line_size + sum([measure.size(part.text) for part in self.fenced()])

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
    entry: Entry, is_file: bool, keep: KeepText, limits: Limits
) -> Iterator[tuple[Source, list[str], bool]]:
    """Yield the texts of a block, each with its lines, and true if the limit on one result has cut it."""
    if section_of(entry) == "changes" and entry.call is not None:
        yield _change(entry, keep, limits)
        return
    for source in sources(entry, keep):
        lines, is_cut = _lines(source, limits)
        yield source, (without_numbers(lines) or lines) if is_file else lines, is_cut


def _change(entry: Entry, keep: KeepText, limits: Limits) -> tuple[Source, list[str], bool]:
    """Return the snippet that an edit returned, else its new lines, else its result."""
    side: CutSide = "head" if keep == "auto" else keep
    language = language_of(entry.value or "")
    new = _new_text(entry.given)
    if entry.result is not None:
        text = result_text(entry.content)
        answer = Source(text, language, side, entry.call_id, content=entry.content)
        lines, is_cut = _lines(answer, limits)
        snippet = without_numbers(lines)
        if snippet is not None:
            return answer, snippet, is_cut
        if entry.is_error or not new:
            return answer._replace(language=""), lines, is_cut
    source = Source(new, language, side, entry.call_id)
    return source, *_lines(source, limits)


def _new_text(given: JsonObject) -> str:
    """Return the new lines of an edit, or the text of a write."""
    edits = map(as_object, as_list(given.get("edits")) or [])
    new = [first_text(edit, NEW_KEYS) or "" for edit in edits if edit is not None]
    text = "\n".join([part.removesuffix("\n") for part in new if part])
    return text or first_text(given, (*NEW_KEYS, *DIFF_KEYS, *WRITTEN_KEYS)) or ""


def _lines(source: Source, limits: Limits) -> tuple[list[str], bool]:
    """Return the lines of a text within the limit on one result, and true if it is cut."""
    content, _, is_cut = cut_to(source, limits_on(source, limits))
    return (content.removesuffix("\n") or NO_OUTPUT).split("\n"), is_cut


class NovelFill(Fill):
    """A context that shows the lines with the most new words."""

    def __init__(self, policy: Policy, summary: str, trace: Trace | None = None) -> None:
        super().__init__(policy, summary, trace)
        self._prices = Prices(self._measure)
        self._blocks: list[Block] = []
        self._looked = 0
        self._window = WINDOW * self._total + LEAST_WINDOW * self._prices.token
        self._known: set[str] = set()
        self._seen: dict[str, Block] = {}
        self._opened: set[Section] = set()

    def count(self, newest: Entry) -> None:
        """Headings count no older blocks."""

    def offer(self, entry: Entry) -> None:
        """Look at a block, until the window is full."""
        reason = self._excluding_setting(entry)
        if reason:
            self.exclude(entry, reason)
            return
        limits = self._limits.by_rule(entry.max_chars)
        block = Block(entry, self._policy.keep, limits, self._prices)
        self._blocks.append(block)
        self._looked += block.cost
        self.is_done = self._looked > self._window

    def _settle_stop(self) -> str:
        """Choose the lines, and show the blocks that have some."""
        room = self._left
        self._choose()
        self._left = room
        opened = [block for block in self._blocks if block.rule]
        self._fit(opened)
        for block in self._blocks:
            if block.rule:
                self._show(block.heading(), block.fenced(), block.rule)
                self.partial.extend(block.partial())
            else:
                self._leave_out(block.entry)
        self._is_spent = bool(self._blocks)
        return ""

    def _choose(self) -> None:
        blocks, start = self._blocks, self._left
        share = self._prices.share(self._total)
        if not self.is_done and self._looked <= start:
            share = start
        first = 0
        for block in blocks:
            if start - self._left + block.cost > share:
                break
            self._take_all(block, "newest")
            first += 1
        if not first and blocks:
            self._take_ends(blocks[0], share)
        start = self._left
        for block in blocks[first : OLDEST_FILE + 1]:
            taken = start - self._left + block.cost
            if (
                block.is_file
                and not block.rule
                and block.cost <= share
                and 2 * taken <= self._total
            ):
                self._take_all(block, "file")
        self._take_novel()
        for block in blocks:
            for text in block.texts:
                self._fill_gaps(text)
        for block in blocks:
            if self._left < LEAST_REST * self._prices.token:
                break
            self._take_all(block, "rest")

    def _take_novel(self) -> None:
        """Take lines in rounds, those first that bring most new words for what they cost."""
        texts = [text for block in self._blocks for text in block.texts]
        rate = FIRST_RATE
        for number in range(ROUNDS):
            if number == ROUNDS - 1:
                rate = 0
            for text in texts:
                if text.open and (text.best >= rate or not number):
                    for place in self._pick(text, rate):
                        self._take(text, place, "novel")
            if self._left < LEAST_REST * self._prices.token:
                break
            rate = rate * 4 // 5

    def _pick(self, text: Lines, rate: int) -> list[int]:
        """Return the lines of a text that bring new words at this rate."""
        prices, taken, last = self._prices, text.taken, len(text.taken) - 1
        weight, bonus = (1, 0) if text.said else (2, FILE_LINE if text.block.is_file else 0)
        scale = FIRST_RATE // 2 * prices.token
        picked: list[int] = []
        still_open: list[tuple[int, int]] = []
        found: set[str] = set()
        gain = cost = best = 0
        for place, known_rate in text.open:
            if taken[place]:
                continue
            if 0 < known_rate < rate:
                still_open.append((place, known_rate))
                best = max(best, known_rate)
                continue
            words = [word for word in text.words[place] if word not in self._known]
            if not words:
                continue
            own = text.costs[place]
            highest = (len(words) * weight + bonus) * scale // max(own - prices.gap, 1)
            still_open.append((place, highest))
            best = max(best, highest)
            fresh = sum([word not in found for word in words])
            if not fresh:
                continue
            is_after = place == 0 or taken[place - 1] or (bool(picked) and picked[-1] == place - 1)
            beside = is_after + (place == last or taken[place + 1])
            price = max(own + prices.gap * (1 - beside), 1)
            worth = fresh * weight + bonus
            if worth * scale < rate * price:
                continue
            picked.append(place)
            gain += worth
            cost += price
            found.update(words)
        text.open, text.best = still_open, best
        if not text.block.rule:
            cost += HEADING * prices.token
        return picked if gain * scale >= rate * cost else []

    def _fill_gaps(self, text: Lines) -> None:
        """Take the lines of gaps that cost hardly more than the line that marks the gap."""
        if not text.taken_count:
            return
        start = 0
        for place, is_taken in enumerate((*text.taken, True)):
            if is_taken:
                if start < place and sum(text.costs[start:place]) <= SMALL_GAP * self._prices.token:
                    for line in range(start, place):
                        self._take(text, line, "novel")
                start = place + 1

    def _take_ends(self, block: Block, share: int) -> None:
        """Take the head of a file, or both ends of any other block, within a share."""
        start = self._left
        for text in block.texts:
            for place in _order(len(text.lines), block.is_file):
                if start - self._left + text.costs[place] > share:
                    return
                self._take(text, place, "newest")

    def _take_all(self, block: Block, rule: str) -> None:
        for text in block.texts:
            if text.taken_count < len(text.taken):
                for place, is_taken in enumerate(text.taken):
                    if not is_taken:
                        self._take(text, place, rule)
        if not block.texts and not block.rule:
            size = self._opening(block)
            if size <= self._left:
                self._open(block, size, rule)

    def _take(self, text: Lines, place: int, rule: str) -> None:
        """Take a line, unless another block shows it, or it does not fit."""
        block, line, gap = text.block, text.lines[place], self._prices.gap
        is_long = len(line) >= REPEATED
        if is_long and self._seen.get(line, block) is not block:
            return
        if text.costs[place] > 2 * self._left:
            return
        size = self._measure.size(f"{line}\n")
        last = len(text.taken) - 1
        if text.taken_count:
            beside = (place == 0 or text.taken[place - 1]) + (
                place == last or text.taken[place + 1]
            )
            size += gap * (1 - beside)
        else:
            size += self._measure.size(f"```{text.language}\n```\n\n")
            size += gap * ((place > 0) + (place < last))
        opening = 0 if block.rule else self._opening(block)
        if size + opening > self._left:
            return
        if not block.rule:
            self._open(block, opening, rule)
        self._left -= size
        text.taken[place] = True
        text.taken_count += 1
        self._known.update(text.words[place])
        if is_long:
            self._seen.setdefault(line, block)

    def _opening(self, block: Block) -> int:
        """Return the size of a block without its texts."""
        size = block.heading().line_size
        if block.section not in self._opened:
            size += self._measure.size(SECTIONS[block.section])
        if not self._opened and self._policy.framing:
            size += self._measure.size(FRAMING)
        return size

    def _open(self, block: Block, size: int, rule: str) -> None:
        self._left -= size
        self._opened.add(block.section)
        block.rule = rule

    def _fit(self, blocks: list[Block]) -> None:
        """Give up lines of the oldest blocks until the others fit: lines may cost more together than one by one."""
        excess = sum([block.size() for block in blocks]) - self._left
        excess += sum([self._measure.size(SECTIONS[name]) for name in self._opened])
        if blocks and self._policy.framing:
            excess += self._measure.size(FRAMING)
        step = 1
        while excess > 0 and blocks:
            block = blocks[-1]
            before = block.size()
            block.give_up(step)
            step *= 2
            if not block.rule:
                blocks.pop()
                excess -= before
            else:
                excess -= before - block.size()


def _order(count: int, is_file: bool) -> Iterator[int]:
    """Yield the places of lines from the head, or in turns from both ends."""
    if is_file:
        yield from range(count)
        return
    for place in range((count + 1) // 2):
        yield place
        if place < count - 1 - place:
            yield count - 1 - place
