"""Processes that die, fork, and write at once: what was acknowledged is there, once, and in order."""

import os
import random
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from support.examples import IS_LONG
from support.processes import children

from toolcarry.errors import StoreError
from toolcarry.tool_cache import SQLiteToolCache
from toolcarry.tract import Tract

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800 if IS_LONG else 120)]
ROUNDS = 500 if IS_LONG else 20

WRITE_ON = """
import itertools, os, sys
from toolcarry.tract import Tract

with Tract.open(sys.argv[1]) as tract:
    for number in itertools.count():
        text = f"{number} " + os.urandom(number * 997 % 5_000).hex()
        if number % 7 == 6:
            commits = [tract.compress(commits=[commits[0].commit_hash], content=text).commit]
        elif number % 3:
            commits = [tract.user(text)]
        else:
            commits = tract.append_many([{"role": "user", "content": f"{text} {i}"} for i in range(5)])
        print(*[commit.commit_hash for commit in commits], flush=True)
"""

WRITE_SOME = """
import sys
from toolcarry.tract import Tract

with Tract.open(sys.argv[1], busy_timeout=60) as tract:
    sys.stdin.readline()
    for number in range(int(sys.argv[3])):
        tract.user(f"{sys.argv[2]} {number}")
"""


def test_acknowledged_commits_survive_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    moments = random.Random(1)
    known: list[str] = []
    for _ in range(ROUNDS):
        with children.start(WRITE_ON, path) as child:
            assert child.stdout is not None
            first = child.stdout.readline()
            # At random: what is to be hit is the middle of a write, which the process can't tell of.
            time.sleep(moments.uniform(0, 0.1))  # noqa: TID251 - a random moment within a write
            child.kill()
            lines = (first + child.stdout.read()).splitlines(keepends=True)
        # The last line may be torn: its commits are there, but nobody was told.
        acknowledged = [found for line in lines if line.endswith("\n") for found in line.split()]
        with Tract.open(path) as tract:
            log = [commit.commit_hash for commit in reversed(tract.log())]
            assert log[: len(known) + len(acknowledged)] == known + acknowledged
            # One call may have been done that was not told any more, and it was done whole.
            assert len(log) - len(known) - len(acknowledged) in (0, 1, 5)
            log.append(tract.user("after the kill").commit_hash)
            known = log
    with Tract.open(path) as tract:
        assert tract.verify().is_whole
        assert tract.verify().checked == len(known) > ROUNDS


