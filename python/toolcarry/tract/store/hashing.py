"""What a commit's identity is made of: canonical bytes, and tagged SHA-256 over them.

A commit's hash covers its parent's hash, so that a commit proves everything before it. Each part is preceded by its
length, and each kind of hash by a tag of its own, so that no two different things have the same bytes. The tags hold a
version: another canonical form would be another tag, and never the same hash.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

import orjson

from toolcarry.errors import InputError, StoreDamagedError

__all__ = [
    "commit_hash",
    "content_hash",
    "dump_metadata",
    "hash_range",
    "load_metadata",
    "row_seal",
]

CONTENT: Final = b"toolcarry content 1\n"
COMMIT: Final = b"toolcarry commit 1\n"
SEAL: Final = b"toolcarry seal 1\n"

LENGTH: Final = struct.Struct(">Q").pack
PLACE: Final = struct.Struct(">QQQq").pack
DIGITS: Final = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
"""Makes each digit a zero, and all else a space."""
LONG_INTEGER: Final = b"0" * 19

encode = json.JSONEncoder(
    ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


def content_hash(content: bytes) -> bytes:
    """The address of a content: 32 bytes.

    >>> content_hash(b"3 passed").hex()[:16]
    '000c110e9ef2e869'
    """
    return sha256(CONTENT + content).digest()


# The parts are written out one by one: a commit that is read costs little beside this.


def commit_hash(parent: bytes | None, role: str, content: bytes, metadata: bytes) -> bytes:
    """The hash of a commit with this parent, role, hash of its content, and canonical metadata: 32 bytes."""
    before, name = b"" if parent is None else parent, role.encode()
    pieces = (
        *(COMMIT, LENGTH(len(before)), before, LENGTH(len(name)), name),
        *(LENGTH(len(content)), content, LENGTH(len(metadata)), metadata),
    )
    return sha256(b"".join(pieces)).digest()


def row_seal(
    tenant: str,
    conversation: str,
    sequence: int,
    commit: bytes,
    kind: int,
    token_count: int,
    created_at: int,
) -> bytes:
    """What proves the columns of a commit that its hash leaves out, as where and when it was written: 16 bytes.

    Raises ``struct.error`` for a value that is of another type than was written.
    """
    numbers = PLACE(sequence, kind, token_count, created_at)
    return sha256(seal_tag(tenant, conversation) + numbers + commit).digest()[:16]


@lru_cache
def seal_tag(tenant: str, conversation: str) -> bytes:
    """What every seal of a conversation begins with."""
    names = [name.encode("utf-8", "surrogatepass") for name in (tenant, conversation)]
    return SEAL + b"".join([LENGTH(len(name)) + name for name in names])


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
        return encode(metadata).encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"metadata: {error}", None) from None


def load_metadata(data: bytes) -> dict[str, Any]:
    """Metadata from its canonical bytes, as it was given: orjson would read a long integer as a float."""
    try:
        found = json.loads(data) if LONG_INTEGER in data.translate(DIGITS) else orjson.loads(data)
    except orjson.JSONDecodeError:  # a lone surrogate
        found = json.loads(data)
    if not isinstance(found, dict):
        raise StoreDamagedError("metadata is no object")
    return found
