"""A SQLite file made and opened: its mode, its settings, its schema, and whose errors are whose."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import quote

import apsw

from toolcarry.errors import (
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreVersionError,
)
from toolcarry.tract.store import guard
from toolcarry.tract.store.database import ConflictError, Row, Step, Transaction, Value, joined
from toolcarry.tract.store.schema import SQLITE, VERSION, migrate

__all__ = [
    "CAUSES",
    "Statements",
    "address",
    "create",
    "errors",
    "in_transaction",
    "is_unwritable",
    "own_error",
    "prepared",
]

APPLICATION: Final = 0x746F6F6C
"""By which a file says that it is ours."""
OWNER: Final = (
    "SELECT count(*), (SELECT user_version FROM pragma_user_version), "
    "(SELECT application_id FROM pragma_application_id) FROM sqlite_schema"
)
SETTINGS: Final = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA cache_size = -16000",
    "PRAGMA secure_delete = FAST",  # where pages are split, what is moved leaves a copy that no deletion finds
)


WAITS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
"""Seconds between two looks at a file that is locked; the last one again and again."""


DAMAGED: Final = (
    *(apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError, UnicodeDecodeError),
)

T = TypeVar("T")


class Patience:
    """How long to wait for other writers. SQLite's own waiting can't be interrupted; this can."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._deadline = 0.0

    def __call__(self, count: int) -> bool:
        """Whether to look again, ``count`` looks after the first."""
        now = time.monotonic()
        if count == 0:
            self._deadline = now + self._seconds
        left = self._deadline - now
        if left <= 0:
            return False
        time.sleep(min(WAITS[min(count, len(WAITS) - 1)], left))
        return True


class Statements:
    """What a transaction may do, on a connection of apsw's."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def run(self, sql: str, values: Sequence[Value] = (), /) -> list[Row]:
        return list(self._connection.execute(sql, values))

    def run_many(self, sql: str, rows: Iterable[Sequence[Value]], /) -> None:
        for statement, values in joined(sql, rows):
            self._connection.execute(statement, values)

    def finish(self, steps: Sequence[Step], /) -> None:
        for sql, rows in steps:
            if len(rows) == 1:
                self._connection.execute(sql, rows[0])
            else:
                self.run_many(sql, rows)


def create(path: str) -> None:
    """Make the file, for nobody else to read, where there is none. SQLite gives its companions the same mode."""
    with guard.lock, suppress(FileExistsError):  # its descriptor is no other library's
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            raise
        except OSError as error:
            raise StoreError(f"{path}: cannot be made: {error.strerror}") from error


def is_unwritable(path: str) -> bool:
    """Whether there is a file that this process may not write to."""
    return os.access(path, os.F_OK) and not os.access(path, os.W_OK)


def address(path: str) -> str:
    """The file's URI. Where neither it nor its folder can be written, nobody else writes either: it is taken as it stands."""
    uri = f"file:{quote(os.fsencode(path))}"
    is_fixed = is_unwritable(path) and not os.access(Path(path).parent, os.W_OK)
    return f"{uri}?immutable=1" if is_fixed and not os.access(f"{path}-wal", os.F_OK) else uri


def prepared(
    connection: apsw.Connection, busy_timeout: float, is_writable: bool = True
) -> apsw.Connection:
    """The connection with its settings, durable, on the newest schema. Closes it where that fails."""
    try:
        connection.set_busy_handler(Patience(busy_timeout))
        for statement in SETTINGS:
            connection.execute(statement)
        version = version_of(connection)
        if is_writable or version > VERSION:
            make_durable(connection, busy_timeout)
            bring_up(connection, version)
        else:
            check_version(version)
    except BaseException:
        connection.close()
        raise
    return connection


def version_of(connection: apsw.Connection) -> int:
    """The version of the schema; 0 where there is none yet. Raises ``StoreError`` for a file of something else.

    Asked for in one statement, since another process may be making the tables.
    """
    tables, version, application = connection.execute(OWNER).get
    if application != APPLICATION if version else tables > 0:
        raise StoreError(f"{connection.filename}: is a SQLite file of something else")
    return int(version)


def check_version(version: int) -> None:
    """Raise ``StoreVersionError`` for a schema that would have to be brought up first."""
    if version < VERSION:
        raise StoreVersionError(
            f"the store has schema {version}, older than this toolcarry's {VERSION}: "
            "it must be opened for writing once"
        )


def make_durable(connection: apsw.Connection, busy_timeout: float) -> None:
    """A write-ahead log that is on the disk before a write returns.

    Going over to it needs the file for a moment alone, for which SQLite does not wait by itself.
    """
    deadline = time.monotonic() + busy_timeout
    while connection.pragma("journal_mode") != "wal":
        try:
            if connection.pragma("journal_mode", "wal") in ("wal", "memory"):
                break
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)
    connection.execute("PRAGMA synchronous = FULL")


def bring_up(connection: apsw.Connection, version: int) -> None:
    """Make the tables, or what is new in them. Looks again under the lock, since two may open a new file at once."""

    def work(run: Transaction) -> None:
        migrate(run, connection.pragma("user_version"), SQLITE)
        run.run(f"PRAGMA application_id = {APPLICATION}")
        run.run(f"PRAGMA user_version = {VERSION}")

    if version != VERSION:
        in_transaction(connection, work)


def in_transaction(connection: apsw.Connection, work: Callable[[Transaction], T]) -> T:
    """Do all of it or nothing, with the file's only write lock from the first statement on."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        done = work(Statements(connection))
        connection.execute("COMMIT")
    except BaseException:
        if not connection.get_autocommit():  # some errors have rolled back by themselves
            with suppress(apsw.Error):
                connection.execute("ROLLBACK")
        raise
    return done


CAUSES: Final = (apsw.Error, UnicodeDecodeError)
"""What ``own_error`` knows."""


@contextmanager
def errors(name: str) -> Iterator[None]:
    """What SQLite says as errors of ours."""
    try:
        yield
    except CAUSES as cause:
        raise own_error(cause, name) from cause


def own_error(cause: Exception, name: str) -> StoreError | ConflictError:
    """What SQLite says as an error of ours."""
    if isinstance(cause, (apsw.BusyError, apsw.LockedError)):
        return StoreBusyError(f"{name}: is busy: {cause}")
    if isinstance(cause, apsw.FullError):
        return StoreFullError(f"{name}: is full: {cause}")
    # Of the last kind are texts, every one of which was UTF-8 when it was written; of the one before it, statements that
    # don't fit the tables: so these are not the ones that were made.
    if isinstance(cause, DAMAGED):
        return StoreDamagedError(f"{name}: is damaged: {cause}")
    if isinstance(cause, apsw.ConstraintError):
        return ConflictError(str(cause))
    return StoreError(f"{name}: {cause}")
