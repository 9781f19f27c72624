"""``toolcarry recount``: the history on stdout, what became of messages and results on stderr."""

from __future__ import annotations

import json

import pytest

import toolcarry

pytestmark = pytest.mark.usefixtures("rust")

READ = ("Read", {"file_path": "/a.py"}, "x = 1\n" * 200)
OPEN = ("Bash", {"command": "sleep 9"}, None)


def test_history_equals_that_of_the_library(run, example):
    done = run("recount", example)
    told = toolcarry.recount(example.read_bytes())
    assert done.returncode == 0
    assert json.loads(done.stdout) == told.messages
    assert done.stdout.count(b"\n") == 1
    first, *_, last = done.stderr.decode().splitlines()
    size = f"{told.report.chars_after:,} characters"
    assert first == f"{example}: {len(told.messages)} messages, {told.report.calls} calls; {size}"
    assert last == f"{example}: 1 line without a JSON object skipped: 20"


def test_the_limits(run, example):
    done = run("recount", example, "--max-result-length", "10", "--max-tokens", "120", "--json")
    told = toolcarry.recount(example.read_bytes(), max_result_length=10, max_tokens=120)
    assert done.stderr == b""
    assert json.loads(done.stdout) == {
        "file": str(example),
        "messages": told.messages,
        "report": told.report.to_dict(),
    }
    assert told.report.tokens_after is not None
    assert told.report.tokens_after <= 120
    whole = run("recount", example, "--max-result-length", "none", "--max-tokens", "none")
    assert b"truncated" not in whole.stdout


def test_reductions_by_a_total_are_reported(run, write):
    path = write("a.json", READ, READ, READ)
    lines = run("recount", path, "--max-tokens", "180").stderr.decode().splitlines()
    assert lines[1:] == [
        f"{path}: 2 results cut further to fit the total limit",
        f"{path}: 1 result left out to fit the total limit, except for the call",
    ]
    (_, left_out, too_small) = run("recount", path, "--max-tokens", "0").stderr.splitlines()
    assert left_out.endswith(b": 1 message left out to fit the total limit, with 3 calls")
    assert too_small.endswith(b": the limit is too small for a history")


def test_strict_reports_orphans(run, write):
    path = write("a.json", OPEN)
    assert run("recount", path).returncode == 0
    done = run("recount", path, "--strict")
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[-1] == f"{path}: 1 call without a result"


def test_through_pipes_and_into_files(run, write, tmp_path):
    path = write("a.json", READ)
    done = run("recount", "-", "-o", "out.json", stdin=path.read_bytes())
    assert (done.returncode, done.stdout) == (0, b"")
    assert (tmp_path / "out.json").read_bytes() == run("recount", path).stdout
    again = run("recount", tmp_path / "out.json")
    assert again.stdout == run("recount", path).stdout
    assert run("recount", path, "-o", path).returncode == 2


def test_errors_are_reported(run, write, tmp_path):
    path = write("a.json", READ)
    for option, value in (
        ("--max-result-length", "-1"),
        ("--max-tokens", "many"),
        ("--encoding", "p50k"),
    ):
        done = run("recount", path, option, value)
        assert done.returncode == 2
        assert f"'{option}'" in done.stderr.decode()
    broken = tmp_path / "broken.json"
    broken.write_bytes(b'{"messages": [1')
    done = run("recount", broken)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(f"{broken}: not JSON at byte 15".encode())
    assert run("recount", tmp_path / "none").returncode == 3
