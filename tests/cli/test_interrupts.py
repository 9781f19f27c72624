"""An interrupt of a command on a large file: answered at once, with no part of an output left."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from support.clocks import wait_until
from support.rows import for_each

from toolcarry.cli.io import PIECE, json_line, json_pieces

pytestmark = pytest.mark.usefixtures("rust")

COMMANDS = {
    "carry": ["-o", "out"],
    "convert": ["--destination", "openai-chat", "-o", "out"],
    "recount": ["-o", "out"],
    "project": ["--destination", "anthropic", "-o", "out"],
    "inspect": ["--json"],
    "count": [],
}
LONGEST_ANSWER = 5
"""The seconds after which a command must have ended: one, and time for a machine on which other tests run."""
LATEST = 1.5
"""The seconds, after its file was read, within which a command is interrupted."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of 40 MB, with other ids in each round."""
    example = (Path(__file__).parents[2] / "examples" / "session.jsonl").read_bytes()
    path = tmp_path_factory.mktemp("large") / "large.jsonl"
    with path.open("wb") as file:
        for number in range(40_000_000 // len(example)):
            text = example
            for mark in (b'"toolu_', b'"msg_', b'"uuid":"', b'"parentUuid":"'):
                text = text.replace(mark, mark + b"%d-" % number)
            file.write(text)
    return path


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("seed", range(2))
def test_a_command_ends_at_once(name, seed, command, environment, large, tmp_path):
    """The moment is random: the command may have ended before it, or be ending, which a signal only makes faster."""
    args = [*command, name, str(large), *COMMANDS[name]]
    delay = random.Random(f"{name} {seed}").uniform(0, LATEST)
    with subprocess.Popen(
        args, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            wait_until(lambda: process.poll() is not None or bytes_read(process.pid) > 40_000_000)
            moment = time.monotonic() + delay
            wait_until(lambda: process.poll() is not None or time.monotonic() > moment)
            process.send_signal(signal.SIGINT)
            sent = time.monotonic()
            error = process.communicate(timeout=30)[1]
            took = time.monotonic() - sent
        finally:
            process.kill()
    assert process.returncode in (0, -signal.SIGINT, 130), error
    assert took < LONGEST_ANSWER
    assert b"Traceback" not in error
    left = [path.name for path in tmp_path.iterdir()]
    assert left == (["out"] if process.returncode != 130 and "-o" in args else [])


def bytes_read(process: int) -> int:
    """Return the bytes that a process has read."""
    try:
        return int(Path(f"/proc/{process}/io").read_text().split()[1])
    except (OSError, IndexError):
        return 0


def test_an_interrupt_while_nobody_reads_the_output(command, environment, large):
    """The thread that writes holds the lock of stdout."""
    args = [*command, "convert", str(large), "--destination", "openai-chat"]
    with subprocess.Popen(
        args, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.read(1) == b"{"
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=20) == 130
        finally:
            process.kill()


def test_a_large_value_is_written_in_parts():
    value = {
        "file": "a\x9b",
        "empty": [[], {}, "", None],
        "request": {"messages": [{"role": "user", "content": "x\x1b é" * 9_000}] * 200},
    }
    pieces = list(json_pieces(value))
    assert json.loads(b"".join(pieces)) == value
    assert len(pieces) > 5
    assert max(map(len, pieces)) < 2 * PIECE
    assert b"\x1b" not in b"".join(pieces)
    assert all(len(first) >= PIECE for first, _ in pairwise(pieces))


@for_each("value", [None, [], {}, "é\x9b", 1.5, [[]], {"a": {}}, {"a": [1, {"b": [2, [3, {}]]}]}])  # fmt: skip
def test_parts_are_the_json_of_the_whole(value):
    line = json_line(value)
    assert json.loads(line) == value
    assert line == json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("\x9b", "\\u009b").encode() + b"\n"  # fmt: skip


SCRIPT = "import os, sys; from toolcarry_command import main; os.write(1, b'x'); sys.exit(main())"
"""The script of the package, which says when it begins."""


@pytest.mark.slow
@pytest.mark.parametrize("moment", range(1, 31))
def test_an_interrupt_while_the_package_is_imported(moment, environment):
    """Each ends with the exit code of an interrupt and at most one line. The command waits for its input."""
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "inspect", "-"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.read(1) == b"x"
            at = time.monotonic() + moment * 0.015
            wait_until(lambda: time.monotonic() > at)
            process.send_signal(signal.SIGINT)
            error = process.communicate(timeout=30)[1]
        finally:
            process.kill()
    assert (process.returncode, error) in ((130, b"toolcarry: interrupted\n"), (130, b""))


@pytest.mark.slow
def test_an_interrupt_that_the_shell_ignores(environment):
    code = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); {SCRIPT}"
    with subprocess.Popen(
        [sys.executable, "-c", code, "--version"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"x"
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=30)
    assert (process.returncode, error) == (0, b"")
    assert out.startswith(b"toolcarry")
