"""Rank the lines of a search: the first hits of each file, then more of each, and before them what speaks of errors.

A hit is a line such as ``a.py:3:text``, ``a.py:text``, or ``3:text`` below a line with the path.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from toolcarry.fallback.shorten.kinds import ERRORS
from toolcarry.fallback.shorten.lines import HIGHEST, Ranking, is_promising

_HIT: Final = re.compile(r"((?:[A-Za-z]:[\\/])?[^ \t:]+):(?:[0-9]+(?::|$))?")
_NUMBERED: Final = re.compile(r"([0-9]{1,9})([:-])")
_NUMBER: Final = re.compile(r"-[0-9]+-")

_PATH: Final = 155
"""The rank of a line with the path of hits, and of messages. Above it are the lines that speak of errors."""
_FIRST_HIT: Final = 154
_CONTEXT: Final = 2


def read_hits(lines: Sequence[str]) -> Ranking | None:
    """Return the ranks of lines that are hits; ``None`` if fewer than three of four are.

    Lines that speak of errors come first, then messages and paths.

    >>> lines = ["a.py:1:import os", "a.py:7:os.read(0)", "b.py:3:import os", "grep: c: Is a directory"]
    >>> read_hits(lines).ranks
    [154, 153, 154, 155]
    """
    if not is_promising(lines, _is_known):
        return None
    paths = [_path_of(line) for line in lines]
    following = _following(paths)
    ranks, groups = [0] * len(lines), [0] * len(lines)
    numbers: dict[str, int] = {}
    hits: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    own, last, strange, filled, is_start = "", -1, 0, 0, True
    for place, line in enumerate(lines):
        was_start, is_start = is_start, line in ("", "--")
        if not is_start:
            filled += 1
            path, numbered = paths[place], _NUMBERED.match(line)
            is_ascending = numbered is not None and int(numbered[1]) > last
            is_hit, rank = path is not None, 0
            if path is not None:
                own, last = path, -1
            elif numbered is not None and is_ascending:
                last, is_hit, rank = int(numbered[1]), numbered[2] == ":", _CONTEXT
            elif was_start and place + 1 < len(lines) and _NUMBERED.match(lines[place + 1]):
                own, last, rank = line, -1, _PATH
            elif _is_beside(line, own) or _is_beside(line, following[place]):
                own, rank = own if _is_beside(line, own) else following[place], _CONTEXT
            if is_hit:
                rank = max(_FIRST_HIT - hits[own], _CONTEXT + 1)
                hits[own] += 1
            elif not rank:
                strange, rank = strange + 1, _PATH
            if any(word in line for word in ERRORS):
                rank = max(HIGHEST - errors[own], _PATH + 1)
                errors[own] += 1
            ranks[place] = rank
        groups[place] = numbers.setdefault(own, len(numbers))
    if strange * 4 > filled or not hits:
        return None
    return Ranking(ranks, "more", 1, groups, "files")


def _is_known(line: str) -> bool:
    """Return true if a line may be a hit, or one around a hit."""
    return any((_path_of(line), _NUMBERED.match(line), _NUMBER.search(line)))


def _path_of(line: str) -> str | None:
    """Return the path before a hit. A time is not a path, and a word without a dot or a slash only if a number follows."""
    match = _HIT.match(line)
    if match is None:
        return None
    path = match[1]
    has_sign = "." in path or "/" in path
    if "0" <= path[0] <= "9":
        is_path = has_sign and re.search("[A-Za-z]", path) is not None
    else:
        is_path = path[0].isascii() and (path[0].isalpha() or path[0] in "_./~@-")
    return path if is_path and (has_sign or match.end() > len(path) + 1) else None


def _following(paths: Sequence[str | None]) -> list[str]:
    """Return the path of the next hit for each line."""
    found, following = "", []
    for path in reversed(paths):
        found = found if path is None else path
        following.append(found)
    return following[::-1]


def _is_beside(line: str, path: str) -> bool:
    """Return true if a line is one around a hit in a file: ``a.py-3-text``."""
    return path != "" and line.startswith(path) and _NUMBER.match(line, len(path)) is not None