def test_writers_at_once_lose_and_double_nothing(durable_target: str) -> None:
    count = 100 if IS_LONG else 40
    writers = [
        children.start(WRITE_SOME, durable_target, name, count, stdin=children.PIPE)
        for name in "abcd"
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, said = writer.communicate(timeout=children.TIMEOUT)
        assert writer.returncode == 0, said
    with Tract.open(durable_target) as tract:
        log = tract.log()[::-1]
        texts = [tract.get_content(commit) for commit in log]
        assert sorted(texts) == sorted(f"{name} {i}" for name in "abcd" for i in range(count))
        assert [commit.sequence for commit in log] == list(range(1, 4 * count + 1))
        assert tract.verify().is_whole
    for name in "abcd":
        own = [text for text in texts if text.startswith(name)]
        assert own == [f"{name} {i}" for i in range(count)]


def in_child(work: Callable[[], object]) -> int:
    """Run ``work`` in a fork of this process; return the fork's exit code, which is 1 if it raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions of Python warn of forks while threads run
        process = os.fork()
    if process == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def write_ten(tract: Tract, name: str) -> None:
    for number in range(10):
        tract.user(f"{name} {number}")


def test_both_sides_of_a_fork_write(durable_target: str) -> None:
    with Tract.open(durable_target, busy_timeout=60) as tract:
        tract.user("before")
        ended: list[int] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            process = os.fork()
        if process == 0:
            code = 1
            try:
                write_ten(tract, "child")
                tract.close()
                code = 0
            finally:
                os._exit(code)
        write_ten(tract, "parent")
        ended.append(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
        write_ten(tract, "later")
        assert ended == [0]
        texts = [tract.get_content(commit) for commit in tract.log()]
        wanted = [f"{name} {i}" for name in ("child", "parent", "later") for i in range(10)]
        assert sorted(texts) == sorted(["before", *wanted])
        assert tract.verify().is_whole


def test_forks_next_to_threads_that_write(tmp_path: Path) -> None:
    """Two threads write while two fork: the forks, too, may come at the same time."""
    path = tmp_path / "history.db"
    codes: list[int] = []
    with Tract.open(path, busy_timeout=60) as tract:
        tract.user("before")

        def fork(name: str) -> None:
            texts = [f"{name} {number}" for number in range(8)]
            codes.extend(in_child(partial(tract.user, text)) for text in texts)

        threads = [threading.Thread(target=fork, args=(name,)) for name in "ab"]
        threads += [threading.Thread(target=write_ten, args=(tract, name)) for name in "cd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(children.TIMEOUT)
            assert not thread.is_alive()
        texts = sorted(tract.get_content(commit) for commit in tract.log())
        wanted = [f"{name} {i}" for name in "ab" for i in range(8)]
        wanted += [f"{name} {i}" for name in "cd" for i in range(10)]
        assert codes == [0] * 16
        assert texts == sorted(["before", *wanted])
        assert tract.verify().is_whole


def test_memory_is_not_shared_with_a_fork() -> None:
    with Tract.open() as tract:
        tract.user("before")

        def use() -> None:
            for call in (tract.log, lambda: tract.user("child")):
                with pytest.raises(StoreError, match="belongs to the process that opened it"):
                    call()

        assert in_child(use) == 0
        tract.user("after")
        assert len(tract.log()) == 2


def test_another_library_is_kept_from_an_open_file(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    link = tmp_path / "link.db"
    with Tract.open(path) as tract, Tract.open(path) as second:
        link.symlink_to(path)
        tract.user("hi")
        names = (path, str(path), os.fsencode(path), link, f"file:{path}?mode=ro")
        for name in names:
            with pytest.raises(StoreError, match="a second SQLite library"):
                sqlite3.connect(name, uri=str(name).startswith("file:"))
        second.close()
        with pytest.raises(StoreError, match="a second SQLite library"):
            sqlite3.connect(path)
        sqlite3.connect(":memory:").close()
        sqlite3.connect(tmp_path / "other.db").close()
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT count(*) FROM tract_commits").fetchall() == [(1,)]
    other.close()


def test_a_file_that_another_library_has_open_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    Tract.open(path).close()
    other = sqlite3.connect(path)
    try:
        other.execute("SELECT count(*) FROM tract_commits").fetchall()
        with pytest.raises(StoreError, match="by another library"):
            Tract.open(path)
    finally:
        other.close()
    with Tract.open(path) as tract:
        tract.user("hi")


def test_threads_that_open_one_file_at_once(tmp_path: Path) -> None:
    """None takes another for a second library, whether the file is new, there, or let go of by the last of them."""
    count = 8
    start = threading.Barrier(count)
    errors: list[StoreError] = []

    def open_all(name: str) -> None:
        for path in paths:
            start.wait(children.TIMEOUT)
            try:
                with Tract.open(path, conversation=name, busy_timeout=60) as tract:
                    tract.user("hi")
            except StoreError as error:
                errors.append(error)

    new = [tmp_path / f"{number}.db" for number in range(10)]
    paths = [path for path in new for _ in range(3)]
    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(open_all, str(number)) for number in range(count)]:
            done.result(children.TIMEOUT)
    assert errors == []
    with Tract.open(new[-1]) as tract:
        assert len(tract.conversations()) == count
        assert tract.verify().checked == 3 * count


def test_a_file_that_is_gone_is_let_go(tmp_path: Path) -> None:
    """Its number may be another file's next: here it has a second name, by which it can be opened still."""
    path, link = tmp_path / "history.db", tmp_path / "link.db"
    with Tract.open(path):
        link.hardlink_to(path)
        path.unlink()
    sqlite3.connect(link).close()


def test_a_file_that_could_not_be_opened_is_let_go(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    path.write_bytes(b"no database" * 1_000)
    for use in (Tract.open, SQLiteToolCache):
        with pytest.raises(StoreError):
            use(path)
        sqlite3.connect(path).close()
