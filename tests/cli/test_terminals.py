"""Terminals get colours and a progress display for many files; other outputs get neither."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from support.builders import wire
from support.processes.terminals import in_terminal

pytestmark = pytest.mark.usefixtures("rust")

COLOURS = re.compile(rb"\x1b\[[0-9;]*m")

pytest.importorskip("pty")


def test_colours_on_a_terminal(command, environment, example):
    args = [*command, "inspect", str(example)]
    assert b"\x1b[1m" in in_terminal(args, environment, stdout=None)[1]
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        code, shown = in_terminal(args, environment | plain, stdout=None)
        assert code == 0
        assert b"claude-code" in shown
        assert b"\x1b" not in shown


def test_a_difference_is_coloured_on_a_terminal(command, environment, tmp_path):
    messages = [*wire.read("a.py", "line\n" * 100, "t1"), *wire.read("a.py", "line\nnew", "t2")]
    path = tmp_path / "body.json"
    path.write_text(json.dumps({"messages": messages}))
    args = [*command, "project", str(path), "--diff"]
    code, shown = in_terminal(args, environment, stdout=None)
    assert code == 0
    assert b"\x1b[31m- line" in shown
    assert b"\x1b[32m+ [toolcarry: superseded by call t2" in shown
    plain = in_terminal(args, environment | {"NO_COLOR": "1"}, stdout=None)[1]
    assert b"- line" in plain
    assert b"\x1b" not in plain


def test_progress_over_many_files(command, environment, example, tmp_path):
    args = [*command, "carry", *[str(example)] * 12, str(tmp_path / "absent")]
    code, shown = in_terminal(args, environment, stdout=subprocess.DEVNULL)
    assert code == 3
    size = 12 * example.stat().st_size / 1_000
    assert f"/{size:.1f} kB".encode() in COLOURS.sub(b"", shown)
    assert shown.count(b"==> ") == 12
    assert b"absent: no such file" in shown.replace(b"\r\n", b"")
    assert b" kB" not in in_terminal(args, environment, stdout=None)[1]
    dumb = in_terminal(args, environment | {"TERM": "dumb"}, stdout=subprocess.DEVNULL)[1]
    assert b"\x1b" not in dumb
    few = in_terminal(args[:6], environment, stdout=subprocess.DEVNULL)[1]
    assert b"\x1b" not in few


def test_no_progress_bar_without_a_terminal(run, example):
    done = run("carry", *[example] * 12)
    assert b" kB" not in done.stderr
    assert b"\x1b" not in done.stderr
