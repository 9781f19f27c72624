"""The interface of a database: read rows, and do work in one transaction.

The statements are the same for both databases; values are numbers, texts without NUL, and bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from toolcarry.errors import StoreError

__all__ = [
    "ConflictError",
    "Database",
    "LostConnectionError",
    "Row",
    "Step",
    "Transaction",
    "Value",
    "joined",
]

Value: TypeAlias = int | str | bytes | None
Row: TypeAlias = tuple[Any, ...]

Step: TypeAlias = tuple[str, Sequence[Sequence[Value]]]
"""A statement with ``VALUES (?, ...)``, and rows of values."""

T = TypeVar("T")


class ConflictError(Exception):
    """Another writer was faster: the transaction did nothing, and may be tried again."""


class LostConnectionError(StoreError):
    """The server went away: whether the transaction is there, only the store can tell."""


class Transaction(Protocol):
    """What may be done while nobody sees it yet. ``?`` stands for a value."""

    def run(self, sql: str, values: Sequence[Value] = (), /) -> list[Row]:
        """Run a statement; its rows."""

    def run_many(self, sql: str, rows: Iterable[Sequence[Value]], /) -> None:
        """Run a statement with ``VALUES (?, ...)`` for many rows of values."""

    def finish(self, steps: Sequence[Step], /) -> None:
        """The last that is done: ``run_many`` for each step, none of which sees what another one did."""


ROWS: Final = 100
"""In one statement, at most. Each lets other threads run, which may keep the interpreter for a while."""
LARGE: Final = 1 << 20
"""Bytes of values, from which on a statement has no more rows."""


def joined(sql: str, rows: Iterable[Sequence[Value]]) -> Iterator[tuple[str, list[Value]]]:
    """A statement with ``VALUES (?, ...)`` and the rows for it, as statements for many rows at once.

    >>> list(joined("INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT DO NOTHING", [(1, 2), (3, 4)]))
    [('INSERT INTO t (a, b) VALUES (?, ?), (?, ?) ON CONFLICT DO NOTHING', [1, 2, 3, 4])]
    """
    before, verb, after = sql.partition("VALUES ")
    one, parenthesis, rest = after.partition(")")
    places, values, size = [], list[Value](), 0
    for row in rows:
        places.append(one + parenthesis)
        values += row
        size += sum([len(value) for value in row if type(value) is bytes])
        if len(places) == ROWS or size >= LARGE:
            yield f"{before}{verb}{', '.join(places)}{rest}", values
            places, values, size = [], [], 0
    if places:
        yield f"{before}{verb}{', '.join(places)}{rest}", values


class Database(Protocol):
    """A database with the history's tables. Errors are ``StoreError`` and its children.

    May be used by several threads, and by a process that was forked from the one that opened it.
    """

    failures: int
    """How often writing failed so that what the disk holds is to be looked at."""

    @property
    def name(self) -> str:
        """What errors call it; without a password."""

    def identity(self) -> tuple[object, ...]:
        """What it has in common with no other database, however it is named."""

    def read(self, sql: str, values: Sequence[Value] = (), /) -> list[Row]:
        """The rows that a statement finds."""

    def write(self, work: Callable[[Transaction], T], /) -> T:
        """Do ``work`` in one transaction, all or nothing; when this returns, it survives a loss of power.

        Raises ``ConflictError`` where the rows of another writer stand in the way.
        """

    def check(self) -> list[str]:
        """What the database itself finds wrong with its files."""

    def erase(self, work: Callable[[Transaction], T], /) -> T:
        """``write``, after which what was deleted is not in the database's files any more, as far as it is in our hands."""

    def close(self) -> None:
        """Let go of the files and connections."""
