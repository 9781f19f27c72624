"""What proves a commit of the canonical history: tagged SHA-256 over canonical bytes.

A commit's hash covers its parent's hash, so that a commit proves everything before it; its seal covers what the hash
leaves out, as where and when it was written. Each part is preceded by its length, and each kind of hash by a tag of its
own, so that no two different things have the same bytes. The tags hold a version: another canonical form would be
another tag, and never the same hash.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, TypeAlias

__all__ = [
    "WRONG_TYPES",
    "Head",
    "Linked",
    "Part",
    "commit_hash",
    "dump_metadata",
    "has_cut_word",
    "hash_contents",
    "link_rows",
    "prove_rows",
    "row_seal",
]

CONTENT: Final = b"toolcarry content 1\n"
COMMIT: Final = b"toolcarry commit 1\n"
SEAL: Final = b"toolcarry seal 1\n"

LENGTH: Final = struct.Struct(">Q").pack
PLACE: Final = struct.Struct(">QQQq").pack

Head: TypeAlias = tuple[int, bytes | None]
"""The newest commit of a conversation: its sequence and its hash; ``(0, None)`` where there is none."""
Part: TypeAlias = tuple[str, int, bytes, bytes, int]
"""Of a commit to be: role, kind, hash of its content, canonical metadata, tokens."""
Linked: TypeAlias = tuple[int, bytes, bytes | None, str, int, bytes, bytes, int, int, bytes]
"""Of a commit: sequence, hash, hash of its parent, what ``Part`` has, time in microseconds since 1970, seal."""

WRONG_TYPES: Final = (AttributeError, TypeError, ValueError, struct.error)
"""What the functions below raise for values of other types than were written."""


CUT_WORDS: Final = ("truncated", "[toolcarry: ", "clipped")

encode = json.JSONEncoder(
    ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


def hash_contents(contents: list[bytes]) -> list[bytes]:
    """The addresses of contents: 32 bytes each.

    >>> hash_contents([b"3 passed"])[0].hex()[:16]
    '000c110e9ef2e869'
    """
    return [sha256(CONTENT + content).digest() for content in contents]


def dump_metadata(metadata: Mapping[str, Any]) -> bytes:
    """Metadata as canonical bytes: JSON in ASCII, keys in order, no white space.

    Raises ``TypeError`` or ``ValueError`` for what is no JSON.

    >>> dump_metadata({"name": "Read", "is_error": False})
    b'{"is_error":false,"name":"Read"}'
    """
    return encode(metadata).encode()


def has_cut_word(text: str, ends: int) -> bool:
    """Whether one of the words of which every mark of a cut has one stands in the first or last so many characters.

    >>> has_cut_word("line 1\\n... [Truncated]", 2_000), has_cut_word("3 passed", 2_000)
    (True, False)
    """
    folded = text.lower() if len(text) <= ends else f"{text[:ends]}\n{text[-ends:]}".lower()
    return any(word in folded for word in CUT_WORDS)


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
    """What proves the columns of a commit that its hash leaves out: 16 bytes.

    Raises ``struct.error`` for a value that is of another type than was written.
    """
    numbers = PLACE(sequence, kind, token_count, created_at)
    return sha256(seal_tag(tenant, conversation) + numbers + commit).digest()[:16]


@lru_cache
def seal_tag(tenant: str, conversation: str) -> bytes:
    """What every seal of a conversation begins with."""
    names = [name.encode() for name in (tenant, conversation)]
    return SEAL + b"".join([LENGTH(len(name)) + name for name in names])


def prove_rows(rows: list[tuple[Any, ...]], tenant: str, conversation: str) -> int:
    """How many of the first rows prove themselves: their hash and their seal are what their other columns make.

    A row begins as ``Linked`` does. SQLite takes a value of any type: one of another type than was written proves nothing.
    """
    for place, row in enumerate(rows):
        sequence, found, parent, role, kind, content, metadata, tokens, created_at, seal = row[:10]
        try:
            if (
                commit_hash(parent, role, content, metadata) != found
                or row_seal(tenant, conversation, sequence, found, kind, tokens, created_at) != seal
            ):
                return place
        except WRONG_TYPES:
            return place
    return len(rows)


def link_rows(
    parts: Sequence[Part], head: Head, created_at: int, tenant: str, conversation: str
) -> list[Linked]:
    """The rows of commits that stand on a head, one on the other.

    >>> rows = link_rows([("user", 0, bytes(32), b"{}", 2)] * 2, (0, None), 0, "", "default")
    >>> [row[0] for row in rows], rows[1][2] == rows[0][1], prove_rows(rows, "", "default")
    ([1, 2], True, 2)
    """
    rows: list[Linked] = []
    sequence, parent = head
    for role, kind, content, metadata, tokens in parts:
        sequence += 1
        found = commit_hash(parent, role, content, metadata)
        seal = row_seal(tenant, conversation, sequence, found, kind, tokens, created_at)
        what = (role, kind, content, metadata, tokens)
        rows.append((sequence, found, parent, *what, created_at, seal))
        parent = found
    return rows
