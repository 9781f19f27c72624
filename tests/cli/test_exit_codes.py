"""Exit codes, signals and pipes: no command ends in a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from toolcarry.cli import main

pytest.importorskip("pty")  # without it, signals and pipes are others, too

READ = ("Read", {"file_path": "/a.py"}, "x = 1")
OPEN = ("Bash", {"command": "sleep 9"}, None)


@pytest.mark.parametrize(
    "args", [["--help"], ["carry", "--help"], ["inspect", "-h"], ["--version"]]
)
def test_help(run, args):
    done = run(*args)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout


def test_completion(run):
    env = {"_TOOLCARRY_COMPLETE": "complete_bash", "COMP_WORDS": "toolcarry ca", "COMP_CWORD": "1"}
    assert run(env=env).stdout.split() == [b"carry"]


def test_help_names_the_exit_codes(run):
    text = " ".join(run("--help").stdout.decode().split())
    assert "1 a file is not a conversation" in text
    assert "130 interrupted; 141 broken pipe" in text


@pytest.mark.parametrize(
    "args", [["carry"], ["nothing"], ["carry", "--nothing", "f"], ["inspect", "-", "-"]]
)
def test_usage(run, args):
    done = run(*args)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Usage: toolcarry" in done.stderr or b"read only once" in done.stderr


def test_main_returns_its_code(capsysbinary, tmp_path):
    assert main(["--version"]) == 0
    assert main(["carry", str(tmp_path / "absent")]) == 3
    assert main(["carry"]) == 2
    assert b"no such file" in capsysbinary.readouterr().err


@pytest.mark.usefixtures("rust")
@pytest.mark.parametrize("command", ["carry", "inspect"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"{", "not JSON at byte 1"),
        (b"\x00\x01\xff\xfe" * 100, "not UTF-8 at byte 2"),
        (b"hello\nworld\n", "not JSON at byte 0"),
        (b"12", "neither an object nor an array, but int"),
        (b"[1]", "message 0 is not an object, but int"),
        (b'{"messages": []}\n{"messages": []}', "many conversations"),
        (b"[" * 100_000, "nested deeper than 128 at byte 128"),
    ],
)
def test_a_file_that_is_no_conversation(run, tmp_path, write, command, content, reason):
    (tmp_path / "bad").write_bytes(content)
    done = run(command, "bad", write("good.json", READ), "--json")
    assert done.returncode == 1
    assert done.stderr.decode().startswith("bad: ")
    assert reason in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
    assert b"good.json" in done.stdout


def test_files_that_cannot_be_read(run, tmp_path, write):
    good = write("good.json", READ)
    (tmp_path / "folder").mkdir()
    done = run("carry", "folder", good)
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        1,
        b"folder: is a directory without events",
    )
    assert b"x = 1" in done.stdout
    absent = run("carry", "absent", "folder", good, "good.json/below", "")
    assert absent.returncode == 3
    assert absent.stderr.count(b"no such file") == 3
    assert b"x = 1" in absent.stdout
    if os.geteuid():
        good.chmod(0)
        assert run("carry", good).returncode == 1


@pytest.mark.usefixtures("rust")
def test_strict(run, write, example):
    assert run("carry", "--strict", write("good.json", READ)).returncode == 0
    lone = write("open.json", READ, OPEN)
    for command in ("carry", "inspect"):
        assert run(command, lone).returncode == 0
        done = run(command, "--strict", lone)
        assert done.returncode == 1
        assert done.stderr.endswith(b"open.json: 1 call without a result\n")
        assert done.stdout == run(command, lone).stdout
        done = run(command, "--strict", example)
        assert b"1 call without a result, 1 line without a JSON object skipped: 20\n" in done.stderr


@pytest.mark.usefixtures("rust")
def test_strict_checks_blocks_outside_the_budget(run, write):
    reads = [("Read", {"file_path": f"/{number}.py"}, "word " * 100) for number in range(60)]
    done = run("carry", "--strict", "--max-chars", "800", write("a.json", OPEN, *reads))
    assert done.returncode == 1
    assert b"1 call without a result" in done.stderr


@pytest.mark.usefixtures("rust")
@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra(environment, example, missing):
    code = f"import sys; sys.modules['{missing}'] = None; from toolcarry.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "inspect", example],
        capture_output=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"pip install 'toolcarry[cli]'" in done.stderr


def test_the_module_runs(environment):
    done = subprocess.run(
        [sys.executable, "-m", "toolcarry", "--version"],
        capture_output=True,
        check=True,
        env=environment,
    )
    assert done.stdout.startswith(b"toolcarry ")


def broken_pipe() -> int:
    """Return the writing end of a pipe without a reader."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@pytest.mark.usefixtures("rust")
@pytest.mark.parametrize(
    "args",
    [
        ["--help"],
        ["--version"],
        ["carry", "a.json"],
        ["inspect", "a.json"],
        ["inspect", "--json", "a.json"],
    ],
)
def test_broken_pipe(command, environment, tmp_path, write, args):
    write("a.json", READ)
    writing = broken_pipe()
    done = subprocess.run(
        [*command, *args],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_broken_pipe_on_stderr(command, environment, tmp_path, write):
    write("a.json", READ)
    writing = broken_pipe()
    done = subprocess.run(
        [*command, "carry", "a.json", "absent"],
        stdout=subprocess.PIPE,
        stderr=writing,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    os.close(writing)
    assert done.returncode == 141


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_head_takes_one_line(command, environment, write, unbuffered):
    path = write("a.json", ("Read", {"file_path": "/a"}, "line\n" * 100_000))
    script = '"$@" | head -1; echo "${PIPESTATUS[0]}"'
    done = subprocess.run(
        ["bash", "-c", script, "-", *command, "carry", path, "--max-chars", "none"],
        capture_output=True,
        check=True,
        env=environment | {"PYTHONUNBUFFERED": unbuffered},
    )
    assert done.stdout == b"[CONTEXT FROM PREVIOUS SESSION]\n141\n"
    assert done.stderr == b""


@pytest.mark.usefixtures("rust")
@pytest.mark.parametrize(
    ("closed", "code"), [(">&-", 1), ("2>&-", 0), (">&- 2>&-", 1), (">/dev/full", 1)]
)
def test_closed_streams(command, environment, tmp_path, example, closed, code):
    if "full" in closed and not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    for name in ("carry", "inspect"):
        done = subprocess.run(
            ["bash", "-c", f'"$@" {closed}', "-", *command, name, example],
            capture_output=True,
            check=False,
            env=environment,
        )
        assert done.returncode == code
        assert b"Traceback" not in done.stderr
        assert b"Exception" not in done.stderr


def test_closed_stdin(command, environment):
    done = subprocess.run(
        ["bash", "-c", '"$@" <&-', "-", *command, "carry", "-"],
        capture_output=True,
        check=False,
        env=environment,
    )
    assert (done.returncode, done.stderr) == (1, b"stdin: is closed\n")


def test_interrupt(command, environment, tmp_path, write):
    """Stopped while it waits for stdin, with a file done and a file of its own begun."""
    path = write("a.json", READ)
    process = subprocess.Popen(
        [*command, "carry", path, "-", "-o", "out.md"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment,
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith(b"==> ")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, b"")
    assert list(tmp_path.iterdir()) == [path]
