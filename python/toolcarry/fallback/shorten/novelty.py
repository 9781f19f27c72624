"""Choose the lines of a text that say most that is new, where nothing else tells which of them matter.

A quarter of the room is for lines that speak of errors, and half of it, with these, for the end of the text that a cut
would leave. The rest is for the lines that bring the most new words for their length, in rounds: each takes the lines that bring the rate of new words that it asks for, which is four
fifths of that of the round before. So the time is linear, and the outcome depends on the text and the room alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from toolcarry.fallback.shorten.kinds import ERRORS
from toolcarry.fallback.shorten.lines import both_ends
from toolcarry.fallback.words import words_of
from toolcarry.types.values import CutSide

GAP: Final = "..."
_GAP_SIZE: Final = len(GAP) + 1
_GAP_PRICE: Final = 10
"""The characters that a gap counts where lines are compared: more than it has, so that lines stand in passages."""
_SMALL_GAP: Final = 12
"""The characters of a gap that is filled. Its lines cost as much as the line for the gap, or little more."""
_PER_WORD: Final = 4_096
_RATES: Final = (600, 480, 384, 307, 245, 196, 156, 124, 99, 79, 63, 50, 40, 0)
"""The new words for each ``_PER_WORD`` characters that the rounds ask for. A word has six characters or more."""


def choose_new(lines: Sequence[str], room: int, side: CutSide) -> str | None:
    """Return lines in order, with a line for each gap; ``None`` if they say no more than a cut would.

    ``side`` is the end that a cut would leave.

    >>> lines = ["import os", *["x = 1"] * 20, "def compute_total():", *["    y = 2"] * 20]
    >>> print(choose_new(lines, 60, "head"))
    import os
    x = 1
    x = 1
    x = 1
    ...
    def compute_total():
    ...
    """
    chosen = _Chosen(lines, room - _GAP_SIZE)
    order = _order(len(lines), side)
    errors = [n for n, line in enumerate(lines) if any(word in line for word in ERRORS)]
    chosen.take(both_ends(errors), room // 4)
    told = chosen.size
    chosen.take(order, room // 2)
    at_ends = chosen.size
    chosen.take_new()
    if not told and chosen.size == at_ends:
        return None
    chosen.take(order, room)
    return chosen.text() if 2 * chosen.size >= room else None


def _order(count: int, side: CutSide) -> Sequence[int]:
    """Return the places of lines in the order in which a cut would keep them."""
    places = range(count)
    if side == "ends":
        return both_ends(places)
    return places if side == "head" else places[::-1]


class _Chosen:
    """The lines that are taken, and the room that is left."""

    def __init__(self, lines: Sequence[str], left: int) -> None:
        self._lines = lines
        self._left = left
        self._sizes = [len(line) + 1 for line in lines]
        self._taken = [False] * len(lines)
        self._words = [words_of(line) for line in lines]
        self._known: set[str] = set()
        self.size = 0
        """The characters of the lines that are taken."""

    def take(self, order: Iterable[int], most: int) -> None:
        """Take lines in an order, as long as all that are taken have at most a number of characters."""
        for place in order:
            if not self._taken[place] and (
                self.size + self._sizes[place] > most or not self._take(place)
            ):
                return

    def take_new(self) -> None:
        """Take the lines with the most new words for what they cost."""
        rest = [(place, _PER_WORD) for place, words in enumerate(self._words) if words]
        for rate in _RATES:
            before = self.size
            rest = list(self._pick(rest, rate))
            if self.size > before:
                self._fill_gaps()

    def _pick(self, rest: Iterable[tuple[int, int]], rate: int) -> Iterable[tuple[int, int]]:
        """Take lines with this rate of new words. Yield the others, each with the highest rate that it can have."""
        for place, known in rest:
            highest = known
            if self._taken[place]:
                continue
            if known >= rate:
                new = sum([word not in self._known for word in self._words[place]]) * _PER_WORD
                size = self._sizes[place]
                price = max(size + _GAP_PRICE * self._gaps(place), 1)
                if not new or (new >= rate * price and self._take(place)):
                    continue
                highest = new // max(size - _GAP_PRICE, 1)
            yield place, highest

    def _gaps(self, place: int) -> int:
        """Return how many gaps more there are with a line; -1 if it fills one."""
        taken, last = self._taken, len(self._taken) - 1
        return (place > 0 and not taken[place - 1]) + (place < last and not taken[place + 1]) - 1

    def _take(self, place: int) -> bool:
        """Take a line. Return false if it does not fit."""
        size = self._sizes[place] + _GAP_SIZE * self._gaps(place)
        if size > self._left:
            return False
        self._left -= size
        self.size += self._sizes[place]
        self._taken[place] = True
        self._known.update(self._words[place])
        return True

    def _fill_gaps(self) -> None:
        """Take the lines of small gaps."""
        start = size = 0
        for place, is_taken in enumerate(self._taken):
            if not is_taken:
                size += self._sizes[place]
                continue
            if 0 < size <= _SMALL_GAP:
                for line in range(start, place):
                    self._take(line)
            start, size = place + 1, 0

    def text(self) -> str:
        """Return the lines that are taken, with a line for each gap."""
        shown: list[str] = []
        is_open = False
        for line, is_taken in zip(self._lines, self._taken, strict=True):
            if is_taken:
                shown.append(line)
            elif not is_open:
                shown.append(GAP)
            is_open = not is_taken
        return "\n".join(shown)
