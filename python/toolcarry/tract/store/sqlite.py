"""The history in one file, through apsw, which includes a current SQLite.

Each process has one connection, used by one thread at a time. A write holds the file's only write lock from its first
statement on (``BEGIN IMMEDIATE``), and is on the disk when it returns (WAL, ``synchronous=FULL``).
A connection must not be used after a fork (https://sqlite.org/howtocorrupt.html): so it is closed before a fork, and
each of the two processes opens its own.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote

import apsw

from toolcarry.errors import (
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreVersionError,
)
from toolcarry.tract.store import sqlite_guard
from toolcarry.tract.store.database import (
    ConflictError,
    LostConnectionError,
    Proofs,
    Row,
    SearchIndex,
    Step,
    Transaction,
    Value,
    joined,
)
from toolcarry.tract.store.schema import SQLITE, VERSION, migrate
from toolcarry.tract.store.search import FtsIndex
from toolcarry.tract.store.sqlite_head import LAST, MISSING, HeadFile, LastCommit

__all__ = ["MEMORY", "SqliteDatabase", "create_file"]

APPLICATION: Final = 0x746F6F6C
"""The application id that marks a file as a history of toolcarry."""
OWNER: Final = (
    "SELECT count(*), (SELECT user_version FROM pragma_user_version), "
    "(SELECT application_id FROM pragma_application_id) FROM sqlite_schema"
)
SETTINGS: Final = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA cache_size = -16000",
    "PRAGMA secure_delete = FAST",  # splitting a page leaves a copy of the moved rows, which no deletion would erase
)


WAITS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
"""The delays in seconds between attempts to use a locked file; the last one repeats."""


DAMAGED: Final = (
    *(apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError, UnicodeDecodeError),
)

T = TypeVar("T")


class BusyHandler:
    """A busy handler that waits for other writers. Unlike SQLite's own, it can be interrupted."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._deadline = 0.0

    def __call__(self, count: int) -> bool:
        """Wait, and return true if SQLite should try again; ``count`` is the number of earlier calls."""
        now = time.monotonic()
        if count == 0:
            self._deadline = now + self._seconds
        left = self._deadline - now
        if left <= 0:
            return False
        time.sleep(min(WAITS[min(count, len(WAITS) - 1)], left))
        return True


class Statements:
    """The statements of a transaction on an apsw connection; ``noted`` is the last commit."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.is_shared = False
        self.noted: LastCommit | None = None
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

    def note(self, conversation: int, head: tuple[int, bytes], /) -> None:
        self.noted = LastCommit(conversation, *head)


class QueuedWork(Generic[T]):
    """The work of a thread that waits for the connection. The thread that has it does the work of all that wait."""

    __slots__ = ("error", "is_alone", "is_open", "result", "work")

    def __init__(self, work: Callable[[Transaction], T]) -> None:
        self.work = work
        self.is_open = True
        """True if the work is neither begun nor given up."""
        self.is_alone = False
        """True if it has to be done in a transaction of its own."""
        self.error: StoreError | None = None
        self.result: T


def create_file(path: str) -> bool:
    """Create the file, readable by its owner alone, if it does not exist, and return true if it did not.

    SQLite gives the WAL files the same mode.
    """
    try:
        # Under the lock: else ``check`` in another thread takes this descriptor for another library's.
        with sqlite_guard.lock:
            if sys.platform == "linux":
                # Without a descriptor, which would stay open if an interrupt came before it is known.
                os.mknod(path, stat.S_IFREG | 0o600)
            else:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    except OSError as error:
        raise StoreError(f"{path}: can't be created: {error.strerror}") from error
    return True


def is_unwritable(path: str) -> bool:
    """True if the file exists and this process may not write to it."""
    return os.access(path, os.F_OK) and not os.access(path, os.W_OK)


def file_uri(path: str) -> str:
    """Return the file's URI, as immutable if neither the file nor its folder is writable and it has no WAL file."""
    uri = f"file:{quote(os.fsencode(path))}"
    is_fixed = is_unwritable(path) and not os.access(Path(path).parent, os.W_OK)
    return f"{uri}?immutable=1" if is_fixed and not os.access(f"{path}-wal", os.F_OK) else uri


