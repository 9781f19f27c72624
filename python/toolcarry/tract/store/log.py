"""The log of one conversation: an append-only list of commits.

A commit is on disk when ``append`` returns. Reads come in pages, and each commit is verified: its own hashes, and that
it follows the commit before it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from toolcarry import _backend
from toolcarry._pure.history.hashing import CommitRow, ContentRow, Draft, Head, Part
from toolcarry.errors import (
    InputError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    UnknownCommitError,
)
from toolcarry.tract.store.database import (
    ConflictError,
    Database,
    LostConnectionError,
    Row,
    Transaction,
    Value,
)
from toolcarry.tract.store.rows import (
    COLUMNS,
    COMPRESS_FROM,
    WIDTH,
    commits_of,
    compress,
    find_contents,
    hash_range,
    read_content,
    read_contents,
    read_row,
    read_rows,
    unfold_rows,
)
from toolcarry.tract.store.types import CommitInfo
from toolcarry.tract.store.validate import check_text

__all__ = [
    "ADD_COMMIT",
    "ADD_CONTENT",
    "ADD_LOST",
    "HEAD",
    "LOST",
    "NUMBER",
    "Draft",
    "Head",
    "Log",
    "Prepared",
    "prepare",
]

SELECT: Final = f"SELECT {COLUMNS} FROM tract_commits c WHERE c.conversation = ?"
SELECT_WITH_CONTENT: Final = (
    f"SELECT {COLUMNS}, k.packing, k.size, k.data FROM tract_commits c "
    "LEFT JOIN tract_contents k ON k.tenant = ? AND k.hash = c.content WHERE c.conversation = ?"
)
SELECT_WITH_SIZE: Final = (
    f"SELECT {COLUMNS}, k.size, length(k.data) FROM tract_commits c "
    "LEFT JOIN tract_contents k ON k.tenant = ? AND k.hash = c.content WHERE c.conversation = ?"
)
# The index contains only the first eight bytes of a hash.
FIND: Final = (
    f"{SELECT} AND substr(c.hash, 1, 8) >= ? AND substr(c.hash, 1, 8) <= ? "
    "AND c.hash >= ? AND c.hash <= ? LIMIT 2"
)
HEAD: Final = (
    "SELECT sequence, hash FROM tract_commits WHERE conversation = ? ORDER BY sequence DESC LIMIT 1"
)
SEAL: Final = "SELECT hash, seal FROM tract_commits WHERE conversation = ? AND sequence = ?"
# If the stored bytes of a content differ from the new ones, they are damaged or compressed differently: replace them.
ADD_CONTENT: Final = (
    f"INSERT INTO tract_contents ({', '.join(ContentRow._fields)}) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (tenant, hash) DO UPDATE SET size = excluded.size, packing = excluded.packing, "
    "data = excluded.data WHERE tract_contents.data <> excluded.data"
)
ADD_COMMIT: Final = (
    f"INSERT INTO tract_commits (conversation, {', '.join(CommitRow._fields)}) "
    f"VALUES (?{', ?' * len(CommitRow._fields)})"
)
NUMBER: Final = "SELECT id FROM tract_conversations WHERE tenant = ? AND name = ?"
ADD_LOST: Final = "INSERT INTO tract_lost (conversation, sequence, reason) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
LOST: Final = "SELECT sequence, reason FROM tract_lost WHERE conversation = ? ORDER BY sequence"


PAGE: Final = 1000
"""The number of commits that one statement reads."""

ATTEMPTS: Final = 200
"""The attempts to append, before giving up because other writers are always faster."""
LOSSES: Final = 3
"""The lost connections that are tolerated while appending once."""


Read = Callable[[str, Sequence[Value]], list[Row]]


class Prepared(NamedTuple):
    """Drafts, hashed as far as possible before their parent is known."""

    parts: list[Part]
    metadata: list[bytes]
    """The metadata of each commit as it is stored."""
    contents: list[ContentRow]
    """The contents, each once, in the same order for all writers."""


def prepare(drafts: Sequence[Draft], tenant: str) -> Prepared:
    """Hash and compress contents, and serialize metadata. Raises ``InputError`` for metadata that is not JSON."""
    try:
        prepared = Prepared(*_backend.kernels.prepare_parts(drafts, tenant))
    except (TypeError, ValueError) as error:
        raise InputError(f"metadata: {error}", None) from None
    contents = prepared.contents
    for place, content in enumerate(contents):
        if content.size >= COMPRESS_FROM:
            packing, data = compress(content.data)
            contents[place] = content._replace(packing=packing, data=data)
    return prepared


class Log:
    """The log of one conversation of one tenant.

    It keeps no cursor open while it reads, so that writers never wait for a reader. A ``condition`` is SQL that begins
    with ``AND``. Without one, a missing commit raises ``StoreDamagedError``, unless a repair recorded it as lost.

    The log remembers the newest commit that it wrote, so that the next append needs no read. If another writer was
    faster, the insert conflicts, and the head is read again.
    """

    def __init__(self, database: Database, tenant: str, conversation: str) -> None:
        self.database = database
        self.tenant = tenant
        self.conversation = conversation
        self._number: int | None = None
        self._failures = database.failures
        self._known: Head | None = None

    def head(self) -> Head:
        """Return the newest commit. After a failed write it is read in full and verified, since it may be lost."""
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
        """Yield the commits after a sequence, oldest first."""
        for commits, _ in self._pages(SELECT, (), condition, after):
            yield from commits

    def contents(
        self, condition: str = "", *, after: int = 0
    ) -> Iterator[tuple[CommitInfo, bytes]]:
        """Yield the commits after a sequence with their contents, oldest first."""
        pages = self._pages(SELECT_WITH_CONTENT, (self.tenant,), condition, after)
        for commits, rows in pages:
            yield from read_contents(commits, [row[WIDTH:] for row in rows])

    def sized(self, condition: str = "") -> Iterator[tuple[CommitInfo, int, int]]:
        """Yield the commits with the size of their content and its stored size in bytes, oldest first."""
        for commits, rows in self._pages(SELECT_WITH_SIZE, (self.tenant,), condition, 0):
            for commit, row in zip(commits, rows, strict=False):
                yield commit, row[WIDTH] or 0, row[WIDTH + 1] or 0

    def newest(self, limit: int | None) -> Iterator[CommitInfo]:
        """Yield the commits, newest first."""
        newer: CommitInfo | None = None
        while limit is None or limit > 0:
            number = self._find_number()
            if number is None:
                return
            size = PAGE if limit is None else min(PAGE, limit)
            end = "" if newer is None else "AND c.sequence < ? "
            values = (number, size) if newer is None else (number, newer.sequence, size)
            rows = self._read(f"{SELECT} {end}ORDER BY c.sequence DESC LIMIT ?", values)
            for commit in read_rows(rows, self.tenant, self.conversation):
                if newer is not None:
                    self._check_link(commit.sequence, commit.commit_hash, newer)
                newer = commit
                yield commit
            if len(rows) < size:
                if newer is not None:
                    self._check_link(0, None, newer)
                return
            limit = None if limit is None else limit - size

    def find(self, given: str) -> CommitInfo:
        """Return the commit with this hash, or with its first eight or more digits.

        Raises ``UnknownCommitError``, and ``InputError`` for a value that is not a text.
        """
        check_text("commit", given)
        low, high = hash_range(given)
        number = self._find_number()
        rows: list[Row] = []
        if number is not None and low:
            rows = self._read(FIND, (number, low[:8], high[:8], low, high))
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
        """Return a commit's verified content. Raises ``UnknownCommitError`` for another conversation's commit."""
        key = bytes.fromhex(commit.content_hash)
        found = find_contents(self.database.read, self.tenant, [key])
        if key not in found:
            self.find(commit.commit_hash)  # a commit of another tenant is unknown here, not damaged
        return read_content(commit, found.get(key, (None, None, None)))

    def append(self, drafts: Sequence[Draft]) -> list[CommitInfo]:
        """Append commits to the current head, all or none."""
        prepared = prepare(drafts, self.tenant)
        rows = self._until_first(None, lambda: prepared)
        return commits_of(rows, self.conversation)

    def append_to(self, make: Callable[[Head], Sequence[Draft]]) -> list[CommitInfo]:
        """Append the drafts that ``make`` returns for the head that they will follow.

        ``make`` is called again if another writer was faster. It may read this log.
        """
        rows = self._append_to(lambda head: prepare(make(head), self.tenant))
        return commits_of(rows, self.conversation)

    def advance(self, make: Callable[[Head], Prepared]) -> Head | None:
        """Append like ``append_to``, but return only the new head; ``None`` if nothing was appended."""
        rows = self._append_to(make)
        return (rows[-1].sequence, rows[-1].hash) if rows else None

    def _append_to(self, make: Callable[[Head], Prepared]) -> list[CommitRow]:
        heads: list[Head] = []
        return self._until_first(heads, lambda: make(heads[-1]))

    def _until_first(
        self, heads: list[Head] | None, make: Callable[[], Prepared]
    ) -> list[CommitRow]:
        """Make and append commits, retry while other writers are faster, and return the rows.

        With ``heads``, the current head is added to it before each call of ``make``, and must be unchanged at the write.
        After a lost connection, the rows may have been written. So they are looked for before they are sent again,
        always after the head was read, so that they can't become visible in between.
        """
        sent: list[CommitRow] = []
        # One time for all attempts, so that the same rows get the same seals.
        now = time.time_ns() // 1000
        losses = 0
        for _ in range(ATTEMPTS):
            try:
                if heads is not None:
                    heads.append(self.head())
                    if losses and self._are_there(self.database.read, self._find_number(), sent):
                        return sent
                prepared = make()
                if not prepared.parts:
                    return []
                if self._failures != self.database.failures:
                    self._known = None
                    self.head()
                expected = heads[-1] if heads else None
                self._number = self.database.write(
                    lambda run: self._append(run, expected, prepared, now, sent, losses > 0)  # noqa: B023 - called at once
                )
            except ConflictError:
                self._number = self._known = None
            except LostConnectionError:
                self._known = None
                losses += 1
                if losses > LOSSES:
                    raise
            else:
                self._known = sent[-1].sequence, sent[-1].hash
                return sent
        raise StoreBusyError(f"{self.database.name}: others were faster {ATTEMPTS} times")

    @staticmethod
    def _are_there(read: Read, number: int | None, rows: Sequence[CommitRow]) -> bool:
        """True if exactly these rows were written. Checks the last one, since a write is all or nothing."""
        if number is None or not rows:
            return False
        last = rows[-1]
        return read(SEAL, (number, last.sequence)) == [(last.hash, last.seal)]

    def _append(
        self,
        run: Transaction,
        expected: Head | None,
        prepared: Prepared,
        now: int,
        rows: list[CommitRow],
        is_unsure: bool,
    ) -> int:
        """Append commits, store their rows in ``rows``, and return the number of the conversation.

        The number is valid only once the transaction is committed. Raises ``ConflictError`` if the head is not the
        expected one. ``is_unsure``: the rows of an earlier attempt may have been written.
        """
        number = self._number or self.make_number(run)
        head = self._known if self._number else None
        if head is None:
            head = self._find_head(run.run(HEAD, (number,)))
        if is_unsure and self._are_there(run.run, number, rows):
            return number
        if expected is not None and head != expected:
            raise ConflictError("the head moved")
        rows[:] = _backend.kernels.link_rows(
            prepared.parts, head, now, self.tenant, self.conversation
        )
        stored = [
            (number, *row._replace(metadata=metadata))
            for row, metadata in zip(rows, prepared.metadata, strict=True)
        ]
        run.finish(((ADD_CONTENT, prepared.contents), (ADD_COMMIT, stored)))
        return number

    def make_number(self, run: Transaction) -> int:
        """Return the number of the conversation, and create the conversation if it does not exist."""
        names = (self.tenant, self.conversation)
        for _ in range(2):
            found = run.run(NUMBER, names)
            if found:
                return int(found[0][0])
            run.run(
                "INSERT INTO tract_conversations (tenant, name) VALUES (?, ?) ON CONFLICT DO NOTHING",
                names,
            )
        raise ConflictError("the conversation was forgotten meanwhile")

    def _pages(
        self, select: str, values: tuple[Value, ...], condition: str, after: int
    ) -> Iterator[tuple[list[CommitInfo], list[Row]]]:
        """Yield pages of commits after a sequence, with their rows; of a damaged page, those before the damage."""
        number = self._find_number()
        if number is None:
            return
        sql = f"{select} AND c.sequence > ? {condition} ORDER BY c.sequence LIMIT ?"
        older: CommitInfo | None = None
        place = after
        while True:
            rows = self._read(sql, (*values, number, place, PAGE))
            commits: list[CommitInfo] = []
            try:
                for commit in read_rows(rows, self.tenant, self.conversation):
                    if not condition and older is not None:
                        self._check_link(older.sequence, older.commit_hash, commit)
                    elif not condition and after == 0:
                        self._check_link(0, None, commit)
                    if commit.sequence <= place:
                        raise StoreDamagedError(
                            f"{self.database.name}: is damaged: rows are not in order"
                        )
                    older, place = commit, commit.sequence
                    commits.append(commit)
            except StoreError:
                yield commits, rows
                raise
            yield commits, rows
            if len(rows) < PAGE:
                return

    def _read(self, sql: str, values: tuple[Value, ...]) -> list[Row]:
        """Return the rows of commits with their metadata unfolded."""
        return unfold_rows(self.database.read(sql, values), self.database.read, self.tenant)

    def _check_link(self, sequence: int, found: str | None, commit: CommitInfo) -> None:
        """Raise ``StoreDamagedError`` if a commit does not follow the one with this sequence and hash."""
        shown = commit.commit_hash
        if commit.sequence == sequence + 1:
            if commit.parent_hash != found:
                raise StoreDamagedError(
                    f"commit {shown}: does not stand on the commit before it", shown
                )
            return
        lost = {row[0] for row in self.database.read(LOST, (self._find_number(),))}
        missing = [each for each in range(sequence + 1, commit.sequence) if each not in lost]
        if missing:
            raise StoreDamagedError(
                f"commit {shown}: number {missing[0]} of the conversation is missing before it",
                shown,
            )

    def _find_number(self) -> int | None:
        if self._number is None:
            rows = self.database.read(NUMBER, (self.tenant, self.conversation))
            self._number = int(rows[0][0]) if rows else None
        return self._number

    @staticmethod
    def _find_head(rows: list[Row]) -> Head:
        return (rows[0][0], rows[0][1]) if rows else (0, None)
