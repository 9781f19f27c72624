"""Store metadata that repeats its commit's content without the repeated parts.

The arguments of an imported call are in the line, which is the content, and are metadata as well. Folded metadata
begins with a byte that begins no JSON, followed by steps: the length of some bytes, these bytes, and a range of the
content, each number in four bytes. The hashes cover the metadata itself, not its folded form. Zstandard with the
content as its dictionary was slower both ways.
"""

from __future__ import annotations

import struct
from typing import Final

__all__ = ["fold", "unfold"]

FOLDED: Final = b"\0"
BLOCK: Final = 32
"""The bytes of one search; a range is at least as long."""
WINDOW: Final = 256
"""The bytes after the last range in which the next one is searched first."""
SEARCHES: Final = 16
"""The maximum number of searches in all of the content, for keys in another order. The limit keeps the time linear."""
ESCAPE: Final = b"\\u"
ESCAPE_SIZE: Final = 6
"""The bytes of an escape, which most writers of lines don't use."""
SHORTEST: Final = 512
"""The shortest metadata that is folded."""
SHARE: Final = 64
"""Metadata that is shorter than this share of its content is not folded: a message may have thousands of results."""
GROWTH: Final = 8
"""The most that metadata may be longer than its content if it is folded. Damaged data can't expand beyond that."""

_NUMBER: Final = struct.Struct(">I")
_RANGE: Final = struct.Struct(">II")


def fold(metadata: bytes, content: bytes) -> bytes:
    """Return canonical metadata in the form in which it is stored: folded if that is half as long, else unchanged.

    >>> content = b'{"input":{"text":"%b"}}' % (b"import os; " * 100)
    >>> metadata = b'{"arguments":{"text":"%b"}}' % (b"import os; " * 100)
    >>> len(metadata), len(fold(metadata, content)), unfold(fold(metadata, content), content) == metadata
    (1125, 57, True)
    """
    is_long = len(metadata) >= SHORTEST and len(metadata) * SHARE >= len(content)
    if not is_long or len(metadata) > GROWTH * len(content):
        return metadata
    steps = [FOLDED]
    start = place = end = searches = 0
    while place + BLOCK <= len(metadata):
        block = metadata[place : place + BLOCK]
        if block.startswith(ESCAPE):
            place += ESCAPE_SIZE
            continue
        at = content.find(block, end, end + WINDOW)
        if at < 0 and searches < SEARCHES:
            searches += 1
            at = content.find(block)
        if at < 0:
            place += BLOCK
            continue
        length = common_length(metadata, place, content, at)
        steps += [_NUMBER.pack(place - start), metadata[start:place], _RANGE.pack(at, length)]
        place += length
        start, end = place, at + length
    steps += [_NUMBER.pack(len(metadata) - start), metadata[start:], _RANGE.pack(0, 0)]
    folded = b"".join(steps)
    return folded if len(folded) <= len(metadata) // 2 else metadata


def unfold(stored: bytes, content: bytes) -> bytes:
    """Return the original metadata from its stored form and the content.

    Raises ``ValueError`` for bytes that were not folded with this content.
    """
    if stored[:1] != FOLDED:
        return stored
    parts: list[bytes] = []
    place, size = 1, 0
    while place < len(stored):
        literal = place + _NUMBER.size
        end = literal + _number_at(stored, place)
        at, length = _number_at(stored, end), _number_at(stored, end + _NUMBER.size)
        place = end + _RANGE.size
        size += end - literal + length
        if at + length > len(content) or size > GROWTH * len(content):
            raise ValueError("metadata: is folded with another content")
        parts += [stored[literal:end], content[at : at + length]]
    return b"".join(parts)


def _number_at(stored: bytes, place: int) -> int:
    number = stored[place : place + _NUMBER.size]
    if len(number) < _NUMBER.size:
        raise ValueError("metadata: is folded and has no end")
    return int(_NUMBER.unpack(number)[0])


def common_length(one: bytes, start: int, other: bytes, at: int) -> int:
    """Return the number of equal bytes from two positions on."""
    length, size, is_longer = 0, BLOCK, True
    while size > 0:
        some = one[start + length : start + length + size]
        if len(some) == size and some == other[at + length : at + length + size]:
            length += size
        else:
            is_longer = False
        size = 2 * size if is_longer else size // 2
    return length
