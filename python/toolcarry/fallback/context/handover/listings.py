"""Long listings of files, as ``ls -l`` prints them: of each entry its name stays, and the size of a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

LEFT_OUT: Final = "modes, owners and dates"
_FEWEST: Final = 4
"""The entries from which on the columns say less than they take."""
_MODE: Final = re.compile("[-bcdlps][-rwxsStT]{9}")
_ENTRY: Final = re.compile(
    "[-bcdlps][-rwxsStT]{9}[.+@]? +[0-9]+ +[^ ]+ +[^ ]+ +([0-9][0-9.,KMGTP]*) +"
    "(?:[0-9]{4}-[0-9]{2}-[0-9]{2} +[0-9]{2}:[0-9]{2}"
    "|[^ ]+ +[^ ]+ +(?:[0-9]{1,2}:[0-9]{2}|[0-9]{4})) (.+)"
)
"""The mode, the links, the owner, the group, the size, the date and the name."""


def without_columns(lines: Sequence[str]) -> list[str] | None:
    """Return lines in which an entry of a long listing is its size and its name; ``None`` if there are few entries.

    >>> without_columns(["-rw-r--r-- 1 root root 1000 Jan 12 15:22 a b.txt"] * 3 + ["drwxr-xr-x 2 me me 64 Jan  1 2024 src"])
    ['1000 a b.txt', '1000 a b.txt', '1000 a b.txt', 'src/']
    """
    found = [_entry(line) for line in lines]
    if sum([entry is not None for entry in found]) < _FEWEST:
        return None
    return [line if entry is None else entry for line, entry in zip(lines, found, strict=True)]


def _entry(line: str) -> str | None:
    """Return the size and the name of an entry; ``None`` for any other line."""
    if _MODE.match(line) is None:
        return None
    found = _ENTRY.fullmatch(line)
    if found is None:
        return None
    size, name = found.groups()
    if line[0] == "d":
        return f"{name}/"
    return name if line[0] == "l" else f"{size} {name}"
