"""A server whose backends are killed: what was appended is there once, whatever the client was told last."""

import itertools
import random
import threading
import time
from typing import Any

import pytest
from postgres_server import PostgresServer

from toolcarry.errors import StoreError
from toolcarry.tract import Tract

KILL = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.url()


def admin(postgres: PostgresServer, url: str) -> Any:
    return postgres.connect(url.partition("@/")[2].partition("?")[0])


def test_a_connection_that_was_idle_is_made_anew(postgres: PostgresServer, url: str) -> None:
    with Tract.open(url) as tract, admin(postgres, url) as other:
        for number in range(3):
            tract.user(str(number))
            other.execute(KILL)
        assert [tract.get_content(each) for each in tract.log()] == ["2", "1", "0"]


def test_backends_killed_at_any_moment(postgres: PostgresServer, url: str) -> None:
    """Every append that returned is there, none is there twice, and those that raised are there once or not."""
    done, moments = threading.Event(), random.Random(8)
    end = time.monotonic() + 5

    def kill() -> None:
        with admin(postgres, url) as other:
            while not done.wait(moments.uniform(0.05, 0.4)):
                other.execute(KILL)

    with Tract.open(url) as tract:
        killer = threading.Thread(target=kill)
        killer.start()
        acknowledged: list[str] = []
        refused: list[str] = []
        try:
            for number in itertools.takewhile(lambda _: time.monotonic() < end, itertools.count()):
                try:
                    tract.user(str(number))
                    acknowledged.append(str(number))
                except StoreError:
                    refused.append(str(number))
        finally:
            done.set()
            killer.join()
        found = [tract.get_content(each) for each in reversed(tract.log())]
        assert len(found) == len(set(found))
        assert set(acknowledged) <= set(found) <= {*acknowledged, *refused}
        assert sorted(found, key=int) == found
        assert tract.verify().is_whole
        assert len(acknowledged) > 20


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


@pytest.mark.parametrize("seconds", [0, 6])
def test_a_server_that_is_gone(postgres: PostgresServer, url: str, seconds: float) -> None:
    """When it is back, it is found at once, however long it was gone."""
    with Tract.open(url, busy_timeout=2) as tract:
        tract.user("one")
        postgres.stop()
        try:
            with pytest.raises(StoreError):
                tract.user("two")
            time.sleep(seconds)
        finally:
            postgres.start()
        tract.user("three")
        assert [tract.get_content(each) for each in tract.log()] == ["three", "one"]
