"""Threads that write to a file at the same time share a transaction, and each has the outcome of its own work."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.clocks import wait_until
from support.interrupts import Interrupted

from toolcarry.errors import StoreError
from toolcarry.tract import Tract
from toolcarry.tract.store.database import ConflictError, Transaction
from toolcarry.tract.store.sqlite import SqliteDatabase

WRITERS = 8


@pytest.fixture
def tract(tmp_path: Path) -> Iterator[Tract]:
    with Tract.open(tmp_path / "history.db") as found:
        yield found


@pytest.fixture
def database(tract: Tract) -> SqliteDatabase:
    found = tract._log.database
    assert isinstance(found, SqliteDatabase)
    return found


@contextmanager
def at_once(database: SqliteDatabase, count: int) -> Iterator[ThreadPoolExecutor]:
    """Threads whose writes begin together: once ``count`` of them wait, and the block has ended."""
    with ThreadPoolExecutor(count) as pool, database._lock:
        yield pool
        wait_until(lambda: len(database._waiting) == count)


def add(name: str) -> Callable[[Transaction], Transaction]:
    """Work that adds a conversation, and returns its transaction."""

    def work(run: Transaction) -> Transaction:
        run.run("INSERT INTO tract_conversations (tenant, name) VALUES ('', ?)", (name,))
        return run

    return work


def names_in(database: SqliteDatabase) -> list[str]:
    return sorted(row[0] for row in database.read("SELECT name FROM tract_conversations"))


def test_writes_that_wait_share_a_transaction(database: SqliteDatabase) -> None:
    with at_once(database, WRITERS) as pool:
        found = [pool.submit(database.write, add(f"c{number}")) for number in range(WRITERS)]
    runs = [each.result() for each in found]
    assert all(run is runs[0] for run in runs)
    assert runs[0].is_shared
    assert names_in(database) == [f"c{number}" for number in range(WRITERS)]
    assert not database.write(add("alone")).is_shared


@pytest.mark.parametrize("error", [ConflictError("moved"), ValueError("no"), StoreError("no")])
def test_a_failure_is_that_of_its_own_thread(database: SqliteDatabase, error: Exception) -> None:
    def fail(run: Transaction) -> None:
        add("gone")(run)
        raise error

    with at_once(database, WRITERS) as pool:
        found: list[Future[object]] = [pool.submit(database.write, add("first"))]
        failing = pool.submit(database.write, fail)
        found += [pool.submit(database.write, add(f"c{number}")) for number in range(WRITERS - 2)]
    assert failing.exception() is error
    assert all(each.exception() is None for each in found)
    assert names_in(database) == sorted(["first", *[f"c{number}" for number in range(WRITERS - 2)]])


def test_an_interrupt_leaves_the_others_unsure(tract: Tract, database: SqliteDatabase) -> None:
    """The thread that does the work of all is interrupted: the others look, and write once."""
    others = [tract.in_conversation(f"c{number}") for number in range(3)]

    def interrupt(_: Transaction) -> None:
        raise Interrupted

    with ThreadPoolExecutor(len(others)) as pool, database._lock:
        found = [pool.submit(other.user, "once") for other in others]
        wait_until(lambda: len(database._waiting) == len(others))
        with pytest.raises(Interrupted):
            database.write(interrupt)
    assert [each.result().sequence for each in found] == [1, 1, 1]
    for other in others:
        assert len(other.log()) == 1
        assert other.verify().is_whole


@pytest.mark.parametrize("is_same", [True, False])
def test_threads_lose_and_double_nothing(tract: Tract, is_same: bool) -> None:
    count = 25
    opened = [
        tract if is_same else tract.in_conversation(f"c{number}") for number in range(WRITERS)
    ]
    start = threading.Barrier(WRITERS)

    def write(number: int) -> list[str]:
        start.wait()
        return [opened[number].user(f"{number} {at}").commit_hash for at in range(count)]

    with ThreadPoolExecutor(WRITERS) as pool:
        acknowledged = list(pool.map(write, range(WRITERS)))
    for number, other in enumerate(opened):
        log = other.log()[::-1]
        own = [commit for commit in log if other.get_content(commit).startswith(f"{number} ")]
        assert [commit.commit_hash for commit in own] == acknowledged[number]
        assert [other.get_content(commit) for commit in own] == [
            f"{number} {at}" for at in range(count)
        ]
        assert [commit.sequence for commit in log] == list(range(1, len(log) + 1))
        assert other.verify().is_whole
