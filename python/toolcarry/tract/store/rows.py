"""Stored commits and contents: hashed, compressed, and verified when they are read back.

A row that does not match its hashes is never returned: ``StoreDamagedError`` is raised instead.
``hashing.py`` documents how a commit is hashed, and ``metadata_delta.py`` how metadata that repeats its content is folded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from toolcarry.errors import StoreDamagedError, StoreError
from toolcarry.tract.store.database import Row, Value
from toolcarry.tract.store.hashing import (
    PLAIN,
    WRONG_TYPES,
    CommitRow,
    commit_hash,
    content_hash,
    load_metadata,
    prove_rows,
    row_seal,
)
from toolcarry.tract.store.metadata_delta import FOLDED, unfold
from toolcarry.tract.store.types import CommitInfo, Kind

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = [
    "COLUMNS",
    "COMPRESS_FROM",
    "WIDTH",
    "commits_of",
    "compress",
    "content_of",
    "damaged_row",
    "decompress",
    "find_contents",
    "hash_range",
    "is_folded",
    "read_content",
    "read_contents",
    "read_row",
    "read_rows",
    "unfold_row",
    "unfold_rows",
]


def hash_range(given: str) -> tuple[bytes, bytes]:
    """Return the lowest and the highest hash that begin with the digits; empty for invalid digits."""
    digits = given.strip().lower()
    if not 8 <= len(digits) <= 64 or not set(digits) <= set("0123456789abcdef"):
        return b"", b""
    return bytes.fromhex(digits.ljust(64, "0")), bytes.fromhex(digits.ljust(64, "f"))


ZSTD: Final = 1

COMPRESS_FROM: Final = 8192
"""The minimum number of bytes of a content to compress. For fewer, decompressing costs more than it saves in reading."""
LEVEL: Final = 1
"""The level of zstd; higher levels take longer and gain little."""


def compress(content: bytes) -> tuple[int, bytes]:
    """Return the packing of a content, and its bytes in that packing; the compressed ones if they are fewer."""
    if len(content) >= COMPRESS_FROM:
        packed = zstd.compress(content, LEVEL)
        if len(packed) < len(content):
            return ZSTD, packed
    return PLAIN, content


def decompress(packing: int, data: bytes, size: int) -> bytes:
    """Return the content of ``size`` bytes. Raises ``StoreDamagedError`` for invalid data or any other size.

    Never decompresses much more than ``size`` bytes.
    """
    if packing == PLAIN:
        content = data
    elif packing == ZSTD:
        try:
            content = zstd.ZstdDecompressor().decompress(data, size + 1)
        except zstd.ZstdError as error:
            raise StoreDamagedError(f"can't be decompressed: {error}") from None
    else:
        raise StoreDamagedError(f"has an unknown packing: {packing}")
    if len(content) != size:
        more = "more" if len(content) > size else "fewer"
        raise StoreDamagedError(f"has {more} than its {size:,} bytes")
    return content


CONTENTS_PER_READ: Final = 100
"""The number of contents that one statement reads."""

Read = Callable[[str, Sequence[Value]], list[Row]]


def unfold_rows(rows: list[Row], read: Read, tenant: str) -> list[Row]:
    """Return rows, which begin like a ``CommitRow``, with their metadata unfolded.

    Metadata that can't be unfolded stays unchanged, and then fails its verification.
    """
    folded = [row for row in rows if is_folded(row)]
    if not folded:
        return rows
    contents = find_contents(read, tenant, set(map(content_of, folded)))
    return [
        unfold_row(row, contents.get(content_of(row))) if is_folded(row) else row for row in rows
    ]


def content_of(row: Row) -> Any:
    """Return the hash of the content that a row names."""
    return row[CONTENT]


def is_folded(row: Row) -> bool:
    return type(row[METADATA]) is bytes and row[METADATA].startswith(FOLDED)


def find_contents(read: Read, tenant: str, hashes: Iterable[bytes]) -> Mapping[bytes, Row]:
    """Return the packing, the size and the stored bytes of contents, by their hashes."""
    found: dict[bytes, Row] = {}
    wanted = list(hashes)
    for start in range(0, len(wanted), CONTENTS_PER_READ):
        some = wanted[start : start + CONTENTS_PER_READ]
        places = ", ".join("?" * len(some))
        rows = read(
            "SELECT hash, packing, size, data FROM tract_contents "
            f"WHERE tenant = ? AND hash IN ({places})",
            (tenant, *some),
        )
        found.update((row[0], row[1:]) for row in rows)
    return found


def unfold_row(row: Row, content: Row | None) -> Row:
    """Return a row with its metadata unfolded by its stored content; the row itself if they don't match."""
    try:
        packing, size, data = content or (None, None, None)
        metadata = unfold(row[METADATA], decompress(packing, data, size))
    except (StoreError, ArithmeticError, TypeError, ValueError):
        return row
    return (*row[:METADATA], metadata, *row[METADATA + 1 :])


