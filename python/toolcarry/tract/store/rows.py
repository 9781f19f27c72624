"""A stored commit and a stored content, read back: nothing is believed that does not prove itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from toolcarry._backend import kernels
from toolcarry._pure.history import WRONG_TYPES, commit_hash, row_seal
from toolcarry.errors import StoreDamagedError
from toolcarry.tract.store.database import Row
from toolcarry.tract.store.hashing import content_hash, load_metadata
from toolcarry.tract.store.packing import unpack
from toolcarry.tract.values import CommitInfo, Kind

__all__ = ["COLUMNS", "WIDTH", "commit_of", "read_content", "read_row", "read_rows"]

KINDS: Final = tuple(Kind)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
NEVER_WRITTEN: Final = "its row holds what was never written"
UNREADABLE: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

COLUMNS: Final = (
    "c.sequence, c.hash, c.parent, c.role, c.kind, c.content, c.metadata, c.token_count, "
    "c.created_at, c.seal"
)
"""Of a row of ``tract_commits c``, what ``read_row`` takes."""
WIDTH: Final = COLUMNS.count(",") + 1


def read_rows(rows: list[Row], tenant: str, conversation: str) -> Iterator[CommitInfo]:
    """The commits of rows. Raises ``StoreDamagedError`` at a row that is not what was written.

    SQLite takes a value of any type, and so bits that flip may make one of another: what can't be proved, or read, is
    as wrong as what proves something else.
    """
    proved = kernels.prove_rows(rows, tenant, conversation)
    for row in rows[:proved]:
        try:
            commit = commit_of(row, conversation)
        except UNREADABLE:
            raise damaged(row, NEVER_WRITTEN) from None
        yield commit
    if proved < len(rows):
        raise damaged(rows[proved], disproof(rows[proved], tenant, conversation))


def read_row(row: Row, tenant: str, conversation: str) -> CommitInfo:
    """The commit of one row."""
    return next(read_rows([row], tenant, conversation))


def disproof(row: Row, tenant: str, conversation: str) -> str:
    """What a row does not prove."""
    sequence, found, parent, role, kind, content, metadata, tokens, created_at, *_ = row
    try:
        is_hashed = commit_hash(parent, role, content, metadata) == found
        row_seal(tenant, conversation, sequence, found, kind, tokens, created_at)
    except WRONG_TYPES:
        return NEVER_WRITTEN
    return f"its row does not prove its {'place' if is_hashed else 'hash'}"


def damaged(row: Row, reason: str) -> StoreDamagedError:
    found = row[1]
    shown = found.hex() if isinstance(found, bytes) else f"{found!s:.64}"
    return StoreDamagedError(f"commit {shown}: {reason}", shown)


def commit_of(row: Sequence[Any], conversation: str) -> CommitInfo:
    """The commit of a row that is known to be what was written."""
    sequence, found, parent, role, kind, content, metadata, tokens, created_at, *_ = row
    return CommitInfo(
        found.hex(),
        None if parent is None else parent.hex(),
        conversation,
        sequence,
        role,
        KINDS[kind],
        content.hex(),
        load_metadata(metadata),
        tokens,
        EPOCH + timedelta(microseconds=created_at),
    )


def read_content(commit: CommitInfo, row: Sequence[Any]) -> bytes:
    """The content of a commit from its stored row. Raises ``StoreDamagedError`` where it is not what was written."""
    packing, size, data = row
    shown = commit.commit_hash
    if data is None:
        raise StoreDamagedError(f"commit {shown}: its content is lost", shown)
    if not (isinstance(packing, int) and isinstance(size, int) and isinstance(data, bytes)):
        raise StoreDamagedError(f"commit {shown}: its content holds what was never written", shown)
    try:
        content = unpack(packing, data, size)
    except StoreDamagedError as error:
        raise StoreDamagedError(f"commit {shown}: its content {error}", shown) from None
    if content_hash(content).hex() != commit.content_hash:
        raise StoreDamagedError(f"commit {shown}: its content is not what was written", shown)
    return content
