"""A line on stderr about unknown structures; ``--strict`` fails, and so does a file in which nothing is read."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("rust")

Run = Callable[..., subprocess.CompletedProcess[bytes]]

SAID = [
    {"role": "user", "content": "Boil the egg."},
    {"role": "assistant", "content": "It is boiled."},
]
ODD = [{"segments": ["I boil."], "id": "m1"}]
NOTE = b"1 of 3 messages has a structure that toolcarry does not know (keys: segments, id); it was "
FATES = {"history import": b"stored unchanged, but not read", "project": b"left unchanged"}

COMMANDS = {
    "inspect": ["inspect"],
    "carry": ["carry"],
    "recount": ["recount"],
    "convert": ["convert", "--destination", "openai"],
    "project": ["project", "--destination", "openai-chat"],
    "history import": ["history", "import", "--db", "h.db"],
}


def written(folder: Path, messages: object) -> Path:
    path = folder / "session.json"
    path.write_text(json.dumps(messages))
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_is_read_in_part(run: Run, tmp_path: Path, name: str) -> None:
    path = written(tmp_path, [*SAID, *ODD])
    command, note = COMMANDS[name], NOTE + FATES.get(name, b"left out")
    done = run(*command, path)
    assert done.returncode == 0
    assert done.stderr.count(note) == 1
    strict = run(*command, "--strict", path)
    assert strict.returncode == 1
    assert strict.stderr.count(note) == 1


def test_convert_says_it_once(run: Run, tmp_path: Path) -> None:
    done = run(
        "convert", "--destination", "openai", written(tmp_path, [*SAID, {**ODD[0], "kind": "egg"}])
    )
    assert len(done.stderr.splitlines()) == 1
    assert b"egg" not in done.stderr


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_file_in_which_nothing_is_read(run: Run, tmp_path: Path, command: list[str]) -> None:
    path = written(tmp_path, ODD * 2)
    done = run(*command, path)
    assert done.returncode == 1
    assert b"2 of 2 messages have a structure" in done.stderr


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_file_that_is_read(run: Run, tmp_path: Path, command: list[str]) -> None:
    done = run(*command, "--strict", written(tmp_path, SAID))
    assert done.returncode == 0
    assert b"structure" not in done.stderr


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_an_array_of_conversations(run: Run, tmp_path: Path, command: list[str]) -> None:
    done = run(*command, written(tmp_path, [{"messages": SAID}, {"messages": SAID}]))
    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if b"many conversations" in line]
    assert len(said) == 1


def test_keys_are_safe_to_print(run: Run, tmp_path: Path) -> None:
    done = run("inspect", written(tmp_path, [{"\x1b]0;title\x07": 1, "k" * 500: 2}]))
    assert b"\x1b]0" not in done.stderr
    assert b"k" * 41 not in done.stderr


def test_a_report_of_a_file_in_which_nothing_is_read(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("plotly", reason="plotly is not installed; it is part of the extra report")
    page = tmp_path / "page.html"
    done = run("report", written(tmp_path, ODD * 2), "-o", page)
    assert done.returncode == 1
    assert b"2 of 2 messages have a structure" in done.stderr
    assert 'id="unread" data-value="2"' in page.read_text("utf-8")


def test_a_batch_counts_files_that_are_read_in_part(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, ODD * 2)
    done = run("batch", "--job", "inspect", "--out", tmp_path / "rows.jsonl", path)
    assert done.stderr.endswith(b"1 file done, 1 with something unread\n")


def test_the_whole_file_counts_with_strict(run: Run, tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "boil"}}
    said = {"type": "tool_result", "tool_use_id": "t1", "content": "soft " * 30_000}
    pair = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [said]}]
    path = written(tmp_path, [*ODD, *pair])
    done = run("carry", "--strict", path)
    assert done.returncode == 1
    assert b"1 of 3 messages has a structure" in done.stderr
