"""The difference of two texts, line by line, with removed lines next to those that replace them.

Lines that occur exactly once in both texts, in the same order, are the anchors (the idea of patience diff, by Bram
Cohen). Between two anchors, equal lines at both ends are unchanged, and the rest was replaced. That takes n log n
steps.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

_CONTEXT: Final = 2
_MOST_REMOVED, _SHOWN_REMOVED = 8, 3
"""The removed lines in a row that are shown, and how many of more: what is gone says little to one who goes on."""


def diff_lines(old: str, new: str) -> list[str]:
    """Return the lines of a difference, with ``-``, ``+`` or a space before them; few of those that are unchanged.

    >>> diff_lines("a\\nb\\nc", "a\\nB\\nc")
    [' a', '-b', '+B', ' c']
    """
    if not old or not new or old.endswith("\n") == new.endswith("\n"):
        old, new = old.removesuffix("\n"), new.removesuffix("\n")
    # a line feed that only one text has at its end joins or parts lines
    before, after = (text.split("\n") if text else [] for text in (old, new))
    lines: list[str] = []
    at = start = 0
    for place, other in [*_anchors(before, after), (len(before), len(after))]:
        _compare(before[at:place], after[start:other], lines)
        if place < len(before):
            lines.append(f" {before[place]}")
        at, start = place + 1, other + 1
    return _near_changes(lines)


def without_long_removals(lines: list[str]) -> list[str]:
    """Return the lines of a difference, in which only the first ones of many removed lines in a row are left.

    >>> without_long_removals(["-a"] * 12 + ["+b"])
    ['-a', '-a', '-a', '@@ 9 more removed lines', '+b']
    """
    found: list[str] = []
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and lines[end].startswith("-"):
            end += 1
        if end - at > _MOST_REMOVED:
            found += lines[at : at + _SHOWN_REMOVED]
            found.append(f"@@ {end - at - _SHOWN_REMOVED:,} more removed lines")
        else:
            found += lines[at:end]
        found += lines[end : end + 1]
        at = end + 1
    return found


def counts(lines: list[str]) -> tuple[int, int]:
    """Return how many lines a difference removes, and how many it adds."""
    removed = sum([line.startswith("-") for line in lines])
    return removed, sum([line.startswith("+") for line in lines])


def _anchors(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    """Return the places of lines that both texts have once, in the longest row in which they keep their order."""
    once: dict[str, int] = {}
    for place, line in enumerate(before):
        once[line] = -1 if line in once else place
    others: dict[str, int] = {}
    for place, line in enumerate(after):
        if line in once:
            others[line] = -1 if line in others else place
    pairs = [
        (place, others[line])
        for place, line in enumerate(before)
        if once[line] == place and others.get(line, -1) >= 0
    ]
    lasts: list[int] = []
    tops: list[int] = []
    above: list[int] = []
    for number, (_, other) in enumerate(pairs):
        pile = bisect_left(lasts, other)
        above.append(tops[pile - 1] if pile else -1)
        lasts[pile : pile + 1] = [other]
        tops[pile : pile + 1] = [number]
    found: list[tuple[int, int]] = []
    number = tops[-1] if tops else -1
    while number >= 0:
        found.append(pairs[number])
        number = above[number]
    found.reverse()
    return found


def _compare(old: list[str], new: list[str], lines: list[str]) -> None:
    """Add the difference of the lines between two anchors."""
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    lines.extend([f" {line}" for line in old[:head]])
    lines.extend([f"-{line}" for line in old[head : len(old) - tail]])
    lines.extend([f"+{line}" for line in new[head : len(new) - tail]])
    lines.extend([f" {line}" for line in old[len(old) - tail :]])


def _near_changes(lines: list[str]) -> list[str]:
    """Return the lines that changed, with some around them, and a line for each gap between them."""
    near = [False] * len(lines)
    for place, line in enumerate(lines):
        if line[0] != " ":
            first = max(place - _CONTEXT, 0)
            near[first : place + _CONTEXT + 1] = [True] * len(lines[first : place + _CONTEXT + 1])
    found: list[str] = []
    for place, line in enumerate(lines):
        if near[place]:
            if place and not near[place - 1] and found:
                found.append("@@")
            found.append(line)
    return found
