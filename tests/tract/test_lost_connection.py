"""A server whose backends are killed: no confirmed append is lost, and none is stored twice."""

import itertools
import logging
import random
import threading
from typing import Any

import pytest
from support.clocks import wait_until
from support.servers.postgres import PostgresServer

from toolcarry.errors import StoreError
from toolcarry.tract import Tract

KILL = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)

KILLS = 24


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.url()


def admin(postgres: PostgresServer, url: str) -> Any:
    return postgres.connect(url.partition("@/")[2].partition("?")[0])


def test_a_connection_that_was_idle_is_made_again(postgres: PostgresServer, url: str) -> None:
    with Tract.open(url) as tract, admin(postgres, url) as other:
        for number in range(3):
            tract.user(str(number))
            other.execute(KILL)
        assert [tract.get_content(each) for each in tract.log()] == ["2", "1", "0"]


def test_backends_killed_at_any_moment(postgres: PostgresServer, url: str) -> None:
    """Every append that returned is stored once, and those that raised are stored once or not at all.

    The killer counts appends and knows nothing of how far the next one is.
    """
    done, moments = threading.Event(), random.Random(8)
    acknowledged: list[str] = []
    refused: list[str] = []

    def kill() -> None:
        try:
            with admin(postgres, url) as other:
                for _ in range(KILLS):
                    count = len(acknowledged) + moments.randint(1, 40)
                    wait_until(lambda count=count: len(acknowledged) >= count, what="appends")
                    other.execute(KILL)
        finally:
            done.set()

    with Tract.open(url) as tract:
        killer = threading.Thread(target=kill)
        killer.start()
        try:
            for number in itertools.takewhile(lambda _: not done.is_set(), itertools.count()):
                try:
                    tract.user(str(number))
                    acknowledged.append(str(number))
                except StoreError:
                    refused.append(str(number))
        finally:
            killer.join()
        found = [tract.get_content(each) for each in reversed(tract.log())]
        assert len(found) == len(set(found))
        assert set(acknowledged) <= set(found) <= {*acknowledged, *refused}
        assert sorted(found, key=int) == found
        assert tract.verify().is_whole
        assert len(acknowledged) > KILLS


def test_a_commit_whose_answer_was_lost_is_found(
    postgres: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server commits, and the connection breaks before it can say so."""
    with Tract.open(url) as tract:
        tract.user("first")
        database: Any = tract._log.database
        write = database.write
        broken: list[int] = []

        def write_and_break(work: Any) -> Any:
            found = write(work)
            if not broken:
                broken.append(1)
                with database._errors():
                    raise database_error()
            return found

        monkeypatch.setattr(database, "write", write_and_break)
        commit = tract.user("second")
        assert commit.sequence == 2
        assert [tract.get_content(each) for each in tract.log()] == ["second", "first"]


def database_error() -> Exception:
    import psycopg

    return psycopg.OperationalError("server closed the connection unexpectedly")


@pytest.mark.parametrize("is_given_up", [False, True])
def test_a_server_that_is_gone(
    postgres: PostgresServer, url: str, is_given_up: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """When it is back, it is found at once, also where the pool has given up looking for it."""
    caplog.set_level(logging.WARNING, "psycopg.pool")
    with Tract.open(url, busy_timeout=1) as tract:
        tract.user("one")
        postgres.stop()
        try:
            with pytest.raises(StoreError):
                tract.user("two")
            if is_given_up:
                wait_until(
                    lambda: "reconnection attempt" in caplog.text, what="the pool to give up"
                )
        finally:
            postgres.start()
        tract.user("three")
        assert [tract.get_content(each) for each in tract.log()] == ["three", "one"]