def prepare_connection(
    connection: apsw.Connection, busy_timeout: float, is_writable: bool = True
) -> apsw.Connection:
    """Apply the settings, the write-ahead log and the newest schema to a connection. Closes it on failure."""
    try:
        connection.set_busy_handler(BusyHandler(busy_timeout))
        for statement in SETTINGS:
            connection.execute(statement)
        version = schema_version(connection)
        if is_writable or version > VERSION:
            use_write_ahead_log(connection, busy_timeout)
            migrate_schema(connection, version)
        else:
            check_version(version)
    except BaseException:
        connection.close()
        raise
    return connection


def schema_version(connection: apsw.Connection) -> int:
    """Return the version of the schema; 0 for an empty file. Raises ``StoreError`` for another application's file.

    One statement reads all values, since another process may be creating the tables.
    """
    tables, version, application = connection.execute(OWNER).get
    if application != APPLICATION if version else tables > 0:
        raise StoreError(f"{connection.filename}: is a SQLite file of another application")
    return int(version)


def check_version(version: int) -> None:
    """Raise ``StoreVersionError`` for a schema that must be migrated first."""
    if version < VERSION:
        raise StoreVersionError(
            f"the store has schema {version}, older than this toolcarry's {VERSION}: "
            "open it for writing once to migrate it"
        )


def use_write_ahead_log(connection: apsw.Connection, busy_timeout: float) -> None:
    """Switch to a write-ahead log that is on the disk before a write returns.

    The switch needs exclusive access to the file for a moment, and SQLite does not wait for that by itself. Raises
    ``StoreError`` where it is not possible, as on a file system without shared memory: SQLite then keeps its mode
    (https://www.sqlite.org/pragma.html#pragma_journal_mode).
    """
    deadline = time.monotonic() + busy_timeout
    while connection.pragma("journal_mode") != "wal":
        try:
            mode = connection.pragma("journal_mode", "wal")
            if mode in ("wal", "memory"):
                break
            raise StoreError(
                f"{connection.filename}: can't switch to a write-ahead log here; the journal mode is still {mode!r}"
            )
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)
    connection.execute("PRAGMA synchronous = FULL")


def migrate_schema(connection: apsw.Connection, version: int) -> None:
    """Create or migrate the tables. Reads the version again under the lock, since two processes may open a new file."""

    def work(run: Transaction) -> None:
        migrate(run, connection.pragma("user_version"), SQLITE)
        run.run(f"PRAGMA application_id = {APPLICATION}")
        run.run(f"PRAGMA user_version = {VERSION}")

    if version != VERSION:
        in_transaction(connection, work)


def in_transaction(connection: apsw.Connection, work: Callable[[Statements], T]) -> T:
    """Do ``work`` in one transaction, which holds the file's only write lock from the first statement on.

    An interrupt may be raised when ``BEGIN`` has been executed and has not returned yet, so it is guarded too.
    """
    try:
        roll_back(connection)  # a transaction that a second interrupt left open
        connection.execute("BEGIN IMMEDIATE")
        done = work(Statements(connection))
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise
    return done


def roll_back(connection: apsw.Connection) -> None:
    """End a transaction that is open, if there is one; some errors roll back by themselves."""
    if not connection.get_autocommit():
        with suppress(apsw.Error):
            connection.execute("ROLLBACK")


SQLITE_ERRORS: Final = (apsw.Error, UnicodeDecodeError)
"""The errors that ``store_error`` translates."""


