"""How contents are stored: as they are, or packed by zstd where that is shorter."""

from __future__ import annotations

import sys
from typing import Final

from toolcarry._pure.history.hashing import PLAIN
from toolcarry.errors import StoreDamagedError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["PACK_FROM", "ZSTD", "pack", "unpack"]

ZSTD: Final = 1

PACK_FROM: Final = 8192
"""Bytes. Below, unpacking takes longer than reading what it spares."""
LEVEL: Final = 1
"""Of zstd; 3 takes a fifth longer for two in a hundred."""


def pack(content: bytes) -> tuple[int, bytes]:
    """How a content is stored, and the bytes."""
    if len(content) >= PACK_FROM:
        packed = zstd.compress(content, LEVEL)
        if len(packed) < len(content):
            return ZSTD, packed
    return PLAIN, content


def unpack(packing: int, data: bytes, size: int) -> bytes:
    """The content of ``size`` bytes. Raises ``StoreDamagedError`` where it is none, without making more than that."""
    if packing == PLAIN:
        content = data
    elif packing == ZSTD:
        try:
            content = zstd.ZstdDecompressor().decompress(data, size + 1)
        except zstd.ZstdError as error:
            raise StoreDamagedError(f"cannot be unpacked: {error}") from None
    else:
        raise StoreDamagedError(f"is packed in no way known here: {packing}")
    if len(content) != size:
        more = "more" if len(content) > size else "fewer"
        raise StoreDamagedError(f"has {more} than its {size:,} bytes")
    return content
