"""The address of a content, and what of an address may be given. How a commit is hashed, ``_pure/history/hashing.py`` says."""

from __future__ import annotations

from toolcarry import _backend

__all__ = [
    "content_hash",
    "hash_range",
]


def content_hash(content: bytes) -> bytes:
    """The address of a content: 32 bytes.

    >>> content_hash(b"3 passed").hex()[:16]
    '000c110e9ef2e869'
    """
    return _backend.kernels.hash_contents([content])[0]


def hash_range(given: str) -> tuple[bytes, bytes]:
    """The hashes that begin with the digits; empty where there are none."""
    digits = given.strip().lower()
    if not 8 <= len(digits) <= 64 or not set(digits) <= set("0123456789abcdef"):
        return b"", b""
    return bytes.fromhex(digits.ljust(64, "0")), bytes.fromhex(digits.ljust(64, "f"))