@contextmanager
def translate_errors(name: str) -> Iterator[None]:
    """Turn SQLite's errors into the store's errors."""
    try:
        yield
    except SQLITE_ERRORS as cause:
        raise store_error(cause, name) from cause


def store_error(cause: Exception, name: str) -> StoreError | ConflictError:
    """Return the store's error for one of SQLite's."""
    if isinstance(cause, (apsw.BusyError, apsw.LockedError)):
        return StoreBusyError(f"{name}: is busy: {cause}")
    if isinstance(cause, apsw.FullError):
        return StoreFullError(f"{name}: is full: {cause}")
    # ``SQLError`` means that a statement doesn't fit the tables, so they are not the ones that toolcarry created.
    # ``UnicodeDecodeError`` means that a string is not UTF-8, as every string was when it was written.
    if isinstance(cause, DAMAGED):
        return StoreDamagedError(f"{name}: is damaged: {cause}")
    if isinstance(cause, apsw.ConstraintError):
        return ConflictError(str(cause))
    return StoreError(f"{name}: {cause}")


# A conversation that was forgotten has no row, and a number that was given before.
IS_LOST: Final = (
    "SELECT NOT EXISTS (SELECT 1 FROM tract_commits WHERE conversation = ?1 AND sequence = ?2 AND hash = ?3) "
    "AND (EXISTS (SELECT 1 FROM tract_conversations WHERE id = ?1) OR NOT EXISTS "
    "(SELECT 1 FROM sqlite_sequence WHERE name = 'tract_conversations' AND seq >= ?1))"
)


def find_lost_end(connection: apsw.Connection, head: HeadFile) -> str:
    """Return the reason to believe that acknowledged commits are missing; empty if there is none.

    A missing commit stays noted, since the next one takes its place as the last.
    """
    last, missing = head.read(LAST), head.read(MISSING)
    if last is not None:
        with suppress(*SQLITE_ERRORS):  # reads will tell
            if connection.execute(IS_LOST, last).get:
                missing = last
                head.write(MISSING, last)
    if missing is None:
        return ""
    return (
        f"commit {missing.commit_hash.hex()}: was acknowledged as number {missing.sequence:,} of conversation "
        f"{missing.conversation:,} and is missing, and commits before it may be: the log ({connection.filename}-wal) "
        "was cut, damaged or deleted, or an older file was restored"
    )


def empty_log(connection: apsw.Connection | None) -> None:
    """Move the log into a file that was moved or replaced: SQLite would apply it to the new one of its name."""
    if connection is not None:
        with suppress(apsw.Error):
            connection.pragma("wal_checkpoint", "TRUNCATE")


MEMORY = ":memory:"

PROOFS: Final = Proofs(
    end="SELECT max(sequence), count(*) FROM tract_commits INDEXED BY tract_commits_start "
    "WHERE conversation = ?",
    # Without the index, which the signs keep from being used.
    conversation="SELECT id FROM tract_conversations WHERE +tenant = ? AND +name = ?",
    conversations="SELECT count(*) FROM tract_conversations "
    "INDEXED BY sqlite_autoindex_tract_conversations_1 WHERE tenant >= ''",
    names="SELECT id, tenant, name FROM tract_conversations "
    "INDEXED BY sqlite_autoindex_tract_conversations_1 WHERE tenant >= ''",
    owners="SELECT DISTINCT conversation FROM tract_commits INDEXED BY tract_commits_start "
    "WHERE conversation > 0",
    sequences="SELECT sequence FROM tract_commits INDEXED BY tract_commits_start "
    "WHERE conversation = ?",
)


