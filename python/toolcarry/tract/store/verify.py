"""Verify a store: every commit and every content is hashed again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from toolcarry.errors import StoreDamagedError
from toolcarry.tract.store.database import Database, Row
from toolcarry.tract.store.hashing import content_hash
from toolcarry.tract.store.log import LOST
from toolcarry.tract.store.rows import (
    COLUMNS,
    content_of,
    decompress,
    read_row,
    unfold_rows,
)
from toolcarry.tract.store.types import CommitInfo, Damage, Kind, VerifyResult

__all__ = ["all_conversations", "kind_of", "pages", "verify"]

PAGE: Final = 500

CONVERSATIONS: Final = (
    "SELECT id, tenant, name FROM tract_conversations WHERE id > ? ORDER BY id LIMIT ?"
)
COMMITS: Final = (
    f"SELECT {COLUMNS}, k.id FROM tract_commits c "
    "LEFT JOIN tract_contents k ON k.tenant = ? AND k.hash = c.content "
    "WHERE c.conversation = ? AND c.sequence > ? ORDER BY c.sequence LIMIT ?"
)
CONTENTS: Final = "SELECT id, tenant, hash, size, packing, data FROM tract_contents WHERE id > ? ORDER BY id LIMIT ?"


def verify(database: Database, only: str | None = None) -> VerifyResult:
    """Find all damage in the store: of the files, and of the conversations of one tenant (``None``: of all)."""
    damaged = [Damage(reason) for reason in database.check()]
    if database.lost_end:
        damaged.append(Damage(database.lost_end))
    contents: dict[tuple[str, bytes], str] = {}
    try:
        for row in pages(database, CONTENTS, (), 0):
            reason = content_damage(row)
            if reason:
                contents[row[1], row[2]] = reason
    except StoreDamagedError as error:
        damaged.append(Damage(str(error)))
    checked = 0
    lost: list[Damage] = []
    try:
        for number, tenant, name in all_conversations(database):
            if only is not None and tenant != only:
                continue
            chain = Chain(tenant, name, dict(database.read(LOST, (number,))))
            for row in pages(database, COMMITS, (tenant, number), 0):
                checked += 1
                (whole,) = unfold_rows([row], database.read, tenant)
                chain.take(whole, contents.get((tenant, content_of(row))))
            chain.close()
            damaged += chain.damaged
            lost += chain.lost
    except StoreDamagedError as error:
        damaged.append(Damage(str(error)))
    return VerifyResult(checked, tuple(damaged), tuple(lost))


class Chain:
    """Checks the commits of one conversation, one after another."""

    def __init__(self, tenant: str, conversation: str, lost: dict[int, str]) -> None:
        self.damaged: list[Damage] = []
        self.lost: list[Damage] = []
        self._tenant = tenant
        self._conversation = conversation
        self._known = lost
        self._sequence = 0
        self._parent: bytes | None = None

    def take(self, row: Row, content: str | None) -> None:
        """Check the next row; ``content`` is the damage of its content, if any."""
        sequence, found, parent = row[0], row[1], row[2]
        shown = found.hex() if isinstance(found, bytes) else None
        if not isinstance(sequence, int):
            self._report(None, "its row holds values that were never written", shown)
            return
        self._pass_gap(row)
        reason = self._reason(row) or content
        if reason is None and row[-1] is None:
            reason = "its content is missing"
        if (
            reason is None
            and parent != self._parent
            and sequence == self._sequence + 1
            and self._parent is not None
        ):
            reason = "its parent is not the commit before it"
        if reason is not None:
            self._report(sequence, reason, shown)
        self._sequence, self._parent = sequence, found

    def close(self) -> None:
        """Report the commits after the last one that an earlier repair recorded as lost."""
        for sequence in sorted(self._known):
            if isinstance(sequence, int) and sequence > self._sequence:
                self._report(sequence, "the commit is missing", None)

    def _pass_gap(self, row: Row) -> None:
        """Report the commits that are missing between the row before and this one."""
        gap = range(self._sequence + 1, row[0])
        for sequence in gap[:PAGE]:
            self._report(sequence, "the commit is missing", None)
        if gap:
            self._parent = None
        elif row[0] == 1 and row[2] is not None:
            self._report(1, "it is the first, but has a parent", None)

    def _reason(self, row: Row) -> str | None:
        try:
            commit = read_row(row[:-1], self._tenant, self._conversation)
        except StoreDamagedError as error:
            return str(error)
        if kind_of(commit) is not commit.kind:
            return "its kind does not match its metadata"
        return None

    def _report(self, sequence: int | None, reason: str, found: str | None) -> None:
        known = None if sequence is None else self._known.get(sequence)
        damage = Damage(known or reason, self._tenant, self._conversation, sequence, found)
        (self.damaged if known is None else self.lost).append(damage)


def kind_of(commit: CommitInfo) -> Kind:
    """Return the kind of a commit by its role and its metadata, which its hash covers."""
    named = {
        "record": Kind.RECORD,
        "compaction": Kind.COMPACTION,
        "undo": Kind.UNDO,
        "omission": Kind.OMISSION,
    }.get(commit.role)
    if named is not None:
        return named
    if commit.role == "tool":
        return Kind.RESULT if commit.edits is None else Kind.EDIT
    return Kind.CALL if commit.metadata.get("tool_calls") else Kind.MESSAGE


def content_damage(row: Row) -> str | None:
    _, _, found, size, packing, data = row
    try:
        content = decompress(packing, data, size)
    except (StoreDamagedError, TypeError, ValueError) as error:
        return f"its content {error}"
    return None if content_hash(content) == found else "its content differs from what was written"


def all_conversations(database: Database) -> Iterator[tuple[int, str, str]]:
    """Yield the number, the tenant and the name of each conversation.

    Raises ``StoreDamagedError`` at the end if there are more than can be read.
    """
    known = database.read(database.proofs.conversations)[0][0]
    found = 0
    for row in pages(database, CONVERSATIONS, (), 0):
        found += 1
        if not (isinstance(row[1], str) and isinstance(row[2], str)):
            raise StoreDamagedError(f"{database.name}: is damaged: a conversation has no name")
        yield row[0], row[1], row[2]
    if found < known and found < database.read(database.proofs.conversations)[0][0]:
        raise StoreDamagedError(
            f"{database.name}: is damaged: has {known:,} conversations, and {found:,} can be read"
        )


def pages(database: Database, sql: str, values: tuple[Any, ...], after: int) -> Iterator[Row]:
    """Yield the rows of a statement that takes ``values``, the key to start after, and the number of rows."""
    while True:
        rows = database.read(sql, (*values, after, PAGE))
        yield from rows
        if len(rows) < PAGE:
            return
        if not isinstance(rows[-1][0], int) or rows[-1][0] <= after:
            raise StoreDamagedError(f"{database.name}: is damaged: its rows are not in order")
        after = rows[-1][0]
