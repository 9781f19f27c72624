"""Copy the commits of a damaged store that can be verified into a new one. The damaged store is not changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from toolcarry._pure.history.hashing import ContentRow
from toolcarry.errors import StoreDamagedError, StoreError
from toolcarry.tract.store.database import Database, Row, Transaction, Value
from toolcarry.tract.store.log import ADD_COMMIT, ADD_CONTENT, ADD_LOST, Log
from toolcarry.tract.store.rows import (
    COLUMNS,
    content_hash,
    content_of,
    decompress,
    is_folded,
    read_content,
    read_row,
    unfold_row,
)
from toolcarry.tract.store.types import Damage, Salvage

__all__ = ["salvage"]

BATCH: Final = 200
"""The number of commits in one transaction."""
GIVE_UP: Final = 4000
"""The number of consecutive missing keys after which a table is taken to end."""

CONVERSATIONS: Final = "SELECT id, tenant, name FROM tract_conversations WHERE id"
ROWS: Final = f"SELECT {COLUMNS} FROM tract_commits c WHERE c.conversation = ? AND c.sequence"
CONTENT: Final = (
    "SELECT id, tenant, hash, size, packing, data FROM tract_contents WHERE tenant = ? AND hash = ?"
)
CONTENTS: Final = "SELECT id, tenant, hash, size, packing, data FROM tract_contents WHERE id"


def salvage(source: Database, target: Database) -> Salvage:
    """Copy every commit that can be verified, with its content; record the others as lost, in the new store too."""
    saved = 0
    lost: list[Damage] = []
    contents = Contents(source)
    for number, row in each(source, CONVERSATIONS, "id", ()):
        if isinstance(row, str) or not all(isinstance(name, str) for name in row[1:]):
            reason = row if isinstance(row, str) else "its name is not what was written"
            lost.append(Damage(f"conversation {number}: {reason}"))
            continue
        copy = Copy(target, Log(target, row[1], row[2]))
        for sequence, found in each(source, ROWS, "c.sequence", (number,)):
            copy.take(sequence, found, contents)
        copy.write()
        saved += copy.saved
        lost += copy.lost
    return Salvage(saved, tuple(lost))


def each(
    source: Database, sql: str, key: str, values: tuple[Value, ...]
) -> Iterator[tuple[Any, Row | str]]:
    """Yield the keys and rows of a statement that ends with its key; for an unreadable row, the reason.

    Reads many rows at once, and one by one if that fails, until ``GIVE_UP`` keys in a row are missing.
    """
    place: Any = 0
    size = BATCH
    missed: list[tuple[int, str]] = []
    while len(missed) < GIVE_UP:
        try:
            rows = source.read(f"{sql} > ? ORDER BY {key} LIMIT {size}", (*values, place))
            if rows and not is_behind(rows[-1][0], place):
                raise StoreDamagedError("its rows are not in order")
        except StoreError as error:
            if size > 1:
                size = 1
                continue
            if not isinstance(place, int):
                break
            place += 1
            try:
                rows = source.read(f"{sql} = ?", (*values, place))
            except StoreError:
                rows = []
            if not rows:
                missed.append((place, str(error)))
                continue
        if not rows:
            break
        yield from missed
        missed.clear()
        yield from ((row[0], row) for row in rows)
        place = rows[-1][0]
    yield from missed[:1]


def is_behind(found: object, place: object) -> bool:
    """True if ``found`` comes after ``place`` in SQLite's order: numbers, texts, bytes."""
    if isinstance(found, (int, float)) and isinstance(place, (int, float)):
        return found > place
    if isinstance(found, (str, bytes)) and type(found) is type(place):
        return found > place  # type: ignore[operator]
    return isinstance(found, bytes) or (isinstance(found, str) and not isinstance(place, bytes))


