"""Move conversations to another store, and delete them.

A conversation is copied, verified in the other store, and only then deleted here.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from toolcarry.errors import StoreDamagedError, StoreError
from toolcarry.tract.store.database import ConflictError, Database, Row, Transaction
from toolcarry.tract.store.hashing import CommitRow, Head, row_seal
from toolcarry.tract.store.log import (
    ADD_COMMIT,
    ADD_CONTENT,
    ADD_LOST,
    LOST,
    NUMBER,
    Log,
    read_head,
)
from toolcarry.tract.store.rows import COLUMNS, content_of
from toolcarry.tract.store.types import Archived
from toolcarry.tract.store.verify import all_conversations, pages

__all__ = ["archive", "forget"]

BATCH: Final = 500
"""Commits in one transaction."""

ROWS: Final = (
    f"SELECT {COLUMNS} FROM tract_commits c WHERE c.conversation = ? AND c.sequence > ? "
    "ORDER BY c.sequence LIMIT ?"
)
CONTENT: Final = (
    "SELECT tenant, hash, size, packing, data FROM tract_contents WHERE tenant = ? AND hash = ?"
)
NEWEST: Final = "SELECT max(created_at) FROM tract_commits WHERE conversation = ?"
FORGET: Final = (
    "DELETE FROM tract_lost WHERE conversation = ?",
    "DELETE FROM tract_commits WHERE conversation = ?",
    "DELETE FROM tract_conversations WHERE id = ?",
)
UNSHARED: Final = (
    "SELECT content FROM tract_commits WHERE conversation = ? EXCEPT "
    "SELECT c.content FROM tract_commits c JOIN tract_conversations v ON v.id = c.conversation "
    "WHERE v.tenant = ? AND v.id <> ?"
)
ARRIVED: Final = 0
"""The number under which the notes of a conversation say that it was archived; no commit has it."""
HASH_AT: Final = "SELECT hash FROM tract_commits WHERE conversation = ? AND sequence = ?"


class OtherConversationError(StoreError):
    """The other store has a different conversation of this name."""


def archive(source: Database, target: Database, tenant: str, before: datetime) -> Archived:
    """Move the tenant's conversations that ended before ``before``.

    Each is verified in the other store before it is deleted here. An interrupted move is continued by the next call, and
    several processes may move conversations into one store.
    If the other store has a different conversation of the same name, that one stays here, and the error is raised after
    all others have moved.
    """
    refused: OtherConversationError | None = None
    limit = round(before.astimezone(UTC).timestamp() * 1_000_000)
    moved: list[str] = []
    commits = 0
    for number, owner, name in list(all_conversations(source)):
        newest = source.read(NEWEST, (number,))
        if owner != tenant or newest[0][0] is None or newest[0][0] >= limit:
            continue
        head = Log(source, tenant, name).head()
        try:
            commits += copy_all(source, target, number, Log(source, tenant, name))
        except OtherConversationError as error:
            refused = refused or error
            continue
        if forget(source, tenant, name, expected=head):
            moved.append(name)
    if refused is not None:
        raise refused
    return Archived(tuple(moved), commits)


def copy_all(source: Database, target: Database, number: int, log: Log) -> int:
    """Copy a conversation and verify the copy; return the number of commits that this call has copied.

    Another process may archive the same conversation: each goes on where the copy ends, and one of them deletes the
    conversation here.
    """
    head = log.head()
    added = 0
    last: Head | None = None
    while True:
        copied = find_copy(source, target, number, log.tenant, log.conversation)
        before = copied.head()
        try:
            added += copy_conversation(source, target, number, log.conversation, copied)
        except ConflictError as error:
            if log.head() != head:
                return added
            if before == last:  # nobody has copied anything meanwhile
                raise StoreError(
                    f"{target.name}: cannot copy {log.conversation!r}: {error}"
                ) from None
            last = before
            continue
        for _ in copied.contents():  # reading verifies each commit and the chain
            pass
        if copied.head() == head or log.head() != head:
            return added
        raise StoreDamagedError(f"{target.name}: the copy of {log.conversation!r} is incomplete")


def find_copy(source: Database, target: Database, number: int, tenant: str, name: str) -> Log:
    """Return the log in the other store that has a part of a conversation, or a new one.

    A conversation that goes on under its name after it was archived is another one. Its copy is called ``name#2``,
    ``name#3`` and so on. Raises ``OtherConversationError`` if a conversation of the name did not come from an archive.
    """
    for turn in itertools.count(1):
        log = Log(target, tenant, name if turn == 1 else f"{name}#{turn}")
        sequence, found = log.head()
        if not sequence or source.read(HASH_AT, (number, sequence)) == [(found,)]:
            return log
        if not any(
            row[0] == ARRIVED
            for row in target.read(LOST, (target.read(NUMBER, (tenant, log.conversation))[0][0],))
        ):
            raise OtherConversationError(f"{target.name}: has another conversation {name!r}")
    raise AssertionError("there is always another name")


def copy_conversation(source: Database, target: Database, number: int, name: str, log: Log) -> int:
    """Copy the rows of a conversation, and return the number of new ones. Under another name their seals differ."""
    sequence, _ = log.head()
    if log.conversation != name:
        for _ in Log(source, log.tenant, name).commits():  # a new seal must not prove a damaged row
            pass
    added = 0
    batch: list[Row] = []
    for row in pages(source, ROWS, (number,), sequence):
        batch.append(row if log.conversation == name else resealed(CommitRow(*row), log))
        if len(batch) == BATCH:
            copy_rows(source, target, log, batch)
            added, batch = added + BATCH, []
    copy_rows(source, target, log, batch)
    lost = source.read(LOST, (number,))
    if lost:
        target.write(
            lambda run: run.run_many(ADD_LOST, [(log.make_number(run), *row) for row in lost])
        )
    return added + len(batch)


def resealed(row: CommitRow, log: Log) -> CommitRow:
    """Return a row with the seal for the conversation that it is copied into."""
    known = row.sequence, row.hash, row.kind, row.token_count, row.created_at
    return row._replace(seal=row_seal(log.tenant, log.conversation, *known))


def copy_rows(source: Database, target: Database, log: Log, rows: Sequence[Row]) -> None:
    """Copy commits with their contents, in one transaction."""
    contents = [
        source.read(CONTENT, (log.tenant, found)) for found in sorted(set(map(content_of, rows)))
    ]

    def work(run: Transaction) -> None:
        number = log.make_number(run)
        run.run_many(ADD_CONTENT, [found[0] for found in contents if found])
        run.run_many(ADD_COMMIT, [(number, *row) for row in rows])
        run.run(ADD_LOST, (number, ARRIVED, "it came from another store"))

    if rows:
        target.write(work)


def forget(database: Database, tenant: str, name: str, *, expected: Head | None = None) -> bool:
    """Delete a conversation, and the contents that no other one of the tenant shares. Return true if it existed.

    With ``expected``, delete it only if that is still its newest commit.
    """

    def work(run: Transaction) -> bool:
        found = run.run(NUMBER, (tenant, name))
        if not found:
            return False
        number = found[0][0]
        if expected is not None and read_head(run.run, number) != expected:
            return False
        unshared = run.run(UNSHARED, (number, tenant, number))
        for statement in FORGET:
            run.run(statement, (number,))
        for start in range(0, len(unshared), BATCH):
            hashes = [row[0] for row in unshared[start : start + BATCH]]
            places = ", ".join("?" * len(hashes))
            run.run(
                f"DELETE FROM tract_contents WHERE tenant = ? AND hash IN ({places})",
                (tenant, *hashes),
            )
        return True

    return database.erase(work)
