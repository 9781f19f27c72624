"""The state of the working directory, as a session goes on in it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.rows import for_each

from toolcarry.sessions.world import World, changes_in, look


def talk(name: str, arguments: dict[str, Any], answer: str) -> list[dict[str, Any]]:
    """A call with its result, in the format of OpenAI Chat."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "t1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "t1", "content": answer},
    ]  # fmt: skip


READ, WRITE, EDIT = ("hens.txt", "one\ntwo\n"), {"file_path": "hens.txt", "content": "one\ntwo\n"}, {"file_path": "hens.txt", "old_string": "zero", "new_string": "one"}  # fmt: skip
PATCH = "*** Begin Patch\n*** Update File: hens.txt\n@@\n-zero\n+one\n*** End Patch"
STATES = [
    ("Write", WRITE, "Written.", "one\ntwo\n", "same"),
    ("Write", WRITE, "Written.", "one\n", "changed"),
    ("Write", WRITE, "Written.", None, "gone"),
    ("write_file", WRITE, "Written.", "one\n", "changed"),
    ("Edit", EDIT, "Edited.", "one\ntwo\n", "same"),
    ("Edit", EDIT, "Edited.", "zero\n", "changed"),
    ("apply_patch", {"input": PATCH}, "Done.", "zero\n", "changed"),
    ("Read", {"file_path": "hens.txt"}, "     1→one\n     2→two\n", "one\ntwo\n", "same"),
    ("Read", {"file_path": "hens.txt"}, "1\tone\n2\ttwo\n3\t", "one\ntwo\n", "same"),
    ("Read", {"file_path": "hens.txt"}, "1\tone\n2\ttwo\n3\t", "one\nthree\n", "changed"),
    ("Read", {"file_path": "hens.txt", "offset": 2, "limit": 1}, "2\ttwo", "one\nthree\n", "unknown"),
    ("Read", {"file_path": "hens.txt"}, "no lines with numbers", "one\n", "unknown"),
]  # fmt: skip


@for_each("name, arguments, answer, content, state", STATES)
def test_the_state_of_a_file(tmp_path: Path, name: str, arguments: Any, answer: str, content: str | None, state: str) -> None:  # fmt: skip
    path = tmp_path / "hens.txt"
    path.unlink(missing_ok=True)
    if content is not None:
        path.write_text(content)
    world = look(tmp_path, talk(name, arguments, answer))
    assert [(each.path, each.state) for each in world.files] == [("hens.txt", state)]
    assert world.stale == (["hens.txt"] if state in ("changed", "gone") else [])


def test_what_is_no_file_of_the_session(tmp_path: Path) -> None:
    failed = talk("Write", WRITE, "[Tool use failed]\ndenied")
    other = talk("Bash", {"command": "rm hens.txt"}, "")
    odd = talk("Write", {"file_path": 7, "content": ""}, "")
    broken = talk("Write", WRITE, "")
    broken[0]["tool_calls"][0]["function"]["arguments"] = "no JSON"
    for messages in (failed, other, odd, broken):
        assert look(tmp_path, messages).files == ()


def test_the_last_call_decides(tmp_path: Path) -> None:
    (tmp_path / "hens.txt").write_text("two\n")
    first = talk("Write", WRITE, "Written.")
    last = talk("Write", {**WRITE, "content": "two\n"}, "Written.")
    assert look(tmp_path, [*first, *last]).stale == []


def test_large_and_binary_files_are_not_compared(tmp_path: Path) -> None:
    for content in (b"\xff\xfe", b"a" * (5 << 20)):
        (tmp_path / "hens.txt").write_bytes(content)
        [file] = look(tmp_path, talk("Write", WRITE, "Written.")).files
        assert file.state == "unknown"


def test_a_repository(tmp_path: Path) -> None:
    run = ["git", "-C", str(tmp_path), "-c", "user.name=Ann", "-c", "user.email=ann@farm.example"]
    subprocess.run([*run, "init", "-q", "-b", "barn"], check=True)
    (tmp_path / "old name.txt").write_text("hens\n" * 10)
    subprocess.run([*run, "add", "."], check=True)
    subprocess.run([*run, "commit", "-qm", "First"], check=True)
    subprocess.run([*run, "mv", "old name.txt", "neuer Näme.txt"], check=True)
    (tmp_path / "geese.txt").write_text("nine\n")
    world = look(tmp_path, [])
    assert (world.branch, world.is_repository, len(world.head) >= 7) == ("barn", True, True)
    assert world.changed == ("neuer Näme.txt", "geese.txt")
    assert world.lines()[1] == "uncommitted changes: 2 files (neuer Näme.txt, geese.txt)"
    before = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert look(tmp_path, []) == world
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == before


def test_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert look(tmp_path, []).lines()[0] == f"{tmp_path}: no git repository"


def test_many_names_are_counted() -> None:
    changed = tuple(changes_in("".join(f"?? {number}\0" for number in range(9))))
    line = World("/barn", changed=changed, is_repository=True).lines()[1]
    assert line == "uncommitted changes: 9 files (0, 1, 2, 3, 4, 4 more)"
