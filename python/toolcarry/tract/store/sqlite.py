"""The history in one file, through apsw, which brings a current SQLite of its own.

One connection for each process, used by one thread at a time. A write holds the file's only write lock from its first
statement on (``BEGIN IMMEDIATE``), and is on the disk when it returns (WAL, ``synchronous=FULL``).
What SQLite does with a connection that it finds in a forked process is not defined: so it is closed before, and each
of the two processes opens its own.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

import apsw

from toolcarry.errors import StoreBusyError, StoreDamagedError, StoreError
from toolcarry.tract.store import guard
from toolcarry.tract.store.database import Row, Transaction, Value
from toolcarry.tract.store.sqlite_file import (
    CAUSES,
    address,
    create,
    errors,
    in_transaction,
    is_unwritable,
    own_error,
    prepared,
)

__all__ = ["MEMORY", "SqliteDatabase"]

T = TypeVar("T")

MEMORY = ":memory:"


class SqliteDatabase:
    """A file, or memory, with the history's tables."""

    def __init__(self, target: str, *, busy_timeout: float, is_read_only: bool = False) -> None:
        self.failures = 0
        self._path = target if target == MEMORY else os.path.realpath(target)
        self._busy_timeout = busy_timeout
        self._is_read_only = is_read_only
        self._is_closed = False
        self._connection: apsw.Connection | None = None
        self._identity: guard.Identity | None = None
        self._process = os.getpid()
        self._lock = threading.RLock()
        with forking:
            forked.add(self)
        with self._lock, errors(self.name):
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
            except CAUSES as cause:
                raise own_error(cause, self.name) from cause

    def write(self, work: Callable[[Transaction], T], /) -> T:
        with self._lock:
            connection = self._opened()
            if self._is_read_only:
                raise StoreError(f"{self.name}: is open for reading only")
            try:
                return in_transaction(connection, work)
            except CAUSES as cause:
                if isinstance(cause, apsw.IOError):
                    # What the system's cache holds may not be what the disk does: let go, and look again.
                    self.failures += 1
                    self._disconnect()
                raise own_error(cause, self.name) from cause

    def erase(self, work: Callable[[Transaction], T], /) -> T:
        with self._lock:
            connection = self._opened()
            with errors(self.name):
                connection.pragma("secure_delete", True)
            try:
                done = self.write(work)
                with errors(self.name):
                    is_held, *_ = connection.pragma("wal_checkpoint", "TRUNCATE")
                if is_held:
                    raise StoreBusyError(
                        f"{self.name}: is busy: it is deleted, but a reader keeps what was there before in the log"
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

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._disconnect()

    def _opened(self) -> apsw.Connection:
        """The connection of this process, for the thread that holds the lock."""
        if self._is_closed:
            raise StoreError(f"{self.name}: is closed")
        if self._process != os.getpid():
            raise StoreError(f"{self.name}: belongs to the process that opened it")
        if self._connection is None:
            with errors(self.name):
                self._connect()
        assert self._connection is not None
        return self._connection

    def _connect(self) -> None:
        self._process = os.getpid()
        if self._path == MEMORY:
            self._connection = prepared(apsw.Connection(MEMORY), self._busy_timeout)
            return
        self._is_read_only = self._is_read_only or is_unwritable(self._path)
        if not self._is_read_only:
            create(self._path)
        flags = apsw.SQLITE_OPEN_READONLY if self._is_read_only else apsw.SQLITE_OPEN_READWRITE
        self._identity = guard.add(self._path)
        try:
            connection = apsw.Connection(address(self._path), flags | apsw.SQLITE_OPEN_URI)
            self._connection = prepared(connection, self._busy_timeout, not self._is_read_only)
        except BaseException:
            guard.remove(self._identity)
            raise

    def _before_fork(self) -> None:
        self._lock.acquire()
        if self._path != MEMORY:
            self._disconnect()

    def _after_fork(self) -> None:
        if self._path != MEMORY:
            self._process = os.getpid()
        self._lock.release()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(apsw.Error):
                connection.close()
            guard.remove(self._identity)


forked: weakref.WeakSet[SqliteDatabase] = weakref.WeakSet()
"""All that may be open when this process forks."""
waiting: list[SqliteDatabase] = []
forking = threading.RLock()
"""Held from before a fork until after it: two threads may fork at once, and each must find what it left."""


def before_fork() -> None:
    forking.acquire()
    waiting.extend(forked)
    for database in waiting:
        database._before_fork()
    guard.lock.acquire()


def after_fork() -> None:
    guard.lock.release()
    for database in waiting:
        database._after_fork()
    waiting.clear()
    forking.release()


os.register_at_fork(before=before_fork, after_in_parent=after_fork, after_in_child=after_fork)
