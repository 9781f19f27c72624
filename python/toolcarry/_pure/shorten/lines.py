"""Choose lines by their rank, within a number of characters."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum


class Rank(IntEnum):
    """The ranks of lines: left out as a group, shown if there is room, next to an important line, and shown first."""

    FOLDED = 0
    PLAIN = 1
    NEAR = 2
    IMPORTANT = 3


def choose(lines: Sequence[str], ranks: Sequence[Rank], room: int, label: str) -> str | None:
    """Return the lines of the highest ranks that fit, in order, with a line for each gap; ``None`` without important ones.

    Within a rank, lines are taken from both ends in turns. ``label`` names the folded lines.

    >>> print(choose(["a" * 20, "b" * 30, "c" * 30, "d" * 30, "e"], [Rank(rank) for rank in (3, 0, 0, 0, 3)], 60, "passing"))
    aaaaaaaaaaaaaaaaaaaa
    ... 3 passing lines
    e
    """
    taken = [False] * len(lines)
    gap = len(f"... {len(lines):,} {label} lines\n")
    left = room - gap
    if left < 0:
        return None
    has_important = False
    for rank in (Rank.IMPORTANT, Rank.NEAR, Rank.PLAIN):
        for place in _both_ends([place for place, own in enumerate(ranks) if own == rank]):
            gaps = _is_open(taken, place - 1) + _is_open(taken, place + 1) - 1
            size = len(lines[place]) + 1 + gap * gaps
            if size <= left:
                taken[place] = True
                left -= size
                has_important |= rank == Rank.IMPORTANT
    if not has_important:
        return None
    return "\n".join(_shown(lines, ranks, taken, label))


def _is_open(taken: Sequence[bool], place: int) -> bool:
    return 0 <= place < len(taken) and not taken[place]


def _both_ends(places: list[int]) -> list[int]:
    """Return places in the order first, last, second, and so on.

    >>> _both_ends([1, 2, 3, 4, 5])
    [1, 5, 2, 4, 3]
    """
    half = (len(places) + 1) // 2
    found = [0] * len(places)
    found[::2], found[1::2] = places[:half], places[half:][::-1]
    return found


def _shown(
    lines: Sequence[str], ranks: Sequence[Rank], taken: Sequence[bool], label: str
) -> list[str]:
    shown: list[str] = []
    start = 0
    for place in range(len(lines) + 1):
        if place < len(lines) and not taken[place]:
            continue
        count = place - start
        if count and not any(lines[start:place]):
            shown.append("")
        elif count:
            is_folded = all(rank == Rank.FOLDED for rank in ranks[start:place])
            name = f" {label}" if is_folded else ""
            shown.append(f"... {count:,}{name} line{'s' if count > 1 else ''}")
        if place < len(lines):
            shown.append(lines[place])
        start = place + 1
    return shown
