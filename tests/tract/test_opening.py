"""The valid arguments of ``Tract.open``; waiting for a store can be interrupted."""

import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.servers.stores import TELL_WHEN_WAITING, held

from toolcarry.errors import ConfigError, StoreBusyError, StoreError
from toolcarry.tract import Tract

WAIT = f"""
{TELL_WHEN_WAITING}
import sys
from toolcarry.tract import Tract
with Tract.open(sys.argv[1], busy_timeout=60) as tract:
    print("open", flush=True)
    tract.user("Hello.")
"""


@pytest.mark.parametrize("timeout", [float("nan"), float("inf"), 1e9, -1, "10", None, True])
def test_a_timeout_that_nobody_can_wait(timeout: object, tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with pytest.raises(ConfigError, match=r"busy_timeout: .* allowed: seconds"):
        Tract.open(path, busy_timeout=timeout)  # type: ignore[arg-type]
    assert not path.exists()


@pytest.mark.parametrize("timeout", [0, 0.2])
def test_a_timeout_holds(timeout: float, tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with Tract.open(path, busy_timeout=timeout) as tract:
        with held(path):
            start = time.monotonic()
            with pytest.raises(StoreBusyError):
                tract.user("Hello.")
            assert timeout <= time.monotonic() - start < timeout + 5
        assert tract.user("Hello.").sequence == 1


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are others there")
def test_waiting_can_be_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    Tract.open(path).close()
    with held(path):
        waiting = subprocess.Popen(
            [sys.executable, "-c", WAIT, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert waiting.stdout is not None
        assert [waiting.stdout.readline() for _ in range(2)] == [b"open\n", b"waiting\n"]
        waiting.send_signal(signal.SIGINT)
        start = time.monotonic()
        errors = waiting.communicate(timeout=30)[1]
        assert time.monotonic() - start < 10
    assert b"KeyboardInterrupt" in errors


@pytest.mark.parametrize(
    "url", ["postgresql://[::1", "postgresql://user:se%zzcret@host/name", "postgresql://h/n?what=1"]
)
def test_a_url_that_is_invalid_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError, match="target: the URL is not allowed") as raised:
        Tract.open(url)
    assert "cret" not in str(raised.value)


@pytest.mark.parametrize("version", [0, 1, 7])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, version: int) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (x)")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreError, match="is a SQLite file of another application"):
            Tract.open(path, read_only=read_only)
    assert path.read_bytes() == before
