"""A stored commit and a stored content, read back: nothing is believed that does not prove itself."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from toolcarry.errors import StoreDamagedError
from toolcarry.tract.store.hashing import commit_hash, content_hash, load_metadata, row_seal
from toolcarry.tract.store.packing import unpack
from toolcarry.tract.values import CommitInfo, Kind

__all__ = ["COLUMNS", "WIDTH", "commit_of", "read_content", "read_row"]

KINDS: Final = tuple(Kind)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

COLUMNS: Final = (
    "c.sequence, c.hash, c.parent, c.role, c.kind, c.content, c.metadata, c.token_count, "
    "c.created_at, c.seal"
)
"""Of a row of ``tract_commits c``, what ``read_row`` takes."""
WIDTH: Final = COLUMNS.count(",") + 1


def read_row(row: Sequence[Any], tenant: str, conversation: str) -> CommitInfo:
    """The commit of a row. Raises ``StoreDamagedError`` where the row is not what was written.

    SQLite takes a value of any type, and so bits that flip may make one of another: what can't be proved, or read, is
    as wrong as what proves something else.
    """
    sequence, found, parent, role, kind, content, metadata, tokens, created_at, seal = row
    try:
        if commit_hash(parent, role, content, metadata) != found:
            reason = "its row does not prove its hash"
        elif row_seal(tenant, conversation, sequence, found, kind, tokens, created_at) != seal:
            reason = "its row does not prove its place"
        else:
            return commit_of(row, conversation)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, struct.error):
        reason = "its row holds what was never written"
    shown = found.hex() if isinstance(found, bytes) else f"{found!s:.64}"
    raise StoreDamagedError(f"commit {shown}: {reason}", shown)


def commit_of(row: Sequence[Any], conversation: str) -> CommitInfo:
    """The commit of a row that is known to be what was written."""
    sequence, found, parent, role, kind, content, metadata, tokens, created_at, _ = row
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
