"""The interface of a database: read rows, and do work in one transaction.

The SQL statements are the same for both databases. Values are numbers, texts without NUL, and bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

from toolcarry.errors import StoreError

__all__ = [
    "ConflictError",
    "Database",
    "LostConnectionError",
    "Proofs",
    "Row",
    "SearchIndex",
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
    """The connection to the server was lost. Only a look at the store shows if the transaction was committed."""


class Transaction(Protocol):
    """The statements of one transaction, invisible to others until it is committed. ``?`` stands for a value."""

    is_shared: bool
    """True if other threads do their work in the same transaction."""

    def run(self, sql: str, values: Sequence[Value] = (), /) -> list[Row]:
        """Run a statement and return its rows."""

    def run_many(self, sql: str, rows: Iterable[Sequence[Value]], /) -> None:
        """Run a statement with ``VALUES (?, ...)`` for many rows of values."""

    def finish(self, steps: Sequence[Step], /) -> None:
        """Run the last steps, each as ``run_many``. No step may depend on another one's changes."""

    def note(self, conversation: int, head: tuple[int, bytes], /) -> None:
        """Note the last commit of a write, its sequence and its hash, to find out later if it is lost."""


ROWS: Final = 100
"""The maximum number of rows in one statement. Each statement releases the interpreter, and may wait to get it back."""
LARGE: Final = 1 << 20
"""A statement with this many bytes of values gets no more rows."""


def joined(sql: str, rows: Iterable[Sequence[Value]]) -> Iterator[tuple[str, list[Value]]]:
    """Combine a statement with ``VALUES (?, ...)`` and its rows into statements for many rows at once.

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


class Proofs(NamedTuple):
    """Statements that look at the other side of what a read found: by an index, stored apart, that reads don't use.

    A read takes the place at which its rows end for the end. If a page of the file is damaged, that may be too early.
    """

    end: str
    """The highest sequence of a conversation, and the number of its commits; ``NULL`` if that is not worth its time."""
    conversation: str
    """The number of a conversation, by the tenant and the name."""
    conversations: str
    """The number of conversations."""
    names: str
    """The number, the tenant and the name of each conversation."""
    owners: str
    """The numbers of the conversations that have commits."""
    sequences: str
    """The sequences of the commits of a conversation."""


class SearchIndex(Protocol):
    """The words of the results of one conversation, by the sequences of the results."""

    def end(self) -> int:
        """Return the highest sequence in the index; 0 if it is empty."""

    def add(self, texts: Iterable[tuple[int, str]]) -> None:
        """Add texts by their sequences."""

    def find(self, phrases: list[str], limit: int) -> list[int]:
        """Return the sequences of the texts with all phrases, the best first."""


class Database(Protocol):
    """A database with the history's tables. Errors are ``StoreError`` and its subclasses.

    It may be used by several threads, and by a process that was forked from the one that opened it.
    """

    proofs: Proofs
    failures: int
    """The number of failed writes after which the content of the disk must be checked."""
    lost_end: str
    """The reason to believe that acknowledged commits are missing at the end of the log; empty if there is none."""

    @property
    def name(self) -> str:
        """The name in error texts, without a password."""

    def identity(self) -> tuple[object, ...]:
        """Return a value that identifies this database, under whatever name it was opened."""

    def read(self, sql: str, values: Sequence[Value] = (), /) -> list[Row]:
        """Return the rows that a statement finds."""

    def write(self, work: Callable[[Transaction], T], /) -> T:
        """Do ``work`` in one transaction, all or nothing; once this returns, the changes survive a loss of power.

        Threads that write at the same time may share a transaction. Raises ``ConflictError`` if rows of another writer
        conflict with it.
        """

    def check(self) -> list[str]:
        """Return the defects that the database itself finds in its files."""

    def erase(self, work: Callable[[Transaction], T], /) -> T:
        """``write``, and remove deleted rows from the database's files as far as possible."""

    def search_index(self, conversation: int, /) -> SearchIndex:
        """Return an index of the words of a conversation's results. Raises ``StoreError`` if it can't have one."""

    def close(self) -> None:
        """Close the files and connections."""
