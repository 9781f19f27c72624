"""Inputs that may never end are refused; pipes of a shell are read. Stores are never replaced by an output."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from toolcarry.tract import Tract

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes"),
    pytest.mark.usefixtures("rust"),
]

REFUSED = b"is a device or a named pipe, which may never end"
READERS = (
    "carry {}",
    "inspect {}",
    "convert {} --destination openai",
    "project {}",
    "recount {}",
    "history import {} --db new.db",
)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A named pipe that nobody writes to."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize("line", READERS)
def test_an_endless_input_is_refused(run, tmp_path, pipe, line) -> None:
    link = tmp_path / "link"
    link.symlink_to("/dev/zero")
    for name in (pipe, "/dev/zero", link):
        done = run(*line.format(name).split())
        assert done.returncode == 1
        assert REFUSED in done.stderr
    assert not (tmp_path / "new.db").exists()


def test_the_summary_may_not_be_endless_either(run, example, pipe) -> None:
    for name in (pipe, "/dev/zero"):
        done = run("carry", example, "--summary", f"@{name}")
        assert done.returncode == 2
        assert done.stderr == f"toolcarry: --summary @{name}: {REFUSED.decode()}\n".encode()
    damaged = pipe.with_name("damaged.gz")
    damaged.write_bytes(b"\x1f\x8b\x08nothing")
    done = run("carry", example, "--summary", f"@{damaged}")
    assert done.returncode == 2
    assert b": damaged gzip after 0 unpacked bytes" in done.stderr


def test_other_files_are_still_read(run, example, pipe) -> None:
    done = run("carry", pipe, example)
    assert done.returncode == 1
    assert done.stdout.strip() == run("carry", example).stdout.strip()


@pytest.mark.parametrize("line", READERS)
def test_a_pipe_of_the_shell_is_read(command, environment, tmp_path, example, line) -> None:
    reader, writer = os.pipe()
    with subprocess.Popen(["cat", example], stdout=writer):
        os.close(writer)
        args = line.format(f"/dev/fd/{reader}").split()
        done = subprocess.run(
            [*command, *args],
            capture_output=True,
            check=False,
            cwd=tmp_path,
            env=environment,
            pass_fds=[reader],
            timeout=60,
        )
    os.close(reader)
    expected = b"" if args[0] == "history" else None
    assert REFUSED not in done.stderr
    if expected is None and args[0] != "project":  # the example is a session, and no request
        plain = subprocess.run(
            [*command, *line.format(example).split()],
            capture_output=True,
            check=True,
            cwd=tmp_path,
            env=environment,
            timeout=60,
        )
        assert done.stdout.replace(f"/dev/fd/{reader}".encode(), b"F") == plain.stdout.replace(
            os.fsencode(example), b"F"
        )


def test_standard_input_may_be_a_pipe_and_no_device(
    command, environment, tmp_path, example, pipe
) -> None:
    args = [*command, "carry", "-"]
    with Path("/dev/zero").open("rb") as zero:
        done = subprocess.run(
            args, stdin=zero, capture_output=True, check=False, env=environment, timeout=60
        )
    assert done.returncode == 1
    assert REFUSED in done.stderr
    with subprocess.Popen(["sh", "-c", f"cat '{example}' > '{pipe}'"]), pipe.open("rb") as given:
        named = subprocess.run(
            args, stdin=given, capture_output=True, check=True, env=environment, timeout=60
        )
    with example.open("rb") as file:
        plain = subprocess.run(
            args, stdin=file, capture_output=True, check=True, env=environment, timeout=60
        )
    assert named.stdout == plain.stdout
    empty = subprocess.run(
        args,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env=environment,
        timeout=60,
    )
    assert (empty.returncode, empty.stderr) == (1, b"stdin: is empty\n")


WRITERS = ("carry {} -o {}", "convert {} --destination openai -o {}", "recount {} -o {}")


@pytest.mark.parametrize("line", [*WRITERS, "history export --db other.db -o {1}"])
@pytest.mark.parametrize("end", ["", "-wal", "-shm"])
def test_an_output_replaces_no_store(run, tmp_path, example, line, end) -> None:
    store, link = tmp_path / "history.db", tmp_path / "link"
    with Tract.open(tmp_path / "other.db") as other, Tract.open(store) as tract:
        other.user("Something else.")
        tract.user("Something.")
        target = tmp_path / f"history.db{end}"
        assert target.exists()
        before = target.read_bytes()
        link.symlink_to(target)
        for name in (target, link):
            done = run(*line.format(example, name).split())
            assert done.returncode == 2
            assert (
                done.stderr
                == f"toolcarry: -o {name}: is a store, which is never overwritten\n".encode()
            )
        assert end == "-shm" or target.read_bytes() == before
        assert tract.verify().is_whole


def test_an_output_replaces_other_files(run, tmp_path, example) -> None:
    for name in ("notes-wal", "a.db", "-wal"):
        (tmp_path / name).write_bytes(b"SQLite format 2")
        assert run("carry", example, "--output", f"./{name}").returncode == 0
        assert (tmp_path / name).read_bytes().startswith(b"[CONTEXT")
