"""``toolcarry watch``: the figures follow a file that grows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.builders import wire
from support.clocks import wait_until

from toolcarry.api.survey import survey_context

pty = pytest.importorskip("pty")


def lines_of(*messages: dict[str, object]) -> bytes:
    records = [
        {"uuid": str(number), "parentUuid": str(number - 1) if number else None, "message": message}
        for number, message in enumerate(messages)
    ]
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


SAID = {"role": "assistant", "model": "claude-sonnet-4-5", "content": "word " * 800}
TALK = [SAID, *wire.read("a.py", "line\n" * 500, "t1"), *wire.read("a.py", "line\n" * 400, "t2")]
HOSTILE = wire.bash("make \x1b]0;title\x07 \x9b31m", "line\n" * 900, "t3")


@contextmanager
def watching(args: list[str], environment: dict[str, str], out: Path) -> Iterator[subprocess.Popen[bytes]]:  # fmt: skip
    """Run the command with its output in a file."""
    with out.open("wb") as file:
        process = subprocess.Popen(args, stdout=file, stderr=subprocess.STDOUT, env=environment)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def test_one_line_for_each_change(command, environment, tmp_path):
    path, out = tmp_path / "s.jsonl", tmp_path / "out"
    path.write_bytes(lines_of(*TALK[:1]))
    with watching([*command, "watch", str(path)], environment, out) as process:
        shown = lambda: out.read_text().splitlines()  # noqa: E731 - read again each time
        wait_until(lambda: len(shown()) == 1)
        assert (
            "about 1,002 tokens; About 0 % of the context window is used; 0 results" in shown()[0]
        )
        whole = lines_of(*TALK)
        with path.open("ab") as file:
            file.write(whole[path.stat().st_size : -30])  # the last line is being written
        wait_until(lambda: len(shown()) == 2)
        assert "1 result, 0 not needed; heaviest Read a.py: 1,250" in shown()[1]
        with path.open("ab") as file:
            file.write(whole[-30:])
        wait_until(lambda: len(shown()) == 3)
        assert "2 results, 1 not needed" in shown()[2]
        draft = tmp_path / "draft"
        draft.write_bytes(lines_of(TALK[0]))
        draft.replace(path)  # another file of this name
        wait_until(lambda: len(shown()) == 4)
        assert "0 results" in shown()[3]
        path.unlink()
        wait_until(lambda: "no such file" in out.read_text())
        path.write_bytes(whole)
        wait_until(lambda: len(shown()) == 6)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    assert "Traceback" not in out.read_text()


def test_json(command, environment, tmp_path):
    path, out = tmp_path / "s.jsonl", tmp_path / "out"
    path.write_bytes(lines_of(*TALK))
    args = [*command, "watch", str(path), "--json", "--model", "gpt-4o"]
    with watching(args, environment, out):
        wait_until(lambda: out.read_bytes().endswith(b"\n"))
        found = json.loads(out.read_bytes())
    expected = survey_context(path.read_bytes(), model="gpt-4o").to_dict()
    assert {name: found[name] for name in expected} == json.loads(json.dumps(expected))


def test_a_terminal_is_drawn_again(command, environment, tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines_of(*TALK[:1]))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*command, "watch", str(path)],
        stdin=theirs, stdout=theirs, stderr=theirs, env=environment | {"COLUMNS": "100", "LINES": "24"},
    )  # fmt: skip
    os.close(theirs)
    shown = b""

    def read_until(text: bytes) -> None:
        nonlocal shown
        while text not in shown:
            shown += os.read(ours, 65_536)

    try:
        read_until(b"1,002 of 200,000 tokens. About 0 % of the context window")
        with path.open("ab") as file:
            file.write(lines_of(*TALK, *HOSTILE)[path.stat().st_size :])
        read_until(b"heaviest results")
        read_until(b"superseded")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert b"Traceback" not in shown
    assert b"\x1b]0;" not in shown
    assert b"\xc2\x9b" not in shown


def test_names_that_can_not_be_watched(run, tmp_path):
    assert run("watch", "-").returncode == 2
    assert run("watch", tmp_path).returncode == 1
    assert run("watch", tmp_path / "absent").returncode == 3
