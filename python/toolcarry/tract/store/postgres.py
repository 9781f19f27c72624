"""The history on a PostgreSQL server, through psycopg 3 and its pool: many writers, from several hosts.

Writers don't wait for one another: if another writer was faster, the transaction does nothing and is tried again.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import Any, Final, Self, TypeVar
from urllib.parse import urlsplit

from toolcarry.errors import (
    ConfigError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreVersionError,
)
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
from toolcarry.tract.store.schema import POSTGRES, VERSION, migrate
from toolcarry.tract.store.search import TsIndex

try:
    import psycopg
    import psycopg_pool
    from psycopg import errors as causes
    from psycopg.abc import PQGen
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.waiting import Ready
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("psycopg", "psycopg_pool"):
        raise
    raise ConfigError(
        "target: postgresql:// needs psycopg; install it: pip install 'toolcarry[postgres]'"
    ) from None

__all__ = ["PostgresDatabase"]

T = TypeVar("T")

CONNECTIONS: Final = 8
"""The maximum number of connections of one process."""
PATIENCE: Final = 2.0
"""The seconds to wait for a silent server, in addition to its own timeout."""
OLDEST: Final = 140000
"""The oldest supported version of the server."""
LOCK: Final = 0x746F6F6C
"""The advisory lock that is held while the tables are created."""
# Not by ``to_regclass``, whose cache may miss a table that another connection has just created.
IS_THERE: Final = (
    "SELECT count(*) > 0 FROM pg_catalog.pg_class "
    "WHERE relname = 'tract_schema' AND pg_catalog.pg_table_is_visible(oid)"
)
# A server may have several addresses, so they don't identify it. The start time distinguishes a server from its copy.
IDENTITY: Final = (
    "SELECT extract(epoch FROM pg_postmaster_start_time())::text, "
    "(SELECT oid::bigint FROM pg_catalog.pg_database WHERE datname = current_database()), "
    "to_regclass('tract_commits')::oid::bigint"
)
# The server has checksums of its own for its pages; here the statements only repeat what was read.
PROOFS: Final = Proofs(
    end="SELECT max(sequence), NULL::bigint FROM tract_commits WHERE conversation = ?",
    conversation="SELECT id FROM tract_conversations WHERE tenant = ? AND name = ?",
    conversations="SELECT count(*) FROM tract_conversations",
    names="SELECT id, tenant, name FROM tract_conversations",
    owners="SELECT DISTINCT conversation FROM tract_commits",
    sequences="SELECT sequence FROM tract_commits WHERE conversation = ?",
)
NO_ROOM: Final = (causes.DiskFull, causes.OutOfMemory, causes.TooManyConnections)
DAMAGED: Final = (causes.DataCorrupted, causes.IndexCorrupted)
BUSY: Final = (
    causes.LockNotAvailable,
    causes.QueryCanceled,
    causes.DeadlockDetected,
    causes.SerializationFailure,
    psycopg_pool.PoolTimeout,
)


class SilentError(psycopg.OperationalError):
    """The server did not answer in time."""


def bounded(steps: PQGen[T], seconds: float) -> PQGen[T]:
    """Run the steps of a command, and raise ``SilentError`` if the server is silent for ``seconds``."""
    deadline = time.monotonic() + seconds
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if ready != Ready.NONE:
                deadline = time.monotonic() + seconds
            elif time.monotonic() > deadline:
                raise SilentError(f"the server was silent for {seconds:g} seconds")
            wanted = steps.send(ready)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


class BoundedConnection(psycopg.Connection[Row]):
    """A connection that doesn't wait forever: a server that hangs does not enforce its own timeouts."""

    silence = 30.0
    """The seconds to wait for a silent server."""

    def wait(self, gen: PQGen[T], *args: Any, **kwargs: Any) -> T:
        try:
            return super().wait(bounded(gen, self.silence), *args, **kwargs)
        except SilentError:
            self.close()
            raise