class Contents:
    """The contents of the damaged store: found by the index, or by hashing all of them if the index is damaged."""

    def __init__(self, source: Database) -> None:
        self._source = source
        self._places: dict[bytes, int] | None = None

    def find(self, tenant: str, found: bytes) -> ContentRow | None:
        """Return the row of a content by its hash, as a row of the tenant."""
        rows = self._read(CONTENT, (tenant, found))
        if rows and self._proves(rows[0]) == found:
            return ContentRow(tenant, found, *rows[0][3:])
        if self._places is None:
            self._places = {}
            for key, row in each(self._source, CONTENTS, "id", ()):
                proved = None if isinstance(row, str) else self._proves(row)
                if proved is not None:
                    self._places[proved] = key
        if found in self._places:
            rows = self._read(f"{CONTENTS} = ?", (self._places[found],)) or rows
        return ContentRow(tenant, found, *rows[0][3:]) if rows else None

    def _read(self, sql: str, values: tuple[Value, ...]) -> list[Row]:
        try:
            return self._source.read(sql, values)
        except StoreError:
            return []

    @staticmethod
    def _proves(row: Row) -> bytes | None:
        """Return the hash of the content that a row stores; ``None`` if it can't be decompressed."""
        try:
            return content_hash(decompress(row[4], row[5], row[3]))
        except (StoreError, TypeError, ValueError):
            return None


def packed(content: ContentRow) -> Row:
    """Return the packing, the size and the bytes of a content, in the order of a read."""
    return content.packing, content.size, content.data


class Copy:
    """Copies one conversation into the new store, a batch of commits at a time."""

    def __init__(self, target: Database, log: Log) -> None:
        self.saved = 0
        self.lost: list[Damage] = []
        self._target = target
        self._log = log
        self._commits: list[Row] = []
        self._contents: dict[bytes, ContentRow] = {}
        self._notes: list[tuple[int, str]] = []
        self._told: set[int | None] = set()
        self._end = 0

    def take(self, sequence: Any, row: Row | str, contents: Contents) -> None:
        """Add the next commit if it can be verified, or else record it as lost.

        ``row`` is a text, the reason, if the row could not be read.
        """
        if isinstance(row, str):
            self._tell(sequence, row, None)
            return
        content = contents.find(self._log.tenant, content_of(row)) if is_folded(row) else None
        known = unfold_row(row, packed(content)) if content else row
        try:
            commit = read_row(known, self._log.tenant, self._log.conversation)
        except StoreError as error:
            self._tell(sequence, str(error), row[1].hex() if isinstance(row[1], bytes) else None)
            return
        content = content or contents.find(self._log.tenant, content_of(row))
        try:
            read_content(commit, packed(content) if content else (None, None, None))
        except StoreError as error:
            self._tell(sequence, str(error), commit.commit_hash)
            return
        assert content is not None
        for missing in range(self._end + 1, sequence)[:GIVE_UP]:
            self._tell(missing, "the commit is missing", None)
        self._end = sequence
        self._commits.append(row)
        self._contents[content_of(row)] = content
        self.saved += 1
        if len(self._commits) >= BATCH:
            self.write()

    def write(self) -> None:
        """Write the batch into the new store, and record the lost commits there, so that reads accept the gaps."""

        def work(run: Transaction) -> None:
            number = self._log.make_number(run)
            run.run_many(ADD_CONTENT, [self._contents[key] for key in sorted(self._contents)])
            run.run_many(ADD_COMMIT, [(number, *row) for row in self._commits])
            run.run_many(ADD_LOST, [(number, *note) for note in self._notes])

        if self._commits or self._notes:
            self._target.write(work)
        self._commits, self._contents, self._notes = [], {}, []

    def _tell(self, sequence: Any, reason: str, found: str | None) -> None:
        if not isinstance(sequence, int):
            sequence = None
        elif sequence in self._told:
            return
        self._told.add(sequence)
        place = (self._log.tenant, self._log.conversation, sequence)
        self.lost.append(Damage(reason, *place, found))
        if sequence is not None:
            self._notes.append((sequence, reason))
