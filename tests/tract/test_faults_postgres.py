"""A server that dies, hangs or is newer: errors are typed and timely, and work continues when the server does."""

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from support.clocks import wait_until
from support.processes import children
from support.servers.postgres import PostgresServer

from toolcarry.errors import StoreError, StoreVersionError
from toolcarry.tract import Tract
from toolcarry.tract.store.database import Transaction

PLACES = ("before", "within", "behind")


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.url()


@pytest.fixture
def own_server(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """The server of all tests; it stands still or is killed, and goes on at the end whatever happened."""
    yield postgres
    with suppress(ProcessLookupError):
        postgres.go_on()


def database_of(url: str) -> str:
    return url.partition("@/")[2].partition("?")[0]


def end_backends(postgres: PostgresServer, url: str) -> int:
    """End every connection to a database, as an administrator would; how many there were."""
    with postgres.connect("postgres") as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
            (database_of(url),),
        ).fetchall()
    return len(ended)


def say_again(tract: Tract, text: str) -> None:
    """Make the same call until it is done, as after an error."""

    def is_done() -> bool:
        try:
            tract.user(text)
        except StoreError:
            return False
        return True

    wait_until(is_done, what="the server")


def texts(tract: Tract) -> list[str]:
    return [tract.get_content(commit) for commit in reversed(tract.log())]


@pytest.mark.parametrize("place", PLACES)
def test_a_connection_that_is_ended(
    postgres: PostgresServer, url: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two calls it isn't noticed; within a transaction that fails whole, and the same call may be made again."""
    with Tract.open(url) as tract:
        tract.user("first")
        if place == "before":
            assert end_backends(postgres, url) > 0
            say_again(tract, "second")
        else:
            plain = tract._log._append
            many = [{"role": "user", "content": text} for text in ("second", "third")]

            def write() -> None:
                # More than one row needs an explicit transaction.
                tract.append_many(many) if place == "behind" else tract.user("second")

            def cut_off(*arguments: Any) -> Any:
                run: Transaction = arguments[-1]
                if place == "within":
                    run.run("SELECT 1")
                    end_backends(postgres, url)
                done = plain(*arguments)
                end_backends(postgres, url)
                return done

            with monkeypatch.context() as patch:
                patch.setattr(tract._log, "_append", cut_off)
                with pytest.raises(StoreError):
                    write()
            assert texts(tract) == ["first"]
            say_again(tract, "second")
        assert texts(tract) == ["first", "second"]
        assert tract.verify().is_whole


def test_an_append_is_there_when_its_statement_is_done(
    postgres: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that ends after the write loses nothing, and nothing is written twice."""
    with Tract.open(url) as tract:
        tract.user("first")
        plain = tract._log._append

        def cut_off(*arguments: Any) -> Any:
            done = plain(*arguments)
            assert end_backends(postgres, url) > 0
            return done

        with monkeypatch.context() as patch:
            patch.setattr(tract._log, "_append", cut_off)
            second = tract.user("second")
        assert tract.get_commit(second.commit_hash) == second
        assert texts(tract) == ["first", "second"]
        say_again(tract, "third")
        assert texts(tract) == ["first", "second", "third"]


WRITE_ON = """
import sys
from toolcarry.errors import StoreError
from toolcarry.tract import Tract

with Tract.open(sys.argv[1]) as tract:
    for number in range(100):
        for _ in range(100):
            try:
                commit = tract.user(f"{number}")
            except StoreError as error:
                print(number, error, file=sys.stderr)
                continue
            print(commit.commit_hash, flush=True)
            break
"""


def test_connections_that_are_ended_at_any_moment(postgres: PostgresServer, url: str) -> None:
    with children.start(WRITE_ON, url) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline().strip()]
        for _ in range(4):
            end_backends(postgres, url)
            lines += [child.stdout.readline().strip() for _ in range(10)]
        rest = child.stdout.read()  # `communicate` would leave out what was read ahead of the lines
        _, said = child.communicate(timeout=children.TIMEOUT)
        assert child.returncode == 0, said
    acknowledged = [*lines, *rest.split()]
    with Tract.open(url) as tract:
        log = [commit.commit_hash for commit in reversed(tract.log())]
        place = iter(log)
        assert all(commit in place for commit in acknowledged)  # in this order
        assert len(acknowledged) == 100, said
        assert (
            len(log) == 100
        )  # one that was cut off while it was confirmed is found, and not sent again
        assert tract.verify().is_whole


def test_a_server_that_dies(own_server: PostgresServer, url: str) -> None:
    with Tract.open(url, busy_timeout=1) as tract:
        tract.user("first")
        own_server.stop("immediate")
        try:
            for call in (tract.log, lambda: tract.user("lost")):
                with pytest.raises(StoreError):
                    call()
            with pytest.raises(StoreError):
                Tract.open(url, busy_timeout=1)
        finally:
            own_server.start()
        say_again(tract, "second")
        assert texts(tract) == ["first", "second"]


def test_a_hanging_server(
    own_server: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcarry.tract.store.postgres.PATIENCE", 0.5)
    with Tract.open(url, busy_timeout=1) as tract:
        tract.user("first")
        own_server.halt()
        try:
            for call in (
                tract.log,
                lambda: tract.user("lost"),
                lambda: Tract.open(url, busy_timeout=1),
            ):
                started = time.monotonic()
                with pytest.raises(StoreError):
                    call()
                assert time.monotonic() - started < 20
        finally:
            own_server.go_on()
        say_again(tract, "second")
        assert texts(tract) == ["first", "second"]
        assert tract.verify().is_whole


def test_no_more_connections(postgres: PostgresServer, url: str) -> None:
    database = database_of(url)
    with Tract.open(url) as tract, postgres.connect("postgres") as other:
        tract.user("first")
        other.execute(f"ALTER DATABASE {database} CONNECTION LIMIT 0")
        other.execute("CREATE ROLE guest LOGIN")
        try:
            guest = url.replace(f"//{postgres.user}@", "//guest@")
            with pytest.raises(StoreError, match="too many connections"):
                Tract.open(guest, busy_timeout=2)
        finally:
            other.execute("DROP ROLE guest")
        assert tract.user("second").sequence == 2


def test_a_newer_schema(postgres: PostgresServer, url: str) -> None:
    with Tract.open(url) as tract:
        tract.user("first")
    with postgres.connect(database_of(url)) as other:
        other.execute("UPDATE tract_schema SET version = version + 1")
        for options in ({}, {"read_only": True}):
            with pytest.raises(StoreVersionError, match="upgrade toolcarry"):
                Tract.open(url, **options)
        other.execute("UPDATE tract_schema SET version = version - 1")
    with Tract.open(url) as tract:
        assert texts(tract) == ["first"]


def test_a_server_of_an_older_version_is_refused_by_its_number(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcarry.tract.store.postgres.OLDEST", 990000)
    with pytest.raises(StoreError, match="PostgreSQL 14 or newer is needed") as told:
        Tract.open(url)
    assert "postgresql://" in str(told.value)
