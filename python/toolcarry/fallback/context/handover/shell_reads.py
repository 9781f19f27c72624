"""Commands that print lines of one file, and nothing else: how agents without a reading tool read."""

from __future__ import annotations

from typing import Final, NamedTuple

_SPECIAL: Final = "|&;<>$`(){}*?\n\\"
_MOST_DIGITS: Final = 9


class ShellRead(NamedTuple):
    """A file, its first line that is printed, and the last one (0: to the end). ``is_numbered`` if lines have numbers."""

    path: str
    first: int
    last: int
    is_numbered: bool

    def ends_after(self, count: int) -> bool:
        """Return true if the file ends after ``count`` lines: fewer lines were printed than requested."""
        return self.last == 0 or self.first + count - 1 < self.last


def read_in(command: str) -> ShellRead | None:
    """Return what a command reads; ``None`` if it does anything else.

    >>> read_in("sed -n '10,20p' src/a.py")
    ShellRead(path='src/a.py', first=10, last=20, is_numbered=False)
    >>> read_in("nl -ba a.py | sed -n '1,9p'")
    ShellRead(path='a.py', first=1, last=9, is_numbered=True)
    >>> read_in("cat a.py b.py"), read_in("cat a.py | grep x")
    (None, None)
    """
    first_part, pipe, second_part = command.partition("|")
    words = _words(first_part)
    found = _single(words)
    if not pipe or found is None:
        return found
    rest = _words(second_part)
    is_range = len(rest) == 3 and rest[:2] == ["sed", "-n"]
    lines = _lines(rest[2]) if is_range else None
    if lines is None or (found.first, found.last) != (1, 0):
        return None
    return found._replace(first=lines[0], last=lines[1])


def _words(command: str) -> list[str]:
    """Return the words of a plain command; none if a shell would read it otherwise."""
    if any(sign in command for sign in _SPECIAL):
        return []
    words = []
    for word in command.split():
        bare = word.strip("'\"")
        if "'" in bare or '"' in bare or len(word) - len(bare) not in (0, 2):
            return []
        words.append(bare)
    return words


def _single(words: list[str]) -> ShellRead | None:
    if len(words) < 2 or not words[-1] or words[-1].startswith("-"):
        return None
    path = words[-1]
    match words[:-1]:
        case ["cat"]:
            return ShellRead(path, 1, 0, is_numbered=False)
        case ["cat", "-n"] | ["nl", "-ba"]:
            return ShellRead(path, 1, 0, is_numbered=True)
        case ["sed", "-n", lines]:
            found = _lines(lines)
            return None if found is None else ShellRead(path, *found, is_numbered=False)
        case ["head", "-n", count] if _is_number(count):
            return ShellRead(path, 1, int(count), is_numbered=False)
        case ["head", count] if _is_number(count[1:]) and count[0] == "-":
            return ShellRead(path, 1, int(count[1:]), is_numbered=False)
    return None


def _lines(text: str) -> tuple[int, int] | None:
    """Return the lines of an address of sed, as in ``10,20p``."""
    first, comma, last = text.removesuffix("p").partition(",")
    if not text.endswith("p") or not _is_number(first):
        return None
    if not comma:
        return int(first), int(first)
    if last == "$":
        return int(first), 0
    return (int(first), int(last)) if _is_number(last) else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
