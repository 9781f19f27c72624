"""A connection to PostgreSQL that does not wait for ever, and what a transaction does on it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.waiting import Ready

from toolcarry.errors import ConfigError
from toolcarry.tract.store.database import Row, Value, joined

__all__ = ["BoundedConnection", "Statements", "check_url", "one_line"]

T = TypeVar("T")


class SilentError(psycopg.OperationalError):
    """The server said nothing for longer than it may."""


def bounded(steps: PQGen[T], seconds: float) -> PQGen[T]:
    """The steps of a command, broken off where the server says nothing for so long."""
    deadline = time.monotonic() + seconds
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if ready != Ready.NONE:
                deadline = time.monotonic() + seconds
            elif time.monotonic() > deadline:
                raise SilentError(f"the server said nothing for {seconds:g} seconds")
            wanted = steps.send(ready)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


class BoundedConnection(psycopg.Connection[Row]):
    """A connection that doesn't wait for ever: the server's own limits are none where the server stands still."""

    silence = 30.0
    """Seconds."""

    def wait(self, gen: PQGen[T], *args: Any, **kwargs: Any) -> T:
        try:
            return super().wait(bounded(gen, self.silence), *args, **kwargs)
        except SilentError:
            self.close()
            raise


class Statements:
    """What a transaction may do, on a connection of psycopg's."""

    def __init__(self, cursor: psycopg.Cursor[Row]) -> None:
        self._cursor = cursor

    def run(self, sql: str, values: Sequence[Value] = (), /) -> list[Row]:
        self._cursor.execute(translate(sql), values)
        return self._cursor.fetchall() if self._cursor.description else []

    def run_many(self, sql: str, rows: Iterable[Sequence[Value]], /) -> None:
        for statement, values in joined(sql, rows):
            self._cursor.execute(translate(statement), values)


def check_url(target: str) -> None:
    """Raise ``ConfigError`` for what is no URL; what is wrong with it is not told, since that may be the password."""
    try:
        conninfo_to_dict(target)
    except psycopg.ProgrammingError:
        raise ConfigError(
            "target: the URL is not allowed; allowed: postgresql://USER:PASSWORD@HOST:PORT/DATABASE, "
            "in which other characters than letters and digits are percent-encoded"
        ) from None


def translate(sql: str) -> str:
    """A statement as psycopg writes it; no text in ours has a ``?`` or a ``%``."""
    return sql.replace("?", "%s")


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
