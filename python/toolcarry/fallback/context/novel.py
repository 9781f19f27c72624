"""The selection of ``fill="novel"``: the lines of results that say most that is new, within the total.

Every line that is shown is a line of a result (or a part of a very long one), in its place under the heading of its
block. A line ``...`` stands for lines that are left out, and the report has the numbers of those that are shown.

If all blocks fit as ``fill="newest"`` shows them, they are shown so. Else the rules are, in this order:

1. NUMBERS: the numbers that a tool puts before the lines of a file are left out.
2. NEWEST: the newest blocks are shown whole, up to a quarter of the total (half of what is beyond 4,000 tokens); if the
   newest alone is larger, the head of a file or both ends of any other text.
3. FILES: of the last 24 blocks, those that show a file, and take no more than that share each, are shown whole, newest
   first, up to half of the total.
4. FAILURES: of what commands printed, lines that say that something failed are shown, up to an eighth of the total.
5. NOVEL: of all other texts, those lines are shown first that bring the most new words per token.
6. GAPS: a gap of up to 12 tokens in a file, and of up to 3 in any other text, is filled after each round, so that
   lines stand in passages.
7. REST: the rest of the total goes to the missing lines of the newest blocks, up to the first that does not fit.
8. ONCE: a line of 40 characters or more that another block shows is not shown again.

A word is a run of six or more characters of names and paths, and it is new if no line that is shown has it. A line of a
file that a tool returned counts three words more, since it may be edited next. An edit is the snippet that the tool
returned, or its new lines. Words of a call's own arguments count half: the conversation has them already.

NOVEL is greedy, in rounds: each looks at all lines once, newest block first, and takes those that bring the rate of new
words that the round asks for, which is four fifths of that of the round before. The walk stops when the results that
were looked at would fill the total several times. So the time is linear. The choice estimates tokens; the total counts them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from toolcarry.fallback.context.budget import FRAMING, Fill, Trace, excluding_setting
from toolcarry.fallback.context.lines import CHARS, HEADING, Block, Prices, TextLines
from toolcarry.model.content import result_text
from toolcarry.model.pairing.block import Entry
from toolcarry.model.titles import SECTIONS, Section
from toolcarry.types.policy import CarryPolicy

OLDEST_FILE: Final = 24
FILE_LINE: Final = 6
"""The extra worth of a line of a file. A new word is worth two, and one of an argument is worth one."""
FAILURES_SHARE: Final = 8
ROUNDS: Final = 16
FIRST_RATE: Final = 1_024
"""The rate of one new word per token, which the first round asks for."""
WINDOW, LEAST_WINDOW = 2, 16_000
"""The walk stops at this many times the total, and this many tokens more."""
LONGEST_TOKEN: Final = 5
"""Results of more characters than this for each token of the total don't fit as they are."""
SMALL_GAP, SMALL_FILE_GAP = 3, 12
"""The tokens of a gap that is filled, in a text that is not a file, and in a file."""
LEAST_REST: Final = 10
REPEATED: Final = 40


