"""The command line as a user runs it: a separate process with real pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.builders.histories import say

from toolcarry.cli import main
from toolcarry.tract import Tract

COMMAND = [sys.executable, "-m", "toolcarry"]
EXAMPLE = Path(__file__).parents[2] / "examples" / "session.jsonl"

Run = Callable[..., subprocess.CompletedProcess[bytes]]
History = Callable[..., tuple[int, str, str]]


@pytest.fixture
def environment() -> dict[str, str]:
    """The environment without what decides on colours and widths."""
    dropped = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LC_ALL", "PYTHONIOENCODING", "PYTHONUTF8")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "TERM": "xterm-256color", "LANG": "C.UTF-8"}


@pytest.fixture
def command() -> list[str]:
    return COMMAND


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Run:
    """Run ``toolcarry`` in an empty folder; what it wrote, and its exit code."""

    def run(
        *args: object, stdin: bytes = b"", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(
            [*COMMAND, *map(os.fspath, args)],  # type: ignore[call-overload]
            input=stdin,
            capture_output=True,
            check=False,
            cwd=tmp_path,
            env=environment | (env or {}),
            timeout=60,
        )
        assert b"Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def example() -> Path:
    """The session that ships with the project."""
    return EXAMPLE


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a conversation of pairs ``(name, input, result)`` as a request body; its path."""

    def write(name: str, *pairs: tuple[str, dict[str, object], str | None]) -> Path:
        messages: list[object] = []
        for number, (tool, given, result) in enumerate(pairs):
            call = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": given}
            messages.append({"role": "assistant", "content": [call]})
            if result is not None:
                part = {"type": "tool_result", "tool_use_id": f"t{number}", "content": result}
                messages.append({"role": "user", "content": [part]})
        path = tmp_path / name
        path.write_text(json.dumps({"messages": messages}))
        return path

    return write


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a store may be made."""
    monkeypatch.delenv("TOOLCARRY_DB", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path / "history.db"


@pytest.fixture
def history(db: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> History:
    """Run a command on the store; its exit code, and what it wrote."""

    def run(*args: object, target: object = db) -> tuple[int, str, str]:
        command, *rest = map(str, args)
        code = main(["history", command, "--db", str(target), *rest])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return run


@pytest.fixture
def talk(db: Path) -> dict[str, str]:
    """A short conversation in the store; the hashes of its commits."""
    with Tract.open(db) as tract:
        return say(tract)
