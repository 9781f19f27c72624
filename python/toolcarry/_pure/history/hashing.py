"""The hashes that prove a commit of the canonical history: tagged SHA-256 over canonical bytes.

A commit's hash covers its parent's hash, so that a commit proves everything before it. Its seal covers what the hash
leaves out, such as where and when it was written. Each part is preceded by its length, and each kind of hash by its own
tag, so that no two different things have the same bytes. The tags contain a version: another canonical form would have
another tag, and never the same hash.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import orjson

from toolcarry._data import read_table
from toolcarry._pure.history.metadata_delta import fold

__all__ = [
    "EPOCH",
    "PLAIN",
    "WRONG_TYPES",
    "CommitRow",
    "ContentRow",
    "Draft",
    "Head",
    "Part",
    "commit_hash",
    "commits_of",
    "dump_metadata",
    "has_cut_word",
    "hash_contents",
    "link_rows",
    "load_metadata",
    "prepare_parts",
    "prove_rows",
    "row_seal",
]

CONTENT: Final = b"toolcarry content 1\n"
COMMIT: Final = b"toolcarry commit 1\n"
SEAL: Final = b"toolcarry seal 1\n"

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
_UNREADABLE: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""The errors of making a commit from a row that was never written like that."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS: Final = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
"""A translation that makes each digit a zero, and everything else a space."""
_LONG_INTEGER: Final = b"0" * 19

C = TypeVar("C")

CUT_WORDS: Final[tuple[str, ...]] = tuple(read_table("texts")["cut_words"])

encode = json.JSONEncoder(
    ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


def hash_contents(contents: list[bytes]) -> list[bytes]:
    """Return the hashes of contents, by which they are stored: 32 bytes each.

    >>> hash_contents([b"3 passed"])[0].hex()[:16]
    '000c110e9ef2e869'
    """
    return [sha256(CONTENT + content).digest() for content in contents]


def dump_metadata(metadata: Mapping[str, Any]) -> bytes:
    """Return metadata as canonical bytes: JSON in ASCII, keys in order, no white space.

    Raises ``TypeError`` or ``ValueError`` for metadata that JSON can't express.

    >>> dump_metadata({"name": "Read", "is_error": False})
    b'{"is_error":false,"name":"Read"}'
    """
    return encode(metadata).encode()


def load_metadata(data: bytes) -> dict[str, Any]:
    """Return metadata from its canonical bytes, unchanged. orjson would read a long integer as a float.

    >>> load_metadata(b'{"is_error":false,"name":"Read"}')
    {'is_error': False, 'name': 'Read'}
    """
    try:
        found = json.loads(data) if _LONG_INTEGER in data.translate(_DIGITS) else orjson.loads(data)
    except orjson.JSONDecodeError:  # a lone surrogate
        found = json.loads(data)
    if not isinstance(found, dict):
        raise ValueError("metadata is not an object")  # noqa: TRY004 - of a value that was read
    return found


def has_cut_word(text: str) -> bool:
    """Return true if text contains a word that a mark of truncation uses.

    >>> has_cut_word("line 1\\n... [truncated]"), has_cut_word("3 passed")
    (True, False)
    """
    return any(word in text for word in CUT_WORDS)


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
    for role, kind, content, metadata, tokens, known in drafts:
        written = dump_metadata(metadata) if known is None else known
        (found,) = hash_contents([content])
        parts.append(Part(role, int(kind), found, written, tokens))
        stored.append(fold(written, content))
        contents[found] = content
    kept = [
        ContentRow(tenant, key, len(contents[key]), PLAIN, contents[key])
        for key in sorted(contents)
    ]
    return parts, stored, kept


# The parts are written out one by one, since hashing a single commit is a small part of reading it.


def commit_hash(parent: bytes | None, role: str, content: bytes, metadata: bytes) -> bytes:
    """Return the hash of a commit with this parent, role, hash of its content, and canonical metadata: 32 bytes."""
    before, name = b"" if parent is None else parent, role.encode()
    pieces = (
        *(COMMIT, _LENGTH(len(before)), before, _LENGTH(len(name)), name),
        *(_LENGTH(len(content)), content, _LENGTH(len(metadata)), metadata),
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
    """Return the seal, which proves the columns of a commit that its hash leaves out: 16 bytes.

    Raises ``struct.error`` for a value of another type than was written.
    """
    numbers = _PLACE(sequence, kind, token_count, created_at)
    return sha256(_seal_tag(tenant, conversation) + numbers + commit).digest()[:16]


@lru_cache
def _seal_tag(tenant: str, conversation: str) -> bytes:
    """Return the beginning of every seal of a conversation."""
    names = [name.encode() for name in (tenant, conversation)]
    return SEAL + b"".join([_LENGTH(len(name)) + name for name in names])


def prove_rows(rows: list[tuple[Any, ...]], tenant: str, conversation: str) -> int:
    """Return how many of the first rows are valid: their hash and their seal match their other columns.

    A row begins like a ``CommitRow``. SQLite accepts values of any type; a value of a wrong type makes its row invalid.
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
) -> list[CommitRow]:
    """Return the rows of commits, the first on the head, each other one on the one before it.

    >>> rows = link_rows([Part("user", 0, bytes(32), b"{}", 2)] * 2, (0, None), 0, "", "default")
    >>> [row.sequence for row in rows], rows[1].parent == rows[0].hash, prove_rows(rows, "", "default")
    ([1, 2], True, 2)
    """
    rows: list[CommitRow] = []
    sequence, parent = head
    for part in parts:
        sequence += 1
        found = commit_hash(parent, part.role, part.content, part.metadata)
        seal = row_seal(
            tenant, conversation, sequence, found, part.kind, part.token_count, created_at
        )
        rows.append(CommitRow(sequence, found, parent, *part, created_at, seal))
        parent = found
    return rows


def commits_of(
    rows: Sequence[tuple[Any, ...]],
    conversation: str,
    commit: Callable[..., C],
    kinds: Sequence[int],
) -> list[C]:
    """Return the commits of rows that were verified, up to the first one that can't have been written like that.

    A row begins like a ``CommitRow``. ``commit`` is a class with the fields of ``CommitInfo``, and ``kinds`` has its kinds in their order.

    >>> rows = link_rows([Part("user", 0, bytes(32), b"{}", 2)], (0, None), 0, "", "default")
    >>> commits_of(rows, "default", lambda *fields: (fields[3:6], fields[7:9]), ("message",))
    [((1, 'user', 'message'), ({}, 2))]
    """
    found: list[C] = []
    for row in rows:
        sequence, own, parent, role, kind, content, metadata, tokens, created_at = row[:9]
        try:
            made = commit(
                own.hex(),
                None if parent is None else parent.hex(),
                conversation,
                sequence,
                role,
                kinds[kind],
                content.hex(),
                load_metadata(metadata),
                tokens,
                EPOCH + timedelta(microseconds=created_at),
            )
        except _UNREADABLE:
            return found
        found.append(made)
    return found