KINDS: Final = tuple(Kind)
NEVER_WRITTEN: Final = "its row holds values that were never written"

COLUMNS: Final = ", ".join([f"c.{name}" for name in CommitRow._fields])
"""The columns of ``tract_commits c`` that ``read_row`` needs."""
WIDTH: Final = len(CommitRow._fields)
HASH: Final = CommitRow._fields.index("hash")
CONTENT: Final = CommitRow._fields.index("content")
METADATA: Final = CommitRow._fields.index("metadata")


def read_rows(rows: list[Row], tenant: str, conversation: str) -> Iterator[CommitInfo]:
    """Yield the commits of rows. Raises ``StoreDamagedError`` at a row that differs from what was written.

    SQLite stores values of any type in any column, so a flipped bit may change a value's type. A row that can't be
    hashed or read is therefore damaged too.
    """
    proved = prove_rows(rows, tenant, conversation)
    whole = rows if proved == len(rows) else rows[:proved]
    commits = commits_of(whole, conversation)
    yield from commits
    if len(commits) < len(rows):
        raise damaged_row(rows[len(commits)], tenant, conversation)


def read_row(row: Row, tenant: str, conversation: str) -> CommitInfo:
    """Return the commit of one row."""
    return next(read_rows([row], tenant, conversation))


def mismatch(row: Row, tenant: str, conversation: str) -> str:
    """Return the reason why a row fails its verification."""
    sequence, found, parent, role, kind, content, metadata, tokens, created_at, seal, *_ = row
    try:
        is_hashed = commit_hash(parent, role, content, metadata) == found
        place = (sequence, found, kind, tokens, created_at)
        is_sealed = row_seal(tenant, conversation, *place) == seal
    except WRONG_TYPES:
        return NEVER_WRITTEN
    if not is_hashed:
        return "its row does not match its hash"
    return NEVER_WRITTEN if is_sealed else "its row does not match its seal"


def damaged_row(row: Row, tenant: str, conversation: str) -> StoreDamagedError:
    """Return the error for a row that fails its verification."""
    found = row[HASH]
    shown = found.hex() if isinstance(found, bytes) else f"{found!s:.64}"
    reason = mismatch(row, tenant, conversation)
    return StoreDamagedError(f"commit {shown}: {reason}", shown)


EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
UNREADABLE: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""The errors of making a commit from a row that was never written like that."""


def commits_of(rows: Sequence[Row], conversation: str) -> list[CommitInfo]:
    """Return the commits of verified rows, up to the first row with a value that is never written."""
    found: list[CommitInfo] = []
    for row in rows:
        sequence, own, parent, role, kind, content, metadata, tokens, created_at, *_ = row
        try:
            commit = CommitInfo(
                own.hex(),
                None if parent is None else parent.hex(),
                conversation,
                sequence,
                role,
                KINDS[kind],
                content.hex(),
                load_metadata(metadata),
                tokens,
                EPOCH + timedelta(0, 0, created_at),
            )
        except UNREADABLE:
            return found
        found.append(commit)
    return found


def read_content(commit: CommitInfo, row: Sequence[Any]) -> bytes:
    """Return the content of a commit from its stored row. Raises ``StoreDamagedError`` if it is damaged."""
    return next(read_contents([commit], [row]))[1]


def read_contents(
    commits: Sequence[CommitInfo], rows: Sequence[Sequence[Any]]
) -> Iterator[tuple[CommitInfo, bytes]]:
    """Yield the commits with their contents from the stored rows. A content that commits in a row share is read once.

    Raises ``StoreDamagedError`` at the first damaged content.
    """
    last, content = "", b""
    for commit, row in zip(commits, rows, strict=False):
        if commit.content_hash == last:
            yield commit, content
            continue
        last, content = commit.content_hash, stored_content(commit, row)
        if content_hash(content).hex() != commit.content_hash:
            shown = commit.commit_hash
            raise StoreDamagedError(
                f"commit {shown}: its content differs from what was written", shown
            )
        yield commit, content


def stored_content(commit: CommitInfo, row: Sequence[Any]) -> bytes:
    """Return the content of a commit from its stored row, before it is verified."""
    packing, size, data = row
    shown = commit.commit_hash
    if data is None:
        raise StoreDamagedError(f"commit {shown}: its content is lost", shown)
    if not (isinstance(packing, int) and isinstance(size, int) and isinstance(data, bytes)):
        raise StoreDamagedError(
            f"commit {shown}: its content holds values that were never written", shown
        )
    try:
        return decompress(packing, data, size)
    except StoreDamagedError as error:
        raise StoreDamagedError(f"commit {shown}: its content {error}", shown) from None
