"""Interrupts at every moment of an acquire: no lock, transaction or connection stays taken."""

import gc
import itertools
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.examples import IS_LONG
from support.interrupts import interrupted

from toolcarry.tract import Tract
from toolcarry.tract.importing import BATCH
from toolcarry.tract.store import sqlite

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800 if IS_LONG else 120)]
EVERY = 1 if IS_LONG else 23
SQLITE = ("tract/store/sqlite",)


def moments(work: Callable[[], object], *files: str, every: int = 1) -> Iterator[int]:
    """Interrupt ``work`` at one moment after another, until it is done before the interrupt comes."""
    for step in itertools.count(0, every):
        was_interrupted = interrupted(work, step, *files)
        yield step
        if not was_interrupted:
            return


def ends_in_time(work: Callable[[], object]) -> bool:
    """Return true if ``work`` ends in another thread, which waits for the locks that this thread holds."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(10)
    return not thread.is_alive()


def test_an_interrupted_write_locks_nobody_out(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with Tract.open(path, busy_timeout=0) as tract, Tract.open(path, busy_timeout=0) as other:
        known: list[str] = []
        count = 0
        for step in moments(lambda: tract.user("interrupted"), *SQLITE):
            count += 1
            known.append(other.user(f"another {step}").commit_hash)
            known.append(tract.user(f"later {step}").commit_hash)
        assert count > 20
        assert ends_in_time(lambda: tract.user("in a thread"))
        log = [commit.commit_hash for commit in tract.log()]
        assert set(known) <= set(log)
        assert tract.verify().is_whole


def test_an_open_transaction_is_rolled_back_and_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with Tract.open(path, busy_timeout=0) as tract, Tract.open(path, busy_timeout=0) as other:
        first = tract.user("first")
        connection = tract._log.database._connection  # type: ignore[attr-defined]
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("DELETE FROM tract_commits")
        second = tract.user("second")
        third = other.user("third")
        assert tract.log() == [third, second, first]


def test_an_interrupted_opening_keeps_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with Tract.open(path) as tract:
        known = tract.user("first")
    opened: list[Tract] = []
    for step in moments(lambda: opened.append(Tract.open(path)), *SQLITE, every=EVERY):
        while opened:
            opened.pop().close()
        gc.collect()
        with closing(sqlite3.connect(path)) as foreign:  # is refused while the file is open here
            foreign.execute("SELECT count(*) FROM tract_commits")
        new = tmp_path / f"new{step}.db"
        interrupted(lambda new=new: opened.append(Tract.open(new)), step, *SQLITE)  # type: ignore[misc]
        with Tract.open(new) as tract:
            tract.user("a file that was being made")
    with Tract.open(path) as tract:
        assert tract.log() == [known]


def test_an_interrupted_fork_keeps_no_lock(tmp_path: Path) -> None:
    with Tract.open(tmp_path / "history.db", busy_timeout=0) as tract:
        tract.user("first")
        for step in moments(sqlite.before_fork, *SQLITE):
            sqlite.after_fork()
            assert ends_in_time(lambda step=step: tract.user(f"after {step}"))  # type: ignore[misc]
            assert ends_in_time(lambda: Tract.open(tmp_path / "other.db").close())
        assert len(tract.log()) > 5


def test_an_interrupted_import_is_continued(tmp_path: Path) -> None:
    """Each line is in the history once, and the thread that reads ahead has ended."""
    source = tmp_path / "session.jsonl"
    line = '{"role": "user", "content": "question %d"}\n'
    source.write_text("".join(line % number for number in range(BATCH + 1)))
    before = threading.active_count()
    with Tract.open(tmp_path / "history.db", busy_timeout=0) as tract:
        files = ("tract/importing", "concurrent/futures", *SQLITE)
        known = 0
        for step in itertools.count(0, 1 if IS_LONG else 197):
            talk = tract.in_conversation(f"conversation {step}")
            was_interrupted = interrupted(lambda: talk.import_transcript(source), step, *files)  # noqa: B023
            assert ends_in_time(lambda: talk.import_transcript(source))  # noqa: B023
            assert len(talk.log()) == BATCH + 1
            assert threading.active_count() <= before + 1
            known += 1
            if not was_interrupted:
                break
        assert known > 3


@pytest.mark.services
def test_an_interrupted_write_keeps_no_connection(durable_target: str) -> None:
    """As often as there are connections: one more that is kept each time would be the end."""
    files = ("tract/store/postgres", "psycopg_pool/pool.py")
    with Tract.open(durable_target, busy_timeout=2) as tract:
        known = [tract.user("first").commit_hash]
        for step in range(0, 1_000, 1 if IS_LONG else 10):
            interrupted(lambda: tract.user("interrupted"), step, *files)
            known.append(tract.user(f"later {step}").commit_hash)
        log = [commit.commit_hash for commit in tract.log()]
        assert set(known) <= set(log)
        assert tract.verify().is_whole
