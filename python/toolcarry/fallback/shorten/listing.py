"""Rank the lines of a listing of files: the first entries of each folder, then more of each, and similar names last.

A listing is what ``ls``, ``find``, ``tree`` and the like print: names, paths, lines with a mode or a size, or branches.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from toolcarry.fallback.shorten.kinds import ERRORS
from toolcarry.fallback.shorten.lines import HIGHEST, Ranking, is_promising

_BRANCH: Final = re.compile(
    "((?:[\u2502|][ \xa0]{3}|[ \xa0]{4})*)(?:[\u251c\u2514]\u2500\u2500|[|`]--)[ \xa0](.*)"
)
_MODE: Final = re.compile("[-bcdlps][-rwxsStT]{9}")
_TOTAL: Final = re.compile("total [0-9]")
_SIZE: Final = re.compile("[ \t]*[0-9][0-9.,]*[KMGT]?[ \t]+([^ \t]+)$")
_NUMBER: Final = re.compile("[0-9]+")

_FEWEST: Final = 4
_NEW: Final = 54
"""The lowest rank of an entry whose name is not similar to an earlier one of its folder."""


def read_listing(lines: Sequence[str]) -> Ranking | None:
    """Return the ranks of lines that list files; ``None`` if fewer than three of four do.

    Messages come first. An entry comes after the folder that it is in.

    >>> lines = ["src", "src/a.py", "src/b1.o", "src/b2.o", "find: 'x': Permission denied"]
    >>> read_listing(lines).ranks
    [253, 252, 251, 53, 254]
    """
    if not is_promising(lines, _is_known):
        return None
    ranks, groups = [0] * len(lines), [0] * len(lines)
    orders: dict[str, int] = {}
    """The place of each folder: how many entries come before what is in it."""
    counts: Counter[str] = Counter()
    repeats: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    similar: set[str] = set()
    numbers: dict[str, int] = {}
    branches = ["\n"]
    header, folder, strange, filled, is_start = "", "", 0, 0, True
    for place, line in enumerate(lines):
        was_start, is_start = is_start, not line
        filled += not is_start
        entry = _entry_of(line)
        if was_start and line.endswith(":") and " " not in line:
            header = folder = line[:-1]
            ranks[place] = max(HIGHEST - 1 - orders.setdefault(header, header.count("/")), _NEW)
        elif _TOTAL.match(line) is not None or not line:
            folder = header
        elif entry is None:
            strange += 1
            ranks[place] = HIGHEST if any(word in line for word in ERRORS) else HIGHEST - 1
        else:
            folder, name, level = entry
            if level:
                del branches[level:]
                folder = branches[-1]
                key = f"\n{place}"
                branches.append(key)
            else:
                folder = f"{header}/{folder}" if header and folder else header or folder
                key = f"{folder}/{name}" if folder else name
            orders[key] = order = orders.get(folder, 0) + 1 + counts[folder]
            form = folder, _NUMBER.sub("0", name)
            if form in seen or folder in similar:
                similar.add(key)
                ranks[place] = max(_NEW - 1 - repeats[folder], 1)
                repeats[folder] += 1
            else:
                ranks[place] = max(HIGHEST - 1 - order, _NEW)
                counts[folder] += 1
            seen.add(form)
        groups[place] = numbers.setdefault(folder, len(numbers))
    if strange * 4 > filled or filled - strange < _FEWEST:
        return None
    return Ranking(ranks, "more", 1, groups, "folders")


def _is_known(line: str) -> bool:
    return _TOTAL.match(line) is not None or _entry_of(line) is not None


def _entry_of(line: str) -> tuple[str, str, int] | None:
    """Return the folder and the name of an entry, and the level of its branch, or 0; ``None`` for any other line."""
    match = _BRANCH.match(line)
    if match is not None:
        return "", match[2], len(match[1]) // 4 + 1
    if _MODE.match(line) is not None:
        return "", line.rpartition(" ")[2], 0
    match = _SIZE.match(line)
    path = line if match is None else match[1]
    if match is None and (" " in line or "\t" in line) and not path.startswith(("/", "./")):
        return None
    folder, _, name = path.rstrip("/").rpartition("/")
    return folder, name, 0
