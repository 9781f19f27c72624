"""A folder on the command line: which of its files are read, and that the others are counted."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.builders.session_stores import NEW, OLD, opencode

pytestmark = pytest.mark.usefixtures("rust")

Run = Callable[..., subprocess.CompletedProcess[bytes]]
ASKED = json.dumps({"role": "user", "content": "Boil the egg."})


def test_each_kind_of_file(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    (folder / "deep").mkdir(parents=True)
    names = ["a.jsonl", "b.ndjson", "c.json", "d.traj", "deep/e.jsonl"]
    for name in names:
        (folder / name).write_text(ASKED)
    opencode(folder / "f.db")
    for name in ("notes.md", "deep/more.md", "picture.png", ".hidden"):
        (folder / name).write_text("x")
    done = run("batch", "sessions", "--job", "inspect", "--out", "rows.jsonl")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    stored = [
        f"sessions/f.db#{name}" for name in (NEW, OLD, "child")
    ]  # a sub-agent's is one of its own
    assert sorted(row["file"] for row in rows) == sorted(
        [f"sessions/{each}" for each in names] + stored
    )
    assert [row["error"] for row in rows] == [None] * 8
    assert all(row["size"] > 0 for row in rows)
    assert b"sessions: not read: 2 .md, 1 .png; name a file to read it anyway\n" in done.stderr


def test_a_store_that_is_no_agents(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(ASKED)
    (tmp_path / "cookies.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    done = run("inspect", str(tmp_path))
    assert done.returncode == 0
    assert b"not read: 1 .db; " in done.stderr


def test_a_folder_without_conversations(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("x")
    done = run("inspect", str(tmp_path))
    assert done.returncode == 1
    assert b"not read: 1 .md; " in done.stderr
    assert b"is a directory without conversations" in done.stderr
