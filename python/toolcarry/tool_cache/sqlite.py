"""Tool definitions in a SQLite file, which outlive the process. Only this store needs apsw."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import apsw

from toolcarry._util.ttl_cache import STEPS
from toolcarry.errors import StoreError
from toolcarry.tool_cache.stores import SharedToolCache, StoreUnavailableError
from toolcarry.tract.store import sqlite_guard
from toolcarry.tract.store.sqlite import create_file

__all__ = ["SQLiteToolCache"]

APPLICATION: Final = 0x746F6F63
"""The application id that marks a file as a tool cache."""
OWNER: Final = "SELECT (SELECT count(*) FROM sqlite_schema), (SELECT application_id FROM pragma_application_id)"
SETTINGS: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",  # losing the last entries in a power failure is acceptable
    f"PRAGMA application_id = {APPLICATION}",
    "CREATE TABLE IF NOT EXISTS tools (name TEXT PRIMARY KEY, value BLOB NOT NULL, used_at REAL NOT NULL) STRICT",
    "CREATE INDEX IF NOT EXISTS tools_by_use ON tools (used_at)",
)
BUSY: Final = 40
"""Milliseconds to wait while another process writes."""


class SQLiteToolCache(SharedToolCache):
    """Definitions in the file at ``path``, for ``ttl`` seconds from their last use on, or up to a sixteenth less; of up to
    ``max_entries`` scopes and models, if that is given. Several processes may share it. ``max_bytes`` and ``clock`` are
    for what is in memory;
    ``wall_clock`` gives the times in the file, which outlive a restart of the machine.

    Raises ``StoreError`` if the file is not a tool cache, or can't be created or opened. If the file fails later, an
    in-memory store is used instead.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        ttl: float = 3_600.0,
        max_entries: int | None = None,
        max_bytes: int = 256 << 20,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(
            ttl=ttl, max_entries=max_entries, pause=2.0, max_bytes=max_bytes, clock=clock
        )
        self._wall_clock = wall_clock
        self._path = os.path.realpath(path)
        self._ttl = ttl
        self._max_entries = max_entries
        self._process = os.getpid()
        self._turn = threading.Lock()
        create_file(self._path)
        try:
            sqlite_guard.add(self._path, self)
            self._connection = self._opened()
        except apsw.Error as error:
            sqlite_guard.remove(self)
            raise StoreError(f"{self._path}: can't be opened: {type(error).__name__}") from error
        except BaseException:
            sqlite_guard.remove(self)
            raise

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            if self._process == os.getpid() and self._path:
                self._connection.close()
                sqlite_guard.remove(self)
                self._path = ""

    def _opened(self) -> apsw.Connection:
        connection = apsw.Connection(self._path, apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(BUSY)
            check_owner(connection, self._path)
            for statement in SETTINGS:
                connection.execute(statement)
        except BaseException:
            connection.close()
            raise
        return connection

    def _read(self, name: str) -> bytes | None:
        now = self._wall_clock()
        sql = "SELECT value, used_at FROM tools WHERE name = ? AND used_at BETWEEN ? AND ?"
        rows = self._run(sql, name, now - self._ttl, now + self._ttl)
        if not rows:
            return None
        ((value, used_at),) = rows
        if abs(now - used_at) > self._ttl / STEPS:
            self._run("UPDATE tools SET used_at = ? WHERE name = ?", now, name)
        return value if isinstance(value, bytes) else None

    def _write(self, name: str, value: bytes) -> None:
        now = self._wall_clock()
        self._run("INSERT OR REPLACE INTO tools VALUES (?, ?, ?)", name, value, now)
        self._run(
            "DELETE FROM tools WHERE used_at < ? OR used_at > ?", now - self._ttl, now + self._ttl
        )
        if self._max_entries is not None:
            self._run(
                "DELETE FROM tools WHERE name IN (SELECT name FROM tools ORDER BY used_at DESC LIMIT -1 OFFSET ?)",
                self._max_entries,
            )

    def _run(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self._turn:
            if self._process != os.getpid() or not self._path:
                raise StoreUnavailableError("the file belongs to another process, or is closed")
            try:
                return list(self._connection.execute(sql, values))
            except apsw.Error as error:
                raise StoreUnavailableError(type(error).__name__) from error


def check_owner(connection: apsw.Connection, path: str) -> None:
    """Raise ``StoreError`` for a file that is not a tool cache."""
    ((tables, application),) = connection.execute(OWNER)
    if tables and application != APPLICATION:
        raise StoreError(f"{path}: is a SQLite file, but not a tool cache")
