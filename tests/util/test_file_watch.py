"""The thread that follows a file: an interrupt neither leaves one running nor keeps a later start from working."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import pytest
from support.clocks import wait_until
from support.interrupts import interrupted

from toolcarry._util.file_watch import Watching

pytest.importorskip("watchfiles")
FILE = "_util/file_watch.py"
NAME = "watching-for-a-test"


class Looks(Watching):
    """Counts the looks at a file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, NAME)
        self.looks = threading.Semaphore(0)

    def _look(self) -> None:
        self.looks.release()


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == NAME]


def test_a_start_after_an_interrupted_one_works(tmp_path: Path) -> None:
    for step in itertools.count():
        watching = Looks(tmp_path / "file")
        was_interrupted = interrupted(watching.start, step, FILE, and_returns=True)
        watching.start()
        assert watching.looks.acquire(timeout=10)
        watching.stop()
        wait_until(lambda: not threads())
        if not was_interrupted:
            break
    assert step > 4


def test_a_stop_after_an_interrupted_one_works(tmp_path: Path) -> None:
    for step in itertools.count():
        watching = Looks(tmp_path / "file")
        watching.start()
        was_interrupted = interrupted(watching.stop, step, FILE, and_returns=True)
        watching.stop()
        wait_until(lambda: not threads())
        if not was_interrupted:
            break
    assert step > 4
