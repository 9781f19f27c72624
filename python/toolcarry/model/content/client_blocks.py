"""The blocks that a client puts next to what a tool returned, such as ``<system-reminder>``: a shortened result has each of
them whole, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolcarry._data import read_table

_OPENING: Final = re.compile(rf"<({'|'.join(read_table('parts')['client_blocks'])})>")


LONGEST_WITHIN: Final = 4_000
"""The longest block that may stand between other lines."""
WHITE: Final = " \t\r\n"


def client_blocks(text: str) -> list[tuple[int, int]]:
    """Return the start and the end of each block. A long one stands before or after all else in a text: in another place,
    it is more likely a text about such blocks.

    >>> client_blocks("a\\n<system-reminder>b</system-reminder>")
    [(2, 38)]
    >>> client_blocks("a <system-reminder>b</system-reminder>")
    []
    """
    found = list(closed_blocks(text))
    first = at = 0
    while first < len(found) and not text[at : found[first][0]].strip(WHITE):
        at = found[first][1]
        first += 1
    last, at = len(found), len(text)
    while last > first and not text[found[last - 1][1] : at].strip(WHITE):
        last -= 1
        at = found[last][0]
    within = [(start, end) for start, end in found[first:last] if end - start <= LONGEST_WITHIN]
    return [*found[:first], *within, *found[last:]]


def closed_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each block that begins a line, and is closed where a line ends."""
    at = 0
    unclosed: set[str] = set()
    while opening := _OPENING.search(text, at):
        at, name, start = opening.end(), opening[1], opening.start()
        if start > 0 and text[start - 1] != "\n":
            continue
        end = -1 if name in unclosed else text.find(f"</{name}>", at)
        if end < 0:
            unclosed.add(name)
            continue
        at = end + len(name) + 3
        if text[at : at + 1] in ("", "\r", "\n"):
            yield start, at


def around_blocks(text: str, head: int, tail: int) -> tuple[int, int]:
    """Return a cut that splits no block: what it would leave of one is cut, too."""
    for start, end in client_blocks(text):
        head = start if start < head < end else head
        tail = end if start < tail < end else tail
    return head, tail


def without_blocks(text: str) -> str:
    """Return a text without blocks, and without the line of one that it has to itself.

    >>> without_blocks("a\\n<system-reminder>b</system-reminder>\\n")
    'a\\n'
    """
    kept: list[str] = []
    at = 0
    for start, end in client_blocks(text):
        has_line = start == 0 or text[start - 1] == "\n"
        kept.append(text[at:start])
        at = end + (has_line and text[end : end + 1] == "\n")
    return "".join([*kept, text[at:]]) if kept else text
