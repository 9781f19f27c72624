"""The log of one conversation: commits appended to its head, and read back, verified.

Nothing is ever changed in it. A commit that was appended is on the disk when ``append`` returns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from toolcarry.errors import StoreBusyError, StoreDamagedError, UnknownCommitError
from toolcarry.tract.store.database import (
    ConflictError,
    Database,
    LostConnectionError,
    Row,
    Transaction,
    Value,
)
from toolcarry.tract.store.hashing import (
    commit_hash,
    content_hash,
    dump_metadata,
    hash_range,
    row_seal,
)
from toolcarry.tract.store.packing import pack
from toolcarry.tract.store.rows import WIDTH, commit_of, read_content, read_row
from toolcarry.tract.store.statements import (
    ADD_COMMIT,
    ADD_CONTENT,
    HEAD,
    SEAL,
    SELECT,
    SELECT_WITH_CONTENT,
    SELECT_WITH_SIZE,
)
from toolcarry.tract.values import CommitInfo, Kind

__all__ = ["Draft", "Head", "Log"]

ATTEMPTS: Final = 200
"""At appending, before it is given up because others are always faster."""
LOSSES: Final = 3
"""Of the connection, at one appending."""
PAGE: Final = 1000
"""Commits read at once."""

Head = tuple[int, bytes | None]
"""The newest commit of a conversation: its sequence and its hash; ``(0, None)`` where there is none."""


class Draft(NamedTuple):
    """A commit to be."""

    role: str
    kind: Kind
    content: bytes
    metadata: Mapping[str, Any]
    token_count: int


class Log:
    """The log of one conversation of one tenant."""

    def __init__(self, database: Database, tenant: str, conversation: str) -> None:
        self.database = database
        self.tenant = tenant
        self.conversation = conversation
        self._number: int | None = None
        self._failures = database.failures

    # Writing

    def append(self, drafts: Sequence[Draft]) -> list[CommitInfo]:
        """Append commits to the head, whatever it is, all or none."""
        return self._commits(self._until_first(lambda: (None, drafts)))

    def append_to(self, make: Callable[[Head], Sequence[Draft]]) -> list[CommitInfo]:
        """Append the commits that are made for the head that they will stand on.

        ``make`` is called anew where another writer came in between. It may read this log.
        """
        return self._commits(self._append_to(make))

    def advance(self, make: Callable[[Head], Sequence[Draft]]) -> Head | None:
        """As ``append_to``; gives the new head alone, and ``None`` where nothing was appended."""
        rows = self._append_to(make)
        return (rows[-1][0], rows[-1][1]) if rows else None

    def _append_to(self, make: Callable[[Head], Sequence[Draft]]) -> list[Row]:
        def prepare() -> tuple[Head, Sequence[Draft]]:
            head = self.head()
            return head, make(head)

        return self._until_first(prepare)

    def _until_first(self, prepare: Callable[[], tuple[Head | None, Sequence[Draft]]]) -> list[Row]:
        """Append what is prepared for a head, or for any, until no other writer comes in between: its rows.

        Where the connection is lost, the rows may be there all the same: they are looked for before they are sent again.
        """
        sent: list[Row] = []
        losses, now = (
            0,
            time.time_ns() // 1000,
        )  # one time for all attempts: the same rows have the same seals
        for _ in range(ATTEMPTS):
            try:
                if losses and self._is_there(sent):
                    return sent
                expected, drafts = prepare()
                if not drafts:
                    return []
                if self._failures != self.database.failures:
                    self.head()
                self.database.write(lambda run: self._append(run, expected, drafts, now, sent))  # noqa: B023 - called at once
            except ConflictError:
                self._number = None
            except LostConnectionError:
                losses += 1
                if losses > LOSSES:
                    raise
            else:
                return sent
        raise StoreBusyError(f"{self.database.name}: others were faster {ATTEMPTS} times")

    def _is_there(self, rows: Sequence[Row]) -> bool:
        """Whether these very rows were written: the last of them, since they are all there or none."""
        number = self._find_number()
        found = None
        if rows and number is not None:
            found = self.database.read(SEAL, (number, rows[-1][0]))
        return found == [(rows[-1][1], rows[-1][-1])] if rows else False

    def _append(
        self,
        run: Transaction,
        expected: Head | None,
        drafts: Sequence[Draft],
        now: int,
        rows: list[Row],
    ) -> None:
        """Append commits, and note their rows. Raises ``ConflictError`` where another head than that is expected."""
        number = self._number or self.make_number(run)
        head = self._find_head(run.run(HEAD, (number,)))
        if expected is not None and head != expected:
            raise ConflictError("the head moved")
        sequence, parent = head
        contents: dict[bytes, tuple[Value, ...]] = {}
        rows.clear()
        for draft in drafts:
            sequence += 1
            content = content_hash(draft.content)
            if content not in contents:
                packing, data = pack(draft.content)
                contents[content] = (self.tenant, content, len(draft.content), packing, data)
            metadata = dump_metadata(draft.metadata)
            found = commit_hash(parent, draft.role, content, metadata)
            kind, tokens = int(draft.kind), draft.token_count
            seal = row_seal(self.tenant, self.conversation, sequence, found, kind, tokens, now)
            what = (draft.role, kind, content, metadata, tokens)
            rows.append((sequence, found, parent, *what, now, seal))
            parent = found
        if len(rows) == 1:
            run.run(ADD_CONTENT, contents[content])
            run.run(ADD_COMMIT, (number, *rows[0]))
        else:
            run.run_many(ADD_CONTENT, [contents[key] for key in sorted(contents)])
            run.run_many(ADD_COMMIT, [(number, *row) for row in rows])
        self._number = number

    def _commits(self, rows: Sequence[Row]) -> list[CommitInfo]:
        return [commit_of(row, self.conversation) for row in rows]

    def make_number(self, run: Transaction) -> int:
        """The number of the conversation, which is made where there is none."""
        names = (self.tenant, self.conversation)
        for _ in range(2):
            found = run.run(
                "SELECT id FROM tract_conversations WHERE tenant = ? AND name = ?", names
            )
            if found:
                return int(found[0][0])
            run.run(
                "INSERT INTO tract_conversations (tenant, name) VALUES (?, ?) ON CONFLICT DO NOTHING",
                names,
            )
        raise ConflictError("the conversation was forgotten meanwhile")

    # Reading

    def head(self) -> Head:
        """The newest commit. Where a write failed on the disk, it is read again whole, so that nothing is built on a loss."""
        number = self._find_number()
        if number is None:
            return 0, None
        found = self._find_head(self.database.read(HEAD, (number,)))
        if self._failures != self.database.failures and found[0] > 0:
            for commit, _ in self.contents(after=found[0] - 1):
                found = commit.sequence, bytes.fromhex(commit.commit_hash)
        self._failures = self.database.failures
        return found

    def commits(self, condition: str = "", *, after: int = 0) -> Iterator[CommitInfo]:
        """The commits behind a sequence, oldest first; ``condition`` is SQL that begins with ``AND``."""
        for row in self._pages(SELECT, (), condition, after):
            yield read_row(row, self.tenant, self.conversation)

    def contents(
        self, condition: str = "", *, after: int = 0
    ) -> Iterator[tuple[CommitInfo, bytes]]:
        """The commits behind a sequence, each with its content, oldest first."""
        for row in self._pages(SELECT_WITH_CONTENT, (self.tenant,), condition, after):
            commit = read_row(row[:WIDTH], self.tenant, self.conversation)
            yield commit, read_content(commit, row[WIDTH:])

    def sized(self, condition: str = "") -> Iterator[tuple[CommitInfo, int, int]]:
        """The commits, each with the bytes of its content and the bytes that these take, oldest first."""
        for row in self._pages(SELECT_WITH_SIZE, (self.tenant,), condition, 0):
            yield (
                read_row(row[:WIDTH], self.tenant, self.conversation),
                row[WIDTH] or 0,
                row[WIDTH + 1] or 0,
            )

    def newest(self, limit: int | None) -> Iterator[CommitInfo]:
        """The commits, newest first."""
        before: int | None = None
        while limit is None or limit > 0:
            number = self._find_number()
            if number is None:
                return
            size = PAGE if limit is None else min(PAGE, limit)
            end = "" if before is None else "AND c.sequence < ? "
            values = (number, size) if before is None else (number, before, size)
            rows = self.database.read(f"{SELECT} {end}ORDER BY c.sequence DESC LIMIT ?", values)
            for row in rows:
                yield read_row(row, self.tenant, self.conversation)
            if len(rows) < size:
                return
            before = rows[-1][0]
            limit = None if limit is None else limit - size

    def find(self, given: str) -> CommitInfo:
        """The commit of a hash, or of the first eight or more of its digits. Raises ``UnknownCommitError``."""
        low, high = hash_range(given)
        number = self._find_number()
        rows: list[Row] = []
        if number is not None and low:
            rows = self.database.read(
                f"{SELECT} AND c.hash >= ? AND c.hash <= ? LIMIT 2", (number, low, high)
            )
        if len(rows) != 1:
            reason = "several commits begin with it" if rows else "has no such commit"
            raise UnknownCommitError(
                f"commit {given!r:.80}: the conversation {self.conversation!r} {reason}", given
            )
        commit = read_row(rows[0], self.tenant, self.conversation)
        if not low.hex() <= commit.commit_hash <= high.hex():
            raise StoreDamagedError(f"commit {given:.80}: another one is found for it", given)
        return commit

    def content(self, commit: CommitInfo) -> bytes:
        """The content of a commit, verified."""
        rows = self.database.read(
            "SELECT packing, size, data FROM tract_contents WHERE tenant = ? AND hash = ?",
            (self.tenant, bytes.fromhex(commit.content_hash)),
        )
        return read_content(commit, rows[0] if rows else (None, None, None))

    def _pages(
        self, select: str, values: tuple[Value, ...], condition: str, after: int
    ) -> Iterator[Row]:
        number = self._find_number()
        if number is None:
            return
        sql = f"{select} AND c.sequence > ? {condition} ORDER BY c.sequence LIMIT ?"
        while True:
            rows = self.database.read(sql, (*values, number, after, PAGE))
            yield from rows
            if len(rows) < PAGE:
                return
            if rows[-1][0] <= after:
                raise StoreDamagedError(f"{self.database.name}: is damaged: rows are not in order")
            after = rows[-1][0]

    def _find_number(self) -> int | None:
        if self._number is None:
            rows = self.database.read(
                "SELECT id FROM tract_conversations WHERE tenant = ? AND name = ?",
                (self.tenant, self.conversation),
            )
            self._number = int(rows[0][0]) if rows else None
        return self._number

    @staticmethod
    def _find_head(rows: list[Row]) -> Head:
        return (rows[0][0], rows[0][1]) if rows else (0, None)
