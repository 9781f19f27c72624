"""The number of values in a JSON document, counted before it is decoded.

A decoder makes an object of each value, and no other thread runs until it is done. Of millions of values, which fit into a
few megabytes, that takes seconds; and each array or object costs fifty times as much as a number, since the garbage
collector looks at it again and again.
"""

from __future__ import annotations

from typing import Final

__all__ = ["has_many_values"]

MOST_CONTAINERS: Final = 100_000
MOST_VALUES: Final = 1_000_000
"""Far more than a model reads: two million tokens are about 8 MB, which have about 10,000 messages."""

SLICE: Final = 1 << 18


def has_many_values(data: bytes) -> bool:
    """Return true if a document has more than 100,000 arrays and objects, or more than a million values.

    The data need not be JSON. Nothing that it calls takes longer than copying the data.

    >>> has_many_values(b"[" + b"[]," * 100_000 + b"0]"), has_many_values(b'["' + b"," * 2_000_000 + b'"]')
    (True, False)
    """
    if len(data) <= MOST_CONTAINERS or not exceeds(data):
        return False
    containers = commas = 0
    rest, is_inside = b"", False
    for start in range(0, len(data), SLICE):
        piece = (rest + data[start : start + SLICE]).replace(rb"\\", b"")
        rest = b"\\" if piece.endswith(b"\\") else b""  # the first half of an escape
        parts = piece.removesuffix(rest).replace(rb"\"", b"").split(b'"')
        outside = b"".join(parts[is_inside::2])
        is_inside ^= len(parts) % 2 == 0
        containers += outside.count(b"[") + outside.count(b"{")
        commas += outside.count(b",")
        if containers > MOST_CONTAINERS or commas >= MOST_VALUES:
            return True
    return False


def exceeds(data: bytes) -> bool:
    """Return true if data has too many brackets or commas, those in strings included."""
    if data.count(b"[") + data.count(b"{") > MOST_CONTAINERS:
        return True
    return len(data) > MOST_VALUES and data.count(b",") >= MOST_VALUES