class NovelFill(Fill):
    """A context that shows the lines with the most new words."""

    def __init__(self, policy: CarryPolicy, summary: str, trace: Trace | None = None) -> None:
        super().__init__(policy, summary, trace)
        self._prices = Prices(self._measure)
        self._entries: list[Entry] = []
        self._counts: list[tuple[int, Entry]] = []
        """The blocks whose headings count one more, each after this many of ``_entries``."""
        self._blocks: list[Block] = []
        self._looked = 0
        """The characters of the results that were looked at."""
        self._window = (WINDOW * self._total + LEAST_WINDOW * self._prices.token) * (
            CHARS // self._prices.token
        )
        self._known: set[str] = set()
        self._seen: dict[str, Block] = {}
        self._opened: set[Section] = set()

    def count(self, newest: Entry) -> None:
        """Note the count for the case that all is shown. Headings above chosen lines count no older blocks."""
        self._counts.append((len(self._entries), newest))

    def offer(self, entry: Entry) -> None:
        """Look at a block, until the window is full."""
        reason = excluding_setting(self._policy, entry)
        if reason:
            self.exclude(entry, reason)
            return
        self._entries.append(entry)
        size = 0 if entry.result is None else len(result_text(entry.content))
        self._looked += min(size, self._limits.by_rule(entry.max_chars).chars) + HEADING
        self.is_done = self._looked > self._window

    def _settle_stop(self) -> str:
        """Show all blocks if they fit. Else choose the lines, and show the blocks that have some."""
        if self._shows_all():
            return ""
        for entry in self._entries:
            limits = self._limits.by_rule(entry.max_chars)
            self._blocks.append(Block(entry, self._policy, limits, self._prices))
        room = self._left
        self._choose()
        self._left = room
        opened = [block for block in self._blocks if block.rule]
        self._fit(opened)
        for block in self._blocks:
            if block.rule:
                self._show(block.heading(), block.fence(), block.rule)
                self.partial.extend(block.partial())
            else:
                self._leave_out(block.entry)
        self._is_spent = bool(self._blocks)
        return ""

    def _shows_all(self) -> bool:
        """Show all blocks as ``fill="newest"`` does. Return false, and show none, if they don't fit."""
        longest = LONGEST_TOKEN if self.encoding else 1
        looked = self._looked - HEADING * len(self._entries)
        return (
            not self.is_done
            and looked <= longest * self._left
            and self.show_all(self._entries, self._counts)
        )

    def _choose(self) -> None:
        blocks, start = self._blocks, self._left
        share = self._prices.share(self._total)
        if not self.is_done and sum([block.cost for block in blocks]) <= start:
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
        self._take_failures()
        self._take_novel()
        for block in blocks:
            if not self._take_all(block, "rest"):
                break

    def _take_failures(self) -> None:
        """Take lines that say that something failed, newest block first, and from both ends of each."""
        start, most = self._left, self._total // FAILURES_SHARE
        for block in self._blocks:
            if block.section != "commands":
                continue
            for text in block.texts:
                if text.said:
                    continue
                found = text.failures()
                for number in _order(len(found), is_file=False):
                    if start - self._left + text.costs[found[number]] > most:
                        return
                    self._take(text, found[number], "failure")

    def _take_novel(self) -> None:
        """Take lines in rounds, those first that bring most new words for what they cost."""
        texts = [text for block in self._blocks for text in block.texts]
        rate = FIRST_RATE
        for number in range(ROUNDS):
            if number == ROUNDS - 1:
                rate = 0
            for text in texts:
                if text.open and (text.best >= rate or not number):
                    picked = self._pick(text, rate)
                    for place in picked:
                        self._take(text, place, "novel")
                    if picked:
                        self._fill_gaps(text)
            if self._left < LEAST_REST * self._prices.token:
                break
            rate = rate * 4 // 5

    def _pick(self, text: TextLines, rate: int) -> list[int]:
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

    def _fill_gaps(self, text: TextLines) -> None:
        """Take the lines of short gaps, so that lines stand in passages."""
        if not text.taken_count:
            return
        most = (SMALL_FILE_GAP if text.block.is_file else SMALL_GAP) * self._prices.token
        start = 0
        for place, is_taken in enumerate((*text.taken, True)):
            if is_taken:
                if start < place and sum(text.costs[start:place]) <= most:
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

    def _take_all(self, block: Block, rule: str) -> bool:
        """Take all lines. Return false at the first that does not fit."""
        for text in block.texts:
            if text.taken_count < len(text.taken):
                for place, is_taken in enumerate(text.taken):
                    if not is_taken and not self._take(text, place, rule):
                        return False
        if not block.texts and not block.rule:
            size = self._opening(block)
            if size > self._left:
                return False
            self._open(block, size, rule)
        return True

    def _take(self, text: TextLines, place: int, rule: str) -> bool:
        """Take a line, unless another block shows it. Return false if it does not fit."""
        block, line, gap = text.block, text.lines[place], self._prices.gap
        if text.costs[place] > self._left:
            return False
        is_long = len(line) >= REPEATED
        if is_long and self._seen.get(line, block) is not block:
            return True
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
            return False
        if not block.rule:
            self._open(block, opening, rule)
        self._left -= size
        text.taken[place] = True
        text.taken_count += 1
        self._known.update(text.words[place])
        if is_long:
            self._seen.setdefault(line, block)
        return True

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