class Statements:
    """The statements of a transaction on a psycopg connection, which begins only if one statement is not enough."""

    is_shared = False

    def __init__(self, connection: BoundedConnection, cursor: psycopg.Cursor[Row]) -> None:
        self._connection = connection
        self._cursor = cursor
        self._transaction = ExitStack()
        self._is_begun = False

    def run(self, sql: str, values: Sequence[Value] = (), /) -> list[Row]:
        self._begin()
        return self.ask(sql, values)

    def ask(self, sql: str, values: Sequence[Value], /) -> list[Row]:
        """Run a single statement without a transaction."""
        self._cursor.execute(translate(sql), values)
        return self._cursor.fetchall() if self._cursor.description else []

    def run_many(self, sql: str, rows: Iterable[Sequence[Value]], /) -> None:
        self._begin()
        for statement, values in joined(sql, rows):
            self._cursor.execute(translate(statement), values)

    def finish(self, steps: Sequence[Step], /) -> None:
        """Run the last steps. Steps of one row each become one statement: one round trip and no transaction."""
        if all(len(rows) == 1 for _, rows in steps):
            *others, last = [sql for sql, _ in steps]
            named = ", ".join([f"step_{place} AS ({sql})" for place, sql in enumerate(others)])
            self.ask(f"WITH {named} {last}", [value for _, (row,) in steps for value in row])
            return
        for sql, rows in steps:
            self.run_many(sql, rows)

    def note(self, conversation: int, head: tuple[int, bytes], /) -> None:
        """Do nothing: the server's own log proves its end."""

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
    """Raise ``ConfigError`` for an invalid URL, without quoting the invalid part, which may be the password."""
    try:
        conninfo_to_dict(target)
    except psycopg.ProgrammingError:
        raise ConfigError(
            "target: the URL is not allowed; allowed: postgresql://USER:PASSWORD@HOST:PORT/DATABASE, "
            "in which other characters than letters and digits are percent-encoded"
        ) from None


def translate(sql: str) -> str:
    """Return a statement with psycopg's placeholders. No literal in the store's statements contains ``?`` or ``%``."""
    return sql.replace("?", "%s")


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


