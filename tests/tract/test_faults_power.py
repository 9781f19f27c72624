"""A loss of power at any moment: nothing that was acknowledged before is lost, and nothing is there by half."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from support.examples import IS_LONG
from support.oracles.power import CALLS, Ack, Disk, read_trace
from support.processes import children

from toolcarry.tract import Tract

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800 if IS_LONG else 120)]
STATES = 5_000 if IS_LONG else 150

# Little is let into the log before it is brought into the file, so that this happens, too.
WRITE = """
import os, sys
from toolcarry.tract import Tract

tract = Tract.open(sys.argv[1])
for round in range(2):
    for number in range(8):
        connection = tract._log.database._connection
        if connection is not None:
            connection.execute("PRAGMA wal_autocheckpoint = 20")
            connection.execute(f"PRAGMA synchronous = {sys.argv[2]}")
        message = {"role": "user", "content": os.urandom(number * 900).hex()}
        commits = tract.append_many([message] * (number % 3 + 1))
        os.write(1, "".join(commit.commit_hash + "\\n" for commit in commits).encode())
    tract.close()
    tract = Tract.open(sys.argv[1])
"""


def traced(strace: str, folder: Path, synchronous: str) -> Path:
    """Return the trace of a process that writes a history to ``folder``."""
    folder.mkdir()
    trace = folder.parent / "trace"
    options = ["-f", "--seccomp-bpf", "-y", "-xx", "-s", "1000000", "-e", f"trace={CALLS}"]
    ended = subprocess.run(
        [
            strace,
            *options,
            "-o",
            str(trace),
            *children.command(WRITE, folder / "history.db", synchronous),
        ],
        **children.with_defaults({}),
        timeout=children.TIMEOUT,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return trace


def losses(strace: str, folder: Path, synchronous: str) -> list[str]:
    """Return the faults of stores after losses of power, at random moments and with random outcomes."""
    trace = traced(strace, folder, synchronous)
    calls = list(read_trace(trace, Disk(folder)))
    told = [commit for call in calls if isinstance(call, Ack) for commit in call.text.split()]
    assert len(told) == 30
    chance = random.Random(1)
    moments = sorted(chance.choices(range(len(calls)), k=STATES))
    disk, acknowledged, wrong = Disk(folder), 0, []
    for moment, call in enumerate(read_trace(trace, disk)):
        if isinstance(call, Ack):
            acknowledged += len(call.text.split())
        for _ in range(moments.count(moment)):
            left = folder.parent / "left"
            left.mkdir()
            disk.crash(chance, left)
            reason = look(left / "history.db", told, acknowledged)
            if reason:
                wrong.append(f"call {moment}, {acknowledged} acknowledged: {reason}")
            shutil.rmtree(left)
    return wrong


def look(path: Path, told: list[str], acknowledged: int) -> str | None:
    """Return the fault of a store after a loss of power. The log has to be a beginning of what was told.

    ``verify`` may report nothing but commits that are missing, by their hashes.
    """
    with Tract.open(path) as tract:
        log = [commit.commit_hash for commit in reversed(tract.log())]
        damaged = tract.verify().damaged
        if tract.user("after").sequence != len(log) + 1:
            return "it does not go on"
    if log != told[: len(log)]:
        return "other commits than were written"
    missing = told[len(log) :]
    for damage in damaged:
        if not any(commit in str(damage) for commit in missing):
            return f"damage where nothing is missing: {damage}"
    return f"has {len(log)}" if len(log) < acknowledged or damaged else None


def test_nothing_acknowledged_is_lost_with_the_power(strace: str, tmp_path: Path) -> None:
    assert losses(strace, tmp_path / "folder", "FULL") == []


def test_the_simulation_detects_unsynced_writes(strace: str, tmp_path: Path) -> None:
    """With SQLite set not to wait for the disk at each commit, commits are lost, and nothing else is wrong."""
    wrong = losses(strace, tmp_path / "folder", "NORMAL")
    assert wrong
    assert [each for each in wrong if ": has " not in each] == []
