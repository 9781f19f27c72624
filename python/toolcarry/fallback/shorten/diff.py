"""Read a diff: the changed lines matter most, and each is shown with the headers of its hunk and its file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from toolcarry._data import read_table
from toolcarry.fallback.shorten.lines import Rank, Ranking

HEADERS: Final = tuple(read_table("shorten")["diff_headers"])
LONGEST: Final = 9
"""The most digits of a number of lines."""


def rank_diff(lines: Sequence[str], label: str) -> Ranking:
    """Return the ranks of the lines of a diff.

    The header of a hunk says how many lines it has, so that a removed ``-- comment`` is no header. The lines of a merge,
    which are counted in another way, end where one begins unlike those of a hunk.
    """
    ranks: list[Rank] = []
    above: list[int] = []
    header = hunk = -1
    old = new = 0
    for place, line in enumerate(lines):
        first = line[:1]
        is_header = line.startswith(HEADERS)
        if first in ("+", "-", " ", "\\", "") and (old > 0 or new > 0 or not is_header):
            old -= first not in ("+", "\\")
            new -= first not in ("-", "\\")
            changed = first in ("+", "-")
            ranks.append(Rank.IMPORTANT if changed else Rank.PLAIN if line else Rank.FOLDED)
            above.append(place if hunk < 0 else hunk)
            continue
        old = new = 0
        if line.startswith("@@"):
            above.append(place if header < 0 else header)
            hunk = place
            old, new = counts_of(line) or (len(lines), len(lines))
        elif is_header:
            begins = header < 0 or hunk > header or line.startswith("diff ")
            above.append(place if begins else header)
            header = place
        else:
            ranks.append(Rank.PLAIN if line else Rank.FOLDED)
            above.append(place)
            continue
        ranks.append(Rank.NEAR)
    return Ranking(ranks, label, above=above)


def counts_of(line: str) -> tuple[int, int] | None:
    """Return how many lines a hunk has before and after the change; ``None`` if its header does not say it.

    >>> counts_of("@@ -1,4 +1 @@ def f():"), counts_of("@@@ -1,4 -1,4 +1,5 @@@")
    ((4, 1), None)
    """
    ranges, end, _ = line.partition(" @@")
    old, plus, new = ranges.removeprefix("@@ -").partition(" +")
    before, after = count_of(old), count_of(new)
    if not (line.startswith("@@ -") and end and plus) or before is None or after is None:
        return None
    return before, after


def count_of(lines: str) -> int | None:
    _, comma, count = lines.partition(",")
    if not comma:
        return 1
    is_number = count.isascii() and count.isdigit() and len(count) <= LONGEST
    return int(count) if is_number else None
