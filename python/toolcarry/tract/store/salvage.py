"""Copy the commits of a damaged store that can be verified into a new one. The damaged store is not changed.

Each commit is looked for by every path, since a damaged page blocks some paths and not others: forwards and backwards
through the table, and by the numbers that the indexes have. A copied commit proves itself by its hash and its seal, so
the paths need no trust. The numbers that are known and were not found are reported as lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Final

from toolcarry.errors import StoreDamagedError, StoreError
from toolcarry.tract.store.database import Database, Row, Transaction, Value
from toolcarry.tract.store.hashing import ContentRow, content_hash
from toolcarry.tract.store.log import ADD_COMMIT, ADD_CONTENT, ADD_LOST, LOST, Log
from toolcarry.tract.store.rows import (
    COLUMNS,
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
CHANGES: Final = "SELECT sequence FROM tract_commits WHERE conversation = ? AND kind >= 4"
CONTENT: Final = (
    "SELECT id, tenant, hash, size, packing, data FROM tract_contents WHERE tenant = ? AND hash = ?"
)
CONTENTS: Final = "SELECT id, tenant, hash, size, packing, data FROM tract_contents WHERE id"

Name = tuple[str, str]
"""The tenant and the name of a conversation."""


def salvage(source: Database, target: Database, tenant: str | None) -> Salvage:
    """Copy every commit of a tenant (``None``: of all) that can be verified, with its content.

    The others are recorded as lost, in the new store too.
    """
    saved: dict[Name, set[int]] = {}
    lost = [Damage(source.lost_end)] if source.lost_end else []
    contents = Contents(source)
    names, unnamed = find_names(source)
    lost += unnamed
    for number, known in names.items():
        copies: list[Copy] = []
        for owner, name in known:
            if tenant is not None and owner != tenant:
                continue
            kept = saved.setdefault((owner, name), set())
            copies.append(Copy(source, target, Log(target, owner, name), kept))
            copies[-1].run(number, contents)
            if copies[-1].saved:  # else its name may be a damaged one
                break
        if copies:
            copies[-1].write_notes()
            lost += copies[-1].lost
    return Salvage(sum(map(len, saved.values())), tuple(lost))


def find_names(source: Database) -> tuple[dict[int, list[Name]], list[Damage]]:
    """Return the names of each conversation, by the table and by its index, and what has no name any more."""
    names: dict[int, list[Name]] = {}
    reasons: dict[Any, str] = {}
    rows: list[Row] = []
    for number, row in [
        *forwards(source, CONVERSATIONS, "id", ()),
        *backwards(source, CONVERSATIONS, "id", ()),
    ]:
        if isinstance(row, str):
            reasons[number] = row
        else:
            rows.append(row)
    for number, tenant, name in [*rows, *read_or_nothing(source, source.proofs.names, ())]:
        if not (isinstance(tenant, str) and isinstance(name, str)):
            reasons.setdefault(number, "its name differs from what was written")
        elif (tenant, name) not in names.setdefault(number, []):
            names[number].append((tenant, name))
    for (number,) in read_or_nothing(source, source.proofs.owners, ()):
        reasons.setdefault(number, "its name is lost")
    unnamed = {key: reason for key, reason in reasons.items() if key not in names}
    return names, [Damage(f"conversation {key}: {reason}") for key, reason in unnamed.items()]


def forwards(
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
            if rows and not is_older(rows[-1][0], place):
                raise StoreDamagedError("its rows are not in order")
        except StoreError as error:
            if size > 1:
                size = 1
                continue
            if not isinstance(place, int):
                break
            place += 1
            rows = read_or_nothing(source, f"{sql} = ?", (*values, place))
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


def backwards(
    source: Database, sql: str, key: str, values: tuple[Value, ...]
) -> Iterator[tuple[Any, Row | str]]:
    """Yield rows as ``forwards`` does, from the last one to the first that can't be read."""
    place: Any = 1 << 62
    size = BATCH
    while True:
        try:
            rows = source.read(f"{sql} < ? ORDER BY {key} DESC LIMIT {size}", (*values, place))
        except StoreError:
            if size == 1:
                return
            size = 1
            continue
        rows = [row for row in rows if isinstance(row[0], int) and row[0] < place]
        if not rows:
            return
        yield from ((row[0], row) for row in rows)
        place = rows[-1][0]


def read_or_nothing(source: Database, sql: str, values: tuple[Value, ...]) -> list[Row]:
    """Return the rows of a statement; none if they can't be read."""
    try:
        return source.read(sql, values)
    except StoreError:
        return []


def is_older(found: object, place: object) -> bool:
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
        rows = read_or_nothing(self._source, CONTENT, (tenant, found))
        if rows and self._proves(rows[0]) == found:
            return ContentRow(tenant, found, *rows[0][3:])
        if self._places is None:
            self._places = dict(self._hashed())
        if found in self._places:
            again = read_or_nothing(self._source, f"{CONTENTS} = ?", (self._places[found],))
            rows = again or rows
        return ContentRow(tenant, found, *rows[0][3:]) if rows else None

    def _hashed(self) -> Iterator[tuple[bytes, int]]:
        for walk in (forwards, backwards):
            for key, row in walk(self._source, CONTENTS, "id", ()):
                proved = None if isinstance(row, str) else self._proves(row)
                if proved is not None:
                    yield proved, key

    @staticmethod
    def _proves(row: Row) -> bytes | None:
        """Return the hash of the content that a row stores; ``None`` if it can't be decompressed."""
        try:
            return content_hash(decompress(row[4], content_of(row), row[3]))
        except (StoreError, TypeError, ValueError):
            return None