class PostgresDatabase:
    """A database on a server, with the history's tables in the first schema of its search path."""

    def __init__(self, target: str, *, busy_timeout: float, is_read_only: bool = False) -> None:
        check_url(target)
        self.proofs = PROOFS
        self.lost_end = ""
        self.failures = 0
        self._target = target
        self._busy_timeout = busy_timeout
        self._is_read_only = is_read_only
        self._is_closed = False
        self._pool: psycopg_pool.ConnectionPool[BoundedConnection] | None = None
        self._inherited: list[object] = []
        self._process = os.getpid()
        try:
            self._bring_up()
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        try:
            split = urlsplit(self._target)
        except ValueError:  # libpq accepts URLs that Python's parser refuses
            return "postgresql://"
        return f"postgresql://{split.hostname or ''}{split.path}"

    def identity(self) -> tuple[object, ...]:
        return self.read(IDENTITY)[0]

    def read(self, sql: str, values: Sequence[Value] = (), /) -> list[Row]:
        try:
            with self._transaction() as statements:
                return statements.ask(sql, values)
        except LostConnectionError:  # the pool has checked its other connections, so try again
            with self._transaction() as statements:
                return statements.ask(sql, values)

    def write(self, work: Callable[[Transaction], T], /) -> T:
        if self._is_read_only:
            raise StoreError(f"{self.name}: is open for reading only")
        with self._transaction() as statements:
            return work(statements)

    def erase(self, work: Callable[[Transaction], T], /) -> T:
        """``write``; the server's own ``VACUUM`` removes the deleted rows from its files."""

        def alone(run: Transaction) -> T:
            run.run("LOCK TABLE tract_contents, tract_commits IN SHARE ROW EXCLUSIVE MODE")
            return work(run)

        return self.write(alone)

    def check(self) -> list[str]:
        return []

    def search_index(self, conversation: int, /) -> SearchIndex:
        return TsIndex(self, conversation)

    def close(self) -> None:
        self._is_closed = True
        pool, self._pool = self._pool, None
        if pool is not None and self._process == os.getpid():
            pool.close()

    def _bring_up(self) -> None:
        with self._transaction() as statements:
            version = self._version(statements)
            if version < VERSION and self._is_read_only:
                raise StoreVersionError(
                    f"the store has schema {version}, older than this toolcarry's {VERSION}: "
                    "open it for writing once to migrate it"
                )
            if version < VERSION:
                statements.run("SELECT pg_advisory_xact_lock(?)", (LOCK,))
                version = self._version(statements)
            if version == VERSION:
                return
            migrate(statements, version, POSTGRES)
            statements.run("CREATE TABLE IF NOT EXISTS tract_schema (version BIGINT NOT NULL)")
            statements.run("DELETE FROM tract_schema")
            statements.run("INSERT INTO tract_schema (version) VALUES (?)", (VERSION,))

    @staticmethod
    def _version(statements: Transaction) -> int:
        if not statements.run(IS_THERE)[0][0]:
            return 0
        return int(statements.run("SELECT version FROM tract_schema")[0][0])

    @contextmanager
    def _transaction(self) -> Iterator[Statements]:
        with (
            self._errors(),
            self._checked_out() as connection,
            connection.cursor(binary=True) as cursor,
            Statements(connection, cursor) as statements,
        ):
            yield statements

    @contextmanager
    def _checked_out(self) -> Iterator[BoundedConnection]:
        """Take a connection out of the pool.

        If an interrupt comes while the pool hands one out, nobody knows it, and it never comes back: so the pool is
        replaced.
        """
        pool = self._connections()
        is_taken = False
        try:
            with pool.connection(self._busy_timeout) as connection:
                is_taken = True
                yield connection
                is_taken = False  # giving it back can be interrupted too
        except BaseException as error:
            if not is_taken and not isinstance(error, psycopg.Error):
                self._pool = None
                pool.close(timeout=0)
            raise

    def _connections(self) -> psycopg_pool.ConnectionPool[BoundedConnection]:
        if self._is_closed:
            raise StoreError(f"{self.name}: is closed")
        if self._process != os.getpid():  # after a fork: the sockets belong to the parent
            self._inherited.append(self._pool)
            self._pool, self._process = None, os.getpid()
        if self._pool is None:
            pool = self._connect()
            try:
                pool.open()
                self._pool = pool
            except BaseException:
                pool.close(timeout=0)
                raise
        return self._pool

    def _connect(self) -> psycopg_pool.ConnectionPool[BoundedConnection]:
        milliseconds = max(1, round(self._busy_timeout * 1000))

        patience = max(2, round(self._busy_timeout))

        def configure(connection: BoundedConnection) -> None:
            connection.silence = self._busy_timeout + PATIENCE
            if connection.info.server_version < OLDEST:
                raise StoreError(f"{self.name}: PostgreSQL 14 or newer is needed")
            connection.execute(f"SET lock_timeout = {milliseconds}")
            connection.execute(f"SET statement_timeout = {milliseconds}")
            connection.execute("SET synchronous_commit = on")

        # So that a wrong address or password is reported at once, and not after a timeout.
        with BoundedConnection.connect(
            self._target, autocommit=True, connect_timeout=patience
        ) as first:
            configure(first)
        return psycopg_pool.ConnectionPool(
            self._target,
            connection_class=BoundedConnection,
            # A transaction is begun only if one is needed, so that a single statement takes one round trip.
            kwargs={"autocommit": True, "connect_timeout": patience},
            min_size=1,
            max_size=CONNECTIONS,
            timeout=self._busy_timeout,
            # The pool doubles its delay after each failure, up to minutes; this limits the total.
            reconnect_timeout=self._busy_timeout,
            configure=configure,
            open=False,
        )

    def _look_at_others(self) -> None:
        """Close the pool's connections that are dead like the one that failed.

        The pool could check each connection before it is used, but that takes a round trip each time.
        """
        if self._pool is not None:
            with suppress(psycopg.Error):
                self._pool.check()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn psycopg's errors into the store's errors."""
        try:
            yield
        except (causes.UniqueViolation, causes.ForeignKeyViolation) as error:
            time.sleep(random.uniform(0, 0.005))
            raise ConflictError(str(error)) from error
        except BUSY as error:
            raise StoreBusyError(f"{self.name}: is busy: {error}") from error
        except NO_ROOM as error:
            raise StoreFullError(f"{self.name}: is full: {error}") from error
        except DAMAGED as error:
            raise StoreDamagedError(f"{self.name}: is damaged: {error}") from error
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            self.failures += 1
            self._look_at_others()
            raise LostConnectionError(f"{self.name}: {one_line(error)}") from error
        except psycopg.Error as error:
            raise StoreError(f"{self.name}: {one_line(error)}") from error
