"""What the hash of a commit is made of: the hash of its content, and its metadata as canonical bytes.

How a commit is hashed, and what proves the rest of its row, ``_pure/history.py`` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcarry._backend import kernels
from toolcarry.errors import InputError

__all__ = [
    "content_hash",
    "dump_metadata",
    "hash_range",
]


def content_hash(content: bytes) -> bytes:
    """The address of a content: 32 bytes.

    >>> content_hash(b"3 passed").hex()[:16]
    '000c110e9ef2e869'
    """
    return kernels.hash_contents([content])[0]


def hash_range(given: str) -> tuple[bytes, bytes]:
    """The hashes that begin with the digits; empty where there are none."""
    digits = given.strip().lower()
    if not 8 <= len(digits) <= 64 or not set(digits) <= set("0123456789abcdef"):
        return b"", b""
    return bytes.fromhex(digits.ljust(64, "0")), bytes.fromhex(digits.ljust(64, "f"))


def dump_metadata(metadata: Mapping[str, Any]) -> bytes:
    """Metadata as canonical bytes: JSON in ASCII, keys in order, no white space.

    Raises ``InputError`` for what is no JSON: NaN, and other objects. That all keys are texts is the caller's to see to.

    >>> dump_metadata({"name": "Read", "is_error": False})
    b'{"is_error":false,"name":"Read"}'
    """
    try:
        return kernels.dump_metadata(metadata)
    except (TypeError, ValueError) as error:
        raise InputError(f"metadata: {error}", None) from None
