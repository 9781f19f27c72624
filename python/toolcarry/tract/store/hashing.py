"""The hashes that prove a commit of the canonical history: tagged SHA-256 over canonical bytes.

A commit's hash covers its parent's hash, so that a commit proves everything before it. Its seal covers what the hash
leaves out, such as where and when it was written. Each part is preceded by its length, and each kind of hash by its own
tag, so that no two different things have the same bytes. The tags contain a version: another canonical form would have
another tag, and never the same hash.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from toolcarry._input.json import dump_canonical
from toolcarry.tract.store.metadata_delta import fold

__all__ = [
    "PLAIN",
    "WRONG_TYPES",
    "CommitRow",
    "ContentRow",
    "Draft",
    "Head",
    "Part",
    "commit_hash",
    "content_hash",
    "link_rows",
    "load_metadata",
    "prepare_parts",
    "prove_rows",
    "row_seal",
]

CONTENT: Final = b"toolcarry content 1\n"
COMMIT: Final = b"toolcarry commit 1\n"
SEAL: Final = b"toolcarry seal 1\n"
SEAL_SIZE: Final = 16

_LENGTH: Final = struct.Struct(">Q").pack
_PLACE: Final = struct.Struct(">QQQq").pack

Head: TypeAlias = tuple[int, bytes | None]
"""The newest commit of a conversation: its sequence and its hash; ``(0, None)`` for an empty one."""


class Draft(NamedTuple):
    """A commit that is not written yet."""

    role: str
    kind: int
    content: bytes
    metadata: Mapping[str, Any]
    token_count: int
    written: bytes | None = None
    """All metadata as canonical bytes, if they are known; then ``metadata`` may lack the calls."""


class Part(NamedTuple):
    """A new commit after hashing: everything but its place in the log."""

    role: str
    kind: int
    content: bytes
    """The hash of the content."""
    metadata: bytes
    """Canonical bytes."""
    token_count: int


class CommitRow(NamedTuple):
    """The row of a commit, with the names and the order of its columns in the database."""

    sequence: int
    hash: bytes
    parent: bytes | None
    role: str
    kind: int
    content: bytes
    metadata: bytes
    token_count: int
    created_at: int
    """Microseconds since 1970."""
    seal: bytes


class ContentRow(NamedTuple):
    """The row of a content, with the names and the order of its columns in the database."""

    tenant: str
    hash: bytes
    size: int
    packing: int
    """``PLAIN``, or how the bytes are compressed."""
    data: bytes


PLAIN: Final = 0
"""The packing of a content that is not compressed."""
WRONG_TYPES: Final = (AttributeError, TypeError, ValueError, struct.error)
"""The errors of the functions below for values of other types than were written."""

_DIGITS: Final = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
"""A translation that makes each digit a zero, and everything else a space."""
_LONG_INTEGER: Final = b"0" * 19


def content_hash(content: bytes) -> bytes:
    """Return the hash of a content, by which it is stored: 32 bytes.

    >>> content_hash(b"3 passed").hex()[:16]
    '000c110e9ef2e869'
    """
    return sha256(CONTENT + content).digest()


def load_metadata(data: bytes) -> dict[str, Any]:
    """Return metadata from its canonical bytes, unchanged. orjson would read a long integer as a float.

    >>> load_metadata(b'{"is_error":false,"name":"Read"}')
    {'is_error': False, 'name': 'Read'}
    """
    is_short = len(data) < len(_LONG_INTEGER)
    try:
        is_exact = is_short or _LONG_INTEGER not in data.translate(_DIGITS)
        found = orjson.loads(data) if is_exact else json.loads(data)
    except orjson.JSONDecodeError:  # a lone surrogate
        found = json.loads(data)
    if not isinstance(found, dict):
        raise ValueError("metadata is not an object")  # noqa: TRY004 - of a value that was read
    return found


def prepare_parts(
    drafts: Sequence[Draft], tenant: str
) -> tuple[list[Part], list[bytes], list[ContentRow]]:
    """Return new commits, hashed as far as possible before their parents are known; their metadata in its stored form;
    and the tenant's contents, each once, in order of their hashes.

    Raises ``TypeError`` or ``ValueError`` for metadata that JSON can't express.

    >>> parts, stored, contents = prepare_parts([Draft("user", 0, b"3 passed", {}, 2)] * 2, "")
    >>> parts[0].content.hex()[:16], parts[0].metadata, stored, len(contents), contents[0].data
    ('000c110e9ef2e869', b'{}', [b'{}', b'{}'], 1, b'3 passed')
    """
    parts: list[Part] = []
    stored: list[bytes] = []
    contents: dict[bytes, bytes] = {}
    last, found = None, b""
    for role, kind, content, metadata, tokens, known in drafts:
        written = dump_canonical(metadata) if known is None else known
        if content is not last:  # the parts of a message share its content
            last, found = content, content_hash(content)
        parts.append(Part(role, int(kind), found, written, tokens))
        stored.append(fold(written, content))
        contents[found] = content
    kept = [
        ContentRow(tenant, key, len(contents[key]), PLAIN, contents[key])
        for key in sorted(contents)
    ]
    return parts, stored, kept


def commit_hash(parent: bytes | None, role: str, content: bytes, metadata: bytes) -> bytes:
    """Return the hash of a commit with this parent, role, hash of its content, and canonical metadata: 32 bytes."""
    before = b"" if parent is None else parent
    first, second = _lengths(len(before), role, len(content))
    written = first + before + second + content + _LENGTH(len(metadata)) + metadata
    return sha256(written).digest()


@lru_cache
def _lengths(parent: int, role: str, content: int) -> tuple[bytes, bytes]:
    """Return the bytes before a parent, and those between it and the content, which most commits have in common."""
    name = role.encode()
    return COMMIT + _LENGTH(parent), b"".join((_LENGTH(len(name)), name, _LENGTH(content)))


def row_seal(
    tenant: str,
    conversation: str,
    sequence: int,
    commit: bytes,
    kind: int,
    token_count: int,
    created_at: int,
) -> bytes:
    """Return the seal, which proves the columns of a commit that its hash leaves out: 16 bytes.

    Raises ``struct.error`` for a value of another type than was written.
    """
    numbers = _PLACE(sequence, kind, token_count, created_at)
    return sha256(_seal_tag(tenant, conversation) + numbers + commit).digest()[:SEAL_SIZE]


@lru_cache
def _seal_tag(tenant: str, conversation: str) -> bytes:
    """Return the beginning of every seal of a conversation."""
    names = [name.encode() for name in (tenant, conversation)]
    return SEAL + b"".join([_LENGTH(len(name)) + name for name in names])


def prove_rows(rows: Sequence[tuple[Any, ...]], tenant: str, conversation: str) -> int:
    """Return how many of the first rows are valid: their hash and their seal match their other columns.

    A row begins like a ``CommitRow``. SQLite accepts values of any type; a value of a wrong type makes its row invalid.
    """
    tag, place = _seal_tag(tenant, conversation), 0
    try:
        for row in rows:
            sequence, found, parent, role, kind, content, metadata, tokens, created_at, seal, *_ = (
                row
            )
            if commit_hash(parent, role, content, metadata) != found:
                break
            sealed = tag + _PLACE(sequence, kind, tokens, created_at) + found
            if sha256(sealed).digest()[:SEAL_SIZE] != seal:
                break
            place += 1
    except WRONG_TYPES:
        pass
    return place


def link_rows(
    parts: Sequence[Part], head: Head, created_at: int, tenant: str, conversation: str
) -> list[CommitRow]:
    """Return the rows of commits, the first on the head, each other one on the one before it.

    >>> rows = link_rows([Part("user", 0, bytes(32), b"{}", 2)] * 2, (0, None), 0, "", "default")
    >>> [row.sequence for row in rows], rows[1].parent == rows[0].hash, prove_rows(rows, "", "default")
    ([1, 2], True, 2)
    """
    rows: list[CommitRow] = []
    sequence, parent = head
    for part in parts:
        role, kind, content, metadata, tokens = part
        sequence += 1
        found = commit_hash(parent, role, content, metadata)
        seal = row_seal(tenant, conversation, sequence, found, kind, tokens, created_at)
        rows.append(CommitRow(sequence, found, parent, *part, created_at, seal))
        parent = found
    return rows