class SqliteDatabase:
    """A file or a memory database with the history's tables."""

    def __init__(self, target: str, *, busy_timeout: float, is_read_only: bool = False) -> None:
        self.proofs = PROOFS
        self.lost_end = ""
        self.failures = 0
        self._path = target if target == MEMORY else os.path.realpath(target)
        self._log_path = f"{self._path}-wal"
        self._busy_timeout = busy_timeout
        self._is_read_only = is_read_only
        self._is_closed = False
        self._connection: apsw.Connection | None = None
        self._head: HeadFile | None = None
        self._identity: sqlite_guard.Identity | None = None
        self._log_identity: sqlite_guard.Identity | None = None
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._waiting: deque[QueuedWork[Any]] = deque()
        with forking:
            forked.add(self)
        # An interrupt may come when this is done and nobody has the object yet.
        weakref.finalize(self, sqlite_guard.release, id(self)).atexit = False
        with self._lock, translate_errors(self.name):
            self._connect()

    @property
    def name(self) -> str:
        return self._path

    def identity(self) -> tuple[object, ...]:
        with self._lock:
            self._opened()
            return self._identity or (id(self),)

    def read(self, sql: str, values: Sequence[Value] = (), /) -> list[Row]:
        with self._lock:
            connection = self._opened()
            try:
                return list(connection.execute(sql, values))
            except SQLITE_ERRORS as cause:
                raise store_error(cause, self.name) from cause

    def write(self, work: Callable[[Transaction], T], /) -> T:
        queued = QueuedWork(work)
        try:
            self._waiting.append(queued)
            with self._lock:
                while queued.is_open:
                    self._do(queued)
        except BaseException:
            queued.is_open = False
            raise
        if queued.error is not None:
            raise queued.error
        return queued.result

    def _do(self, own: QueuedWork[Any]) -> None:
        """Do the work of a thread, and of all others that wait, in one transaction, which is on the disk afterwards.

        If it fails, nothing is written, and each of several is left to its own thread, alone. Only after an
        interrupt or an I/O error, it is not certain that nothing is written.
        """
        connection = self._opened()
        if self._is_read_only:
            raise StoreError(f"{self.name}: is open for reading only")
        self._check_place()
        batch = [own]
        while self._waiting and not own.is_alone:
            queued = self._waiting.popleft()
            if queued is not own and queued.is_open:
                batch.append(queued)
        is_shared = len(batch) > 1
        unsure = LostConnectionError(f"{self.name}: was interrupted") if is_shared else None
        for queued in batch:
            queued.is_open, queued.error = False, unsure

        def work(run: Statements) -> tuple[list[Any], LastCommit | None]:
            run.is_shared = is_shared
            return [queued.work(run) for queued in batch], run.noted

        try:
            results, noted = in_transaction(connection, work)
        except Exception as cause:
            if is_shared and not isinstance(cause, apsw.IOError):
                for queued in batch:
                    queued.is_open = queued.is_alone = True
                return
            if not isinstance(cause, SQLITE_ERRORS):
                raise
            error = store_error(cause, self.name)
            if isinstance(cause, apsw.IOError):
                # The system's cache may differ from the disk: close the file, and read it again.
                self.failures += 1
                self._disconnect()
                for queued in batch[1:]:
                    queued.error = StoreError(str(error))
            raise error from cause
        for queued, result in zip(batch, results, strict=True):
            queued.result, queued.error = result, None
        if noted is not None and self._head is not None:
            self._head.write(LAST, noted)

    def erase(self, work: Callable[[Transaction], T], /) -> T:
        with self._lock:
            connection = self._opened()
            try:
                with translate_errors(self.name):
                    connection.pragma("secure_delete", True)
                done = self.write(work)
                with translate_errors(self.name):
                    is_held, *_ = connection.pragma("wal_checkpoint", "TRUNCATE")
                if is_held:
                    raise StoreBusyError(
                        f"{self.name}: is busy: the rows are deleted, but a running reader keeps them in the log; call forget again later"
                    )
            finally:
                if connection is self._connection:
                    connection.pragma("secure_delete", "FAST")
        return done

    def check(self) -> list[str]:
        try:
            found = [str(row[0]) for row in self.read("PRAGMA integrity_check")]
        except StoreDamagedError as error:
            return [str(error)]
        return [] if found == ["ok"] else found

    def search_index(self, _: int, /) -> SearchIndex:
        return FtsIndex()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._disconnect()

    def _opened(self) -> apsw.Connection:
        """Return the connection of this process; the caller holds the lock."""
        if self._is_closed:
            raise StoreError(f"{self.name}: is closed")
        if self._process != os.getpid():
            raise StoreError(f"{self.name}: belongs to the process that opened it")
        if self._connection is None:
            with translate_errors(self.name):
                self._connect()
        assert self._connection is not None
        return self._connection

    def _check_place(self) -> None:
        """Raise ``StoreError`` if the path does not lead to the open files any more.

        What is written to a deleted file is gone when it is closed, and the log of a replaced file would be applied to
        the new one.
        """
        for path, known in (
            (self._path, self._identity),
            (f"{self._path}-wal", self._log_identity),
        ):
            found = sqlite_guard.identity(path) if known is not None else None
            if found != known:
                empty_log(self._connection)
                change = "deleted" if found is None else "replaced by another file"
                raise StoreError(
                    f"{path}: was {change} while it was open, so nothing is written to it any more; "
                    "this handle can still read and export what it holds"
                )

    def _connect(self) -> None:
        self._process = os.getpid()
        if self._path == MEMORY:
            self._connection = prepare_connection(apsw.Connection(MEMORY), self._busy_timeout)
            return
        self._log_identity = None
        self._check_place()  # of the file that was open before a fork or a failure
        self._is_read_only = self._is_read_only or is_unwritable(self._path)
        is_new = not self._is_read_only and create_file(self._path)
        flags = apsw.SQLITE_OPEN_READONLY if self._is_read_only else apsw.SQLITE_OPEN_READWRITE
        try:
            found = sqlite_guard.add(self._path, self)
            connection = apsw.Connection(file_uri(self._path), flags | apsw.SQLITE_OPEN_URI)
            self._connection = prepare_connection(
                connection, self._busy_timeout, not self._is_read_only
            )
            self._head = HeadFile(self._path, is_new=is_new, is_read_only=self._is_read_only)
            self.lost_end = find_lost_end(self._connection, self._head)
            self._identity = found
            self._log_identity = sqlite_guard.identity(self._log_path)
        except BaseException:
            self._disconnect()
            raise

    def _before_fork(self) -> None:
        self._lock.acquire()
        if self._path != MEMORY:
            self._disconnect()

    def _after_fork(self) -> None:
        if self._process != os.getpid():  # the threads that wait are the parent's
            self._waiting.clear()
        if self._path != MEMORY and self._connection is None:
            self._process = os.getpid()
        self._lock.release()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        try:
            if connection is not None:
                if sqlite_guard.identity(self._path) != self._identity:
                    empty_log(connection)
                with suppress(apsw.Error):
                    connection.close()
        finally:
            sqlite_guard.remove(self)
            head, self._head = self._head, None
            if head is not None:
                head.close(is_last=not os.path.lexists(self._log_path))


forked: weakref.WeakSet[SqliteDatabase] = weakref.WeakSet()
"""The databases that may be open when this process forks."""
waiting: list[SqliteDatabase] = []
forking = threading.RLock()
"""Held from before a fork until after it, since two threads may fork at once and share ``waiting``."""


def before_fork() -> None:
    forking.acquire()
    for database in list(forked):
        waiting.append(database)
        database._before_fork()
    sqlite_guard.lock.acquire()


def after_fork() -> None:
    # An interrupt may have ended ``before_fork`` early; then the locks after that moment are not held.
    with suppress(RuntimeError):
        sqlite_guard.lock.release()
    while waiting:
        with suppress(RuntimeError):
            waiting.pop()._after_fork()
    with suppress(RuntimeError):
        forking.release()


os.register_at_fork(before=before_fork, after_in_parent=after_fork, after_in_child=after_fork)
