"""``toolcarry history`` on a terminal: progress, colours, and lines that fit."""

from __future__ import annotations

from support.builders.histories import many
from support.processes.terminals import in_terminal

from toolcarry.tract import Tract


def test_progress_on_a_terminal(command, environment, tmp_path):
    long, db = many(tmp_path / "long.jsonl", 5_000, 400), tmp_path / "new.db"
    args = [*command, "history", "import", str(long), "--db", str(db)]
    code, shown = in_terminal(args, environment, stdout=None)
    assert code == 0
    assert b"MB" in shown
    assert b"5,000 new commits, 0 skipped" in shown.replace(b"\r\n", b"")
    dumb = in_terminal(args, environment | {"TERM": "dumb"}, stdout=None)[1]
    assert b"\x1b" not in dumb


def test_progress_over_many_files(command, environment, tmp_path, example):
    files = [tmp_path / f"{number}.jsonl" for number in range(12)]
    for path in files:
        path.write_bytes(example.read_bytes())
    args = [*command, "history", "import", *map(str, files), "--db", str(tmp_path / "new.db")]
    code, shown = in_terminal(args, environment, stdout=None)
    assert code == 0
    assert b"kB" in shown
    assert shown.count(b"38 new commits") == 12


def test_lists_fit_the_terminal(command, environment, db, talk):
    with Tract.open(db) as tract:
        tract.user("word " * 100)
    args = [*command, "history", "log", "--db", str(db)]
    code, shown = in_terminal(args, environment | {"COLUMNS": "100"}, stdout=None)
    assert code == 0
    assert len(shown.decode().splitlines()[0]) == 100
    assert b"\x1b" not in shown
    args = [*command, "history", "stats", "--all", "--db", str(db)]
    assert b"\x1b[1m" in in_terminal(args, environment, stdout=None)[1]
    assert b"\x1b" not in in_terminal(args, environment | {"NO_COLOR": "1"}, stdout=None)[1]
