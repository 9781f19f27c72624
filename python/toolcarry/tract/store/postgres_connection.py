"""A connection to PostgreSQL that does not wait for ever, and what a transaction does on it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.waiting import Ready

from toolcarry.errors import ConfigError
from toolcarry.tract.store.database import Row, Step, Value, joined

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
    """What a transaction may do, on a connection of psycopg's: it begins with the first statement that is not the last."""

    def __init__(self, connection: BoundedConnection, cursor: psycopg.Cursor[Row]) -> None:
        self._connection = connection
        self._cursor = cursor
        self._transaction = ExitStack()
        self._is_begun = False

    def run(self, sql: str, values: Sequence[Value] = (), /) -> list[Row]:
        self._begin()
        return self.ask(sql, values)

    def ask(self, sql: str, values: Sequence[Value], /) -> list[Row]:
        """``run`` for a statement alone, which needs no transaction."""
        self._cursor.execute(translate(sql), values)
        return self._cursor.fetchall() if self._cursor.description else []

    def run_many(self, sql: str, rows: Iterable[Sequence[Value]], /) -> None:
        self._begin()
        for statement, values in joined(sql, rows):
            self._cursor.execute(translate(statement), values)

    def finish(self, steps: Sequence[Step], /) -> None:
        """Of one row each, the steps are one statement, which is a transaction by itself: one way to the server and back."""
        if all(len(rows) == 1 for _, rows in steps):
            *others, last = [sql for sql, _ in steps]
            named = ", ".join([f"step_{place} AS ({sql})" for place, sql in enumerate(others)])
            self.ask(f"WITH {named} {last}", [value for _, (row,) in steps for value in row])
            return
        for sql, rows in steps:
            self.run_many(sql, rows)

    def _begin(self) -> None:
        if not self._is_begun:
            self._is_begun = True
            self._transaction.enter_context(self._connection.transaction())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._transaction.__exit__(kind, error, trace)


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
