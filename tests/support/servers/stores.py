"""Places for stores, and other processes that hold the lock of a store."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.servers.postgres import PostgresServer

HOLD = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


TELL_WHEN_WAITING = """
import time
pause = time.sleep

def tell_and_pause(seconds):
    time.sleep = pause  # it tells once
    print("waiting", flush=True)
    pause(seconds)

time.sleep = tell_and_pause
"""
"""For the beginning of a script: it prints a line when it begins to wait for a file that is locked."""


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Keep the file locked for writing by another process."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == b"held\n"
        yield
        holder.stdin.close()


def make_target(request: pytest.FixtureRequest, folder: Path, kind: str) -> str:
    """Where an empty store of this kind may be made: ``memory``, ``file`` or ``postgres``."""
    if kind == "memory":
        return ":memory:"
    if kind == "file":
        return str(folder / "history.db")
    server: PostgresServer = request.getfixturevalue("postgres")
    url = server.url()
    request.addfinalizer(lambda: server.drop(url))
    return url
