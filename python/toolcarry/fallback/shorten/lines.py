"""Choose lines by their rank, within a number of characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from itertools import islice
from typing import Final, NamedTuple


class Rank(IntEnum):
    """The ranks of lines: left out as a group, shown if there is room, next to an important line, and shown first."""

    FOLDED = 0
    PLAIN = 1
    NEAR = 2
    IMPORTANT = 3


HIGHEST: Final = 255
"""The highest rank of a line of a text whose lines belong to files or folders."""


_FIRST: Final = 16
"""The number of lines at the beginning of a text that show whether it is worth reading."""


def is_promising(lines: Sequence[str], is_known: Callable[[str], bool]) -> bool:
    """Return true if at least half of the first lines that are not empty are known."""
    first = list(islice(filter(None, lines), _FIRST))
    return 2 * sum(map(is_known, first)) >= len(first)


class Ranking(NamedTuple):
    """The rank of each line. Those of rank 0 are never shown.

    ``label`` names the lines of a gap if all are of rank 0, or of one group; ``least`` is the lowest rank that counts:
    without a line of it or of a higher one, nothing is shown. ``groups`` are the numbers of the files or folders that
    the lines belong to, and ``unit`` names them. ``above`` has for each line the one that must be shown with it, such as its
    header, or its own place.
    """

    ranks: Sequence[int]
    label: str
    least: int = Rank.IMPORTANT
    groups: Sequence[int] = ()
    unit: str = ""
    above: Sequence[int] = ()

    def gap(self, start: int, end: int, count: int) -> str:
        """Return the line for lines that are left out, ``count`` of which are not empty."""
        owners = len(set(self.groups[start:end]))
        is_named = owners == 1 if owners else not any(self.ranks[start:end])
        label = f" {self.label}" if is_named else ""
        of = f" of {owners:,} {self.unit}" if owners > 1 else ""
        return f"... {count:,}{label} line{'s' if count > 1 else ''}{of}"


def choose(lines: Sequence[str], ranking: Ranking, room: int) -> str | None:
    """Return the lines of the highest ranks that fit, in order, with a line for each gap; ``None`` without important ones.

    Within a rank, lines are taken from both ends in turns.

    >>> ranking = Ranking([Rank(rank) for rank in (3, 0, 0, 0, 3)], "passing")
    >>> print(choose(["a" * 20, "b" * 30, "c" * 30, "d" * 30, "e"], ranking, 60))
    aaaaaaaaaaaaaaaaaaaa
    ... 3 passing lines
    e
    """
    taken = [False] * len(lines)
    most = f"{len(lines):,}"
    gap = len(f"... {most} {ranking.label} lines\n")
    if ranking.unit:
        gap = max(gap, len(f"... {most} lines of {most} {ranking.unit}\n"))
    left = room - gap
    if left < 0:
        return None
    places: dict[int, list[int]] = {}
    for place, rank in enumerate(ranking.ranks):
        if rank:
            places.setdefault(rank, []).append(place)
    is_enough = False
    for rank in sorted(places, reverse=True):
        for place in both_ends(places[rank]):
            own: list[int] = []
            size = 0
            while not taken[place]:
                gaps = _is_open(taken, place - 1) + _is_open(taken, place + 1) - 1
                size += len(lines[place]) + 1 + gap * gaps
                taken[place] = True
                own.append(place)
                place = ranking.above[place] if ranking.above else place  # noqa: PLW2901 - goes up
            if size <= left:
                left -= size
                is_enough |= rank >= ranking.least
            else:
                for each in own:
                    taken[each] = False
    return "\n".join(_shown(lines, ranking, taken)) if is_enough else None


def _is_open(taken: Sequence[bool], place: int) -> bool:
    return 0 <= place < len(taken) and not taken[place]


def both_ends(places: Sequence[int]) -> list[int]:
    """Return places in the order first, last, second, and so on.

    >>> both_ends([1, 2, 3, 4, 5])
    [1, 5, 2, 4, 3]
    """
    half = (len(places) + 1) // 2
    found = [0] * len(places)
    found[::2], found[1::2] = places[:half], places[half:][::-1]
    return found


def _shown(lines: Sequence[str], ranking: Ranking, taken: Sequence[bool]) -> list[str]:
    shown: list[str] = []
    start = 0
    for place in range(len(lines) + 1):
        if place < len(lines) and not taken[place]:
            continue
        if start < place:
            count = sum(map(bool, lines[start:place]))
            shown.append(ranking.gap(start, place, count) if count else "")
        if place < len(lines):
            shown.append(lines[place])
        start = place + 1
    return shown