def packed(content: ContentRow) -> Row:
    """Return the packing, the size and the bytes of a content, in the order of a read."""
    return content.packing, content.size, content.data


class Copy:
    """Copies one conversation into the new store, a batch of commits at a time.

    ``saved`` has the numbers of its commits that are there: damage may give two numbers to one conversation.
    """

    def __init__(self, source: Database, target: Database, log: Log, saved: set[int]) -> None:
        self.saved = saved
        self.lost: list[Damage] = []
        self._source = source
        self._target = target
        self._log = log
        self._commits: list[Row] = []
        self._contents: dict[bytes, ContentRow] = {}
        self._reasons: dict[Any, tuple[str, str | None]] = {}
        """Why a row was not copied, and its hash, by its number, which may be of another type if it is damaged."""
        self._known: set[int] = set()
        self._end = max(saved, default=0)
        """The number of the last commit that there was, as far as is known."""

    def run(self, number: int, contents: Contents) -> None:
        """Copy the commits by every path, and list the lost ones."""
        for walk in (forwards, backwards):
            for sequence, row in walk(self._source, ROWS, "c.sequence", (number,)):
                self._take(sequence, row, contents)
        noted = read_or_nothing(self._source, LOST, (number,))
        for sequence, reason in noted:
            if isinstance(sequence, int) and sequence > 0 and sequence not in self.saved:
                self._reasons[sequence] = (str(reason), None)
        for sql in (self._source.proofs.sequences, CHANGES):
            found = read_or_nothing(self._source, sql, (number,))
            self._known.update(row[0] for row in found if isinstance(row[0], int))
        self._known |= self.saved
        self._known.update(key for key in self._reasons if isinstance(key, int))
        # Numbers have no gaps, so one above the count of all is a damaged one.
        end = max((each for each in self._known if each <= len(self._known)), default=0)
        self._end = max(self._end, end)
        for sequence in itertools.takewhile(lambda place: place <= self._end, itertools.count(1)):
            if sequence not in self.saved:
                for row in read_or_nothing(self._source, f"{ROWS} = ?", (number, sequence)):
                    self._take(sequence, row, contents)
        self._write()
        self._list_lost()

    def write_notes(self) -> None:
        """Record the lost commits in the new store, so that reads accept the gaps and no number is given again."""
        notes = [
            (each.sequence, each.reason)
            for each in self.lost
            if each.sequence is not None and each.sequence <= self._end
        ]
        for start in range(0, len(notes), BATCH):

            def work(run: Transaction, start: int = start) -> None:
                number = self._log.make_number(run)
                some = notes[start : start + BATCH]
                run.run_many(ADD_LOST, [(number, *note) for note in some])

            self._target.write(work)

    def _list_lost(self) -> None:
        place = (self._log.tenant, self._log.conversation)
        for sequence in range(1, self._end + 1):
            if sequence not in self.saved:
                missing = ("the commit is missing", None)
                reason, found = self._reasons.get(sequence, missing)
                self.lost.append(Damage(reason, *place, sequence, found))
        for sequence, (reason, found) in self._reasons.items():
            if not isinstance(sequence, int) or sequence > self._end:
                shown = sequence if isinstance(sequence, int) else None
                self.lost.append(Damage(reason, *place, shown, found))

    def _take(self, sequence: Any, row: Row | str, contents: Contents) -> None:
        """Add a commit if it can be verified, unless another path had it, or else keep the reason.

        ``row`` is a string with the reason if the row could not be read. Its own number counts, since a damaged page may
        have another row at the place where one was looked for.
        """
        if not isinstance(row, str):
            sequence = row[0]
        if sequence in self.saved:
            return
        shown = None
        try:
            if isinstance(row, str):
                raise StoreDamagedError(row)
            shown = row[1].hex() if isinstance(row[1], bytes) else None
            content = contents.find(self._log.tenant, content_of(row)) if is_folded(row) else None
            known = unfold_row(row, packed(content)) if content else row
            commit = read_row(known, self._log.tenant, self._log.conversation)
            content = content or contents.find(self._log.tenant, content_of(row))
            read_content(commit, packed(content) if content else (None, None, None))
        except StoreError as error:
            self._reasons.setdefault(sequence, (str(error), shown))
            return
        assert content is not None
        self.saved.add(sequence)
        self._end = max(self._end, sequence)
        self._commits.append(row)
        self._contents[content_of(row)] = content
        if len(self._commits) >= BATCH:
            self._write()

    def _write(self) -> None:
        """Write the batch into the new store."""

        def work(run: Transaction) -> None:
            number = self._log.make_number(run)
            run.run_many(ADD_CONTENT, [self._contents[key] for key in sorted(self._contents)])
            run.run_many(ADD_COMMIT, [(number, *row) for row in self._commits])

        if self._commits:
            self._target.write(work)
        self._commits, self._contents = [], {}
