"""A stored commit and a stored content, read back: nothing is believed that does not prove itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from toolcarry import _backend
from toolcarry._pure.history.hashing import WRONG_TYPES, commit_hash, row_seal
from toolcarry.errors import StoreDamagedError
from toolcarry.tract.store.database import Row
from toolcarry.tract.store.packing import unpack
from toolcarry.tract.values import CommitInfo, Kind

__all__ = [
    "COLUMNS",
    "WIDTH",
    "commits_of",
    "read_content",
    "read_contents",
    "read_row",
    "read_rows",
]

KINDS: Final = tuple(Kind)
NEVER_WRITTEN: Final = "its row holds what was never written"

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
    proved = _backend.kernels.prove_rows(rows, tenant, conversation)
    whole = rows if proved == len(rows) else rows[:proved]
    commits = commits_of(whole, conversation)
    yield from commits
    if len(commits) < len(rows):
        row = rows[len(commits)]
        raise damaged(row, disproof(row, tenant, conversation))


def read_row(row: Row, tenant: str, conversation: str) -> CommitInfo:
    """The commit of one row."""
    return next(read_rows([row], tenant, conversation))


def disproof(row: Row, tenant: str, conversation: str) -> str:
    """What a row does not prove."""
    sequence, found, parent, role, kind, content, metadata, tokens, created_at, seal, *_ = row
    try:
        is_hashed = commit_hash(parent, role, content, metadata) == found
        place = (sequence, found, kind, tokens, created_at)
        is_sealed = row_seal(tenant, conversation, *place) == seal
    except WRONG_TYPES:
        return NEVER_WRITTEN
    if not is_hashed:
        return "its row does not prove its hash"
    return NEVER_WRITTEN if is_sealed else "its row does not prove its place"


def damaged(row: Row, reason: str) -> StoreDamagedError:
    found = row[1]
    shown = found.hex() if isinstance(found, bytes) else f"{found!s:.64}"
    return StoreDamagedError(f"commit {shown}: {reason}", shown)


def commits_of(rows: list[Row], conversation: str) -> list[CommitInfo]:
    """The commits of rows that are known to be what was written, up to the first that holds what never was."""
    return _backend.kernels.commits_of(rows, conversation, CommitInfo, KINDS)


def read_content(commit: CommitInfo, row: Sequence[Any]) -> bytes:
    """The content of a commit from its stored row. Raises ``StoreDamagedError`` where it is not what was written."""
    return next(read_contents([commit], [row]))[1]


def read_contents(
    commits: Sequence[CommitInfo], rows: Sequence[Sequence[Any]]
) -> Iterator[tuple[CommitInfo, bytes]]:
    """The commits, each with its content from its stored row: all of them are hashed at once.

    Raises ``StoreDamagedError`` at the first that is not what was written.
    """
    contents: list[bytes] = []
    try:
        for commit, row in zip(commits, rows, strict=False):
            contents.append(opened(commit, row))
    except StoreDamagedError:
        yield from proved_contents(commits, contents)
        raise
    yield from proved_contents(commits, contents)


def opened(commit: CommitInfo, row: Sequence[Any]) -> bytes:
    """What a stored row says that the content of a commit is."""
    packing, size, data = row
    shown = commit.commit_hash
    if data is None:
        raise StoreDamagedError(f"commit {shown}: its content is lost", shown)
    if not (isinstance(packing, int) and isinstance(size, int) and isinstance(data, bytes)):
        raise StoreDamagedError(f"commit {shown}: its content holds what was never written", shown)
    try:
        return unpack(packing, data, size)
    except StoreDamagedError as error:
        raise StoreDamagedError(f"commit {shown}: its content {error}", shown) from None


def proved_contents(
    commits: Sequence[CommitInfo], contents: list[bytes]
) -> Iterator[tuple[CommitInfo, bytes]]:
    hashes = _backend.kernels.hash_contents(contents)
    for commit, content, found in zip(commits, contents, hashes, strict=False):
        if found.hex() != commit.content_hash:
            shown = commit.commit_hash
            raise StoreDamagedError(f"commit {shown}: its content is not what was written", shown)
        yield commit, content
