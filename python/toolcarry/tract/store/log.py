"""The log of one conversation: an append-only list of commits.

A commit is on disk when ``append`` returns. Reads come in pages, and each commit is verified: its own hashes, and that
it follows the commit before it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from toolcarry._util.workers import check_wanted
from toolcarry.errors import (
    InputError,
    StoreBusyError,
    StoreDamagedError,
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
from toolcarry.tract.store.hashing import (
    CommitRow,
    ContentRow,
    Draft,
    Head,
    Part,
    link_rows,
    prepare_parts,
    prove_rows,
)
from toolcarry.tract.store.rows import (
    COLUMNS,
    COMPRESS_FROM,
    WIDTH,
    commits_of,
    compress,
    damaged_row,
    find_contents,
    hash_range,
    read_content,
    read_contents,
    read_row,
    read_rows,
    unfold_rows,
)
from toolcarry.tract.store.types import CommitInfo, Kind
from toolcarry.tract.store.validate import check_text

__all__ = [
    "ADD_COMMIT",
    "ADD_CONTENT",
    "ADD_LOST",
    "FIRST_PAGE",
    "HEAD",
    "LOST",
    "NUMBER",
    "Draft",
    "Head",
    "Log",
    "Prepared",
    "busy",
    "prepare",
    "read_head",
]

SELECT: Final = f"SELECT {COLUMNS} FROM tract_commits c WHERE c.conversation = ?"
SELECT_WITH_CONTENT: Final = (
    f"SELECT {COLUMNS}, k.packing, k.size, k.data FROM tract_commits c "
    "LEFT JOIN tract_contents k ON k.tenant = ? AND k.hash = c.content WHERE c.conversation = ?"
)
# The parts of a message share its content, which is not read again for each of them.
SELECT_WITH_NEW_CONTENT: Final = (
    f"SELECT {COLUMNS}, k.packing, k.size, k.data FROM tract_commits c "
    "LEFT JOIN tract_contents k ON k.tenant = ? AND k.hash = c.content AND NOT EXISTS ("
    "SELECT 1 FROM tract_commits b WHERE b.conversation = c.conversation "
    "AND b.sequence = c.sequence - 1 AND b.content = c.content) WHERE c.conversation = ?"
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
# For a hash that the index does not have.
FIND_SLOWLY: Final = f"{SELECT} AND c.sequence > 0 AND c.hash >= ? AND c.hash <= ? LIMIT 2"
COUNT: Final = "SELECT count(seal) FROM tract_commits WHERE conversation = ? AND sequence > 0"
HEAD: Final = (
    "SELECT sequence, hash FROM tract_commits WHERE conversation = ? ORDER BY sequence DESC LIMIT 1"
)
LAST_LOST: Final = "SELECT max(sequence) FROM tract_lost WHERE conversation = ?"
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


ALL_KINDS: Final = tuple(Kind)
PAGE: Final = 1000
"""The number of commits that one statement reads."""
FIRST_PAGE: Final = 20
"""The number of commits that ``newest`` reads first, since most callers need only a few."""

ATTEMPTS: Final = 200
"""The attempts to append, before giving up because other writers are always faster."""
LOSSES: Final = 3
"""The lost connections that are tolerated while appending once."""


Read = Callable[[str, Sequence[Value]], list[Row]]


def busy(name: str, attempts: int) -> StoreBusyError:
    """Return the error for a write that lost against other writers in each of its attempts."""
    return StoreBusyError(f"{name}: other writers committed first {attempts} times; try again")


def read_head(read: Read, number: int) -> Head:
    """Return the newest commit of a conversation. Numbers of lost commits at the end are never given again."""
    rows = read(HEAD, (number,))
    sequence, found = rows[0] if rows else (0, None)
    lost = read(LAST_LOST, (number,))[0][0] or 0
    return max(number_of(sequence), number_of(lost)), found


def number_of(value: object, name: str = "the store") -> int:
    """Return a number that was read. Raises ``StoreDamagedError`` for a value of another type."""
    if not isinstance(value, int):
        raise StoreDamagedError(f"{name}: is damaged: a sequence is not a number")
    return value


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
        prepared = Prepared(*prepare_parts(drafts, tenant))
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

    It keeps no cursor open while it reads, so that writers never wait for a reader. A missing commit raises
    ``StoreDamagedError``, unless a repair recorded it as lost. Each read begins or ends at the last commit that another
    index knows. Reads of some ``kinds`` read all commits: a damaged row may have another kind.

    The log remembers the newest commit that it wrote, so that the next append needs no read. If another writer was
    faster, the insert conflicts, and the head is read again.
    """

    def __init__(self, database: Database, tenant: str, conversation: str) -> None:
        self.database = database
        self.tenant = tenant
        self.conversation = conversation
        self._number: int | None = None
        self._failures = database.failures
        self._known: tuple[int, bytes] | None = None
        self._is_proved = False

    def head(self) -> Head:
        """Return the newest commit. After a failed write it is read in full and verified, since it may be lost."""
        number = self._find_number()
        if number is None:
            return 0, None
        found = self._read_head(self.database.read, number)
        if self._failures != self.database.failures and found[0] > 0:
            for commit, _ in self.contents(after=found[0] - 1):
                found = commit.sequence, bytes.fromhex(commit.commit_hash)
        self._failures = self.database.failures
        return found

    def number(self) -> int | None:
        """Return the number of the conversation in the database; ``None`` if it does not exist."""
        return self._find_number()

    def commits(
        self, kinds: Collection[Kind] = ALL_KINDS, *, after: int = 0
    ) -> Iterator[CommitInfo]:
        """Yield the commits of these kinds after a sequence, oldest first."""
        for commits, _ in self._pages(SELECT, (), kinds, after):
            yield from commits

    def contents(
        self, kinds: Collection[Kind] = ALL_KINDS, *, after: int = 0
    ) -> Iterator[tuple[CommitInfo, bytes]]:
        """Yield the commits of these kinds after a sequence with their contents, oldest first."""
        last, content = "", b""
        for commits, rows in self._pages(SELECT_WITH_NEW_CONTENT, (self.tenant,), kinds, after):
            for commit, row in zip(commits, rows, strict=False):
                if commit.content_hash != last:
                    packed = row[WIDTH:]
                    content = (
                        self.content(commit)  # the commit before is of another kind, or not read
                        if packed[2] is None
                        else read_content(commit, packed)
                    )
                    last = commit.content_hash
                yield commit, content

    def sized(self, kinds: Collection[Kind] = ALL_KINDS) -> Iterator[tuple[CommitInfo, int, int]]:
        """Yield the commits with the size of their content and its stored size in bytes, oldest first."""
        for commits, rows in self._pages(SELECT_WITH_SIZE, (self.tenant,), kinds, 0):
            for commit, row in zip(commits, rows, strict=False):
                if row[WIDTH] is None:
                    read_content(commit, (None, None, None))
                yield commit, row[WIDTH], row[WIDTH + 1]

    def measured(self) -> Iterator[tuple[CommitInfo, int, int]]:
        """Yield what ``sized`` does, with the sizes of contents that were read and verified."""
        for commits, rows in self._pages(SELECT_WITH_CONTENT, (self.tenant,), ALL_KINDS, 0):
            packed = [row[WIDTH:] for row in rows]
            contents = read_contents(commits, packed)
            for (commit, content), (_, _, data) in zip(contents, packed, strict=False):
                yield commit, len(content), len(data)

    def newest(self, limit: int | None) -> Iterator[CommitInfo]:
        """Yield the commits, newest first."""
        number = self._find_number()
        if number is None:
            return
        end = self._find_end(self.database.read, number)
        newer: Row | None = None
        page = FIRST_PAGE
        while limit is None or limit > 0:
            size = page if limit is None else min(page, limit)
            page = PAGE
            before = "" if newer is None else "AND c.sequence < ? "
            values = (number, size) if newer is None else (number, newer[0], size)
            rows = self._read(f"{SELECT} {before}ORDER BY c.sequence DESC LIMIT ?", values)
            if newer is None:
                first = number_of(rows[0][0], self.database.name) if rows else 0
                self._check_end(self.database.read, number, first, end)
            commits = read_rows(rows, self.tenant, self.conversation)
            for row, commit in zip(rows, commits, strict=False):
                if newer is not None:
                    self._check_link(row[0], row[1], newer)
                newer = row
                yield commit
            if len(rows) < size:
                if newer is not None:
                    self._check_link(0, None, newer)
                return
            limit = None if limit is None else limit - size

    def find(self, given: str) -> CommitInfo:
        """Return the commit with this hash, or with its first eight or more digits.

        Raises ``UnknownCommitError``, and ``InputError`` for a value that is not a string.
        """
        check_text("commit", given)
        low, high = hash_range(given)
        number = self._find_number()
        rows: list[Row] = []
        if number is not None and low:
            rows = self._read(FIND, (number, low[:8], high[:8], low, high))
            if not rows:
                rows = self._read(FIND_SLOWLY, (number, low, high))
            if not rows:
                self._check_count(number)
                for _ in self.newest(None):  # the hash in its row may be what is damaged
                    pass
        if len(rows) != 1:
            reason = "several commits begin with it" if rows else "has no such commit"
            raise UnknownCommitError(
                f"commit {given!r:.80}: the conversation {self.conversation!r} {reason}", given
            )
        commit = read_row(rows[0], self.tenant, self.conversation)
        if not low.hex() <= commit.commit_hash <= high.hex():
            raise StoreDamagedError(f"commit {given:.80}: the index leads to another one", given)
        return commit

    def content(self, commit: CommitInfo) -> bytes:
        """Return a commit's verified content. Raises ``UnknownCommitError`` for another conversation's commit."""
        key = bytes.fromhex(commit.content_hash)
        found = find_contents(self.database.read, self.tenant, [key])
        if key not in found:
            self.find(commit.commit_hash)  # a commit of another tenant is unknown here, not damaged
        return read_content(commit, found.get(key, (None, None, None)))

    def contents_of(self, commits: Sequence[CommitInfo]) -> list[bytes]:
        """Return the verified contents of commits of this conversation, read together."""
        keys = [bytes.fromhex(commit.content_hash) for commit in commits]
        found = find_contents(self.database.read, self.tenant, set(keys))
        rows = [found.get(key, (None, None, None)) for key in keys]
        return [content for _, content in read_contents(commits, rows)]

    def append(self, drafts: Sequence[Draft]) -> list[CommitInfo]:
        """Append commits to the current head, all or none."""
        return commits_of(self._write(prepare(drafts, self.tenant)), self.conversation)

    def append_to(self, make: Callable[[Head], Sequence[Draft]]) -> list[CommitInfo]:
        """Append the drafts that ``make`` returns for the head that they will follow.

        ``make`` is called again if another writer was faster. It may read this log.
        """
        rows = self._write(lambda head: prepare(make(head), self.tenant))
        return commits_of(rows, self.conversation)

    def advance(self, make: Callable[[Head], Prepared]) -> Head | None:
        """Append like ``append_to``, but return only the new head; ``None`` if nothing was appended."""
        rows = self._write(make)
        return (rows[-1].sequence, rows[-1].hash) if rows else None

    def _write(self, given: Prepared | Callable[[Head], Prepared]) -> list[CommitRow]:
        """Append commits, retry while other writers are faster, and return the rows.

        A function makes the commits for the current head, which must be unchanged at the write.
        After a lost connection, the rows may have been written. So they are looked for before they are sent again,
        always after the head was read, so that they can't become visible in between.
        """
        sent: list[CommitRow] = []
        expected: Head | None = None
        # One time for all attempts, so that the same rows get the same seals.
        now = time.time_ns() // 1000
        losses = 0
        for _ in range(ATTEMPTS):
            try:
                if isinstance(given, Prepared):
                    prepared = given
                else:
                    expected = self.head()
                    if losses and self._are_there(self.database.read, self._find_number(), sent):
                        return sent
                    prepared = given(expected)
                if not prepared.parts:
                    return []
                if self._failures != self.database.failures:
                    self._known = None
                    self.head()
                self._number = self.database.write(
                    partial(self._append, expected, prepared, now, sent, losses > 0)
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
        raise busy(self.database.name, ATTEMPTS)

    @staticmethod
    def _are_there(read: Read, number: int | None, rows: Sequence[CommitRow]) -> bool:
        """True if exactly these rows were written. Checks the last one, since a write is all or nothing."""
        if number is None or not rows:
            return False
        last = rows[-1]
        return read(SEAL, (number, last.sequence)) == [(last.hash, last.seal)]

    def _append(
        self,
        expected: Head | None,
        prepared: Prepared,
        now: int,
        rows: list[CommitRow],
        is_unsure: bool,
        run: Transaction,
    ) -> int:
        """Append commits, store their rows in ``rows``, and return the number of the conversation.

        The number is valid only once the transaction is committed. Raises ``ConflictError`` if the head is not the
        expected one. ``is_unsure``: the rows of an earlier attempt may have been written.
        """
        number = self._number or self.make_number(run)
        head: Head | None = self._known if self._number and not run.is_shared else None
        if head is None:
            head = self._read_head(run.run, number)
        if is_unsure and self._are_there(run.run, number, rows):
            return number
        if expected is not None and head != expected:
            raise ConflictError("the head moved")
        rows[:] = link_rows(prepared.parts, head, now, self.tenant, self.conversation)
        stored = [
            (number, *row._replace(metadata=metadata))
            for row, metadata in zip(rows, prepared.metadata, strict=True)
        ]
        run.note(number, (rows[-1].sequence, rows[-1].hash))
        run.finish(((ADD_CONTENT, prepared.contents), (ADD_COMMIT, stored)))
        return number

    def make_number(self, run: Transaction) -> int:
        """Return the number of the conversation, and create the conversation if it does not exist."""
        names = (self.tenant, self.conversation)
        for _ in range(2):
            found = run.run(NUMBER, names) or run.run(self.database.proofs.conversation, names)
            if found:
                return int(found[0][0])
            run.run(
                "INSERT INTO tract_conversations (tenant, name) VALUES (?, ?) ON CONFLICT DO NOTHING",
                names,
            )
        raise ConflictError("the conversation was forgotten meanwhile")

    def _pages(
        self, select: str, values: tuple[Value, ...], kinds: Collection[Kind], after: int
    ) -> Iterator[tuple[list[CommitInfo], list[Row]]]:
        """Yield pages of commits after a sequence, with their rows; of a damaged page, those before the damage."""
        number = self._find_number()
        if number is None:
            return
        end = self._find_end(self.database.read, number)
        sql = f"{select} AND c.sequence > ? ORDER BY c.sequence LIMIT ?"
        place, parent = after, None
        while True:
            check_wanted()
            rows = self._read(sql, (*values, number, place, PAGE))
            proved = prove_rows(rows, self.tenant, self.conversation)
            error: StoreDamagedError | None = None
            for index, row in enumerate(rows):
                try:
                    if index == proved:
                        raise damaged_row(row, self.tenant, self.conversation)
                    self._check_link(place, parent, row)
                except StoreDamagedError as damage:
                    error, rows = damage, rows[:index]
                    break
                place, parent = row[0], row[1]
            is_last = len(rows) < PAGE
            if len(kinds) < len(ALL_KINDS):
                rows = [row for row in rows if row[4] in kinds]
            yield commits_of(rows, self.conversation), rows
            if error is not None:
                raise error
            if is_last:
                self._check_end(self.database.read, number, place, end)
                return

    def _find_end(self, read: Read, number: int) -> int:
        """Return the highest sequence that the index of hashes has."""
        found = read(self.database.proofs.end, (number,))[0][0] or 0
        return number_of(found, self.database.name)

    def _check_end(self, read: Read, number: int, place: int, end: int) -> None:
        """Raise ``StoreDamagedError`` if a read ended at ``place``, and the conversation ends later."""
        if place >= end or place >= self._find_end(read, number):  # it may have been forgotten
            return
        raise StoreDamagedError(
            f"{self.database.name}: is damaged: the conversation {self.conversation!r} has commits up to number "
            f"{end:,}, and those after {place:,} can't be read"
        )

    def _check_count(self, number: int) -> None:
        """Raise ``StoreDamagedError`` if the index of hashes and the table have different numbers of commits."""
        for _ in range(2):  # another writer may come in between
            counted = self.database.read(self.database.proofs.end, (number,))[0][1]
            if counted is None or [(counted,)] == self.database.read(COUNT, (number,)):
                return
        raise StoreDamagedError(
            f"{self.database.name}: is damaged: not all commits of the conversation {self.conversation!r} can be found"
        )

    def _read(self, sql: str, values: tuple[Value, ...]) -> list[Row]:
        """Return the rows of commits with their metadata unfolded."""
        return unfold_rows(self.database.read(sql, values), self.database.read, self.tenant)

    def _check_link(self, sequence: int, found: bytes | None, row: Row) -> None:
        """Raise ``StoreDamagedError`` if a row does not follow the one with this sequence and hash.

        The hash is ``None`` for the start of the log, and for a commit that was not read.
        """
        if row[0] == sequence + 1 and row[2] == found:
            return
        shown = row[1].hex()
        if row[0] == sequence + 1:
            if found is not None or sequence == 0:
                raise StoreDamagedError(
                    f"commit {shown}: does not follow the commit before it", shown
                )
            return
        if row[0] <= sequence:
            raise StoreDamagedError(f"{self.database.name}: is damaged: rows are not in order")
        lost = {each[0] for each in self.database.read(LOST, (self._find_number(),))}
        missing = next((each for each in range(sequence + 1, row[0]) if each not in lost), None)
        if missing is not None:
            raise StoreDamagedError(
                f"commit {shown}: number {missing} of the conversation is missing before it", shown
            )

    def _find_number(self) -> int | None:
        if self._number is None:
            names = (self.tenant, self.conversation)
            rows = self.database.read(NUMBER, names)
            rows = rows or self.database.read(self.database.proofs.conversation, names)
            self._number = int(rows[0][0]) if rows else None
        return self._number

    def _read_head(self, read: Read, number: int) -> Head:
        """Return the newest commit. The first time, prove that it is the newest."""
        if self._is_proved:
            return read_head(read, number)
        end = self._find_end(read, number)  # first, since another process may append meanwhile
        head = read_head(read, number)
        self._check_end(read, number, head[0], end)
        self._is_proved = True
        return head
