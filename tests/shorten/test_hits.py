"""The hits of a search are shown file by file: the first ones of each, errors and messages before all."""

import re
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import wire
from support.examples import examples
from support.rows import for_each
from support.shortening import (
    ERROR,
    check_both_carry,
    check_cut_at_its_ends,
    lines_of,
    projected,
    sent,
)

from toolcarry import count_tokens

FORMS = {
    "grep -rn import src": ("{path}:{number}:{text}", ""),
    "grep -r import src": ("{path}:{text}", ""),
    "cd app && rg -n import": ("{path}:{number}:{text}", ""),
    "rg --heading -n import": ("{number}:{text}", "{path}"),
    "git grep -n import": ("{path}:{number}:{text}", ""),
}


def found_in(form: str, heading: str, files: int = 6, hits: int = 60) -> list[list[str]]:
    """Return the lines of a search, those of each file in a list."""
    all_lines = []
    for file in range(files):
        path = f"src/part_{file}/mod.py"
        lines = [heading.format(path=path)] if heading else []
        for number in range(3, 3 + hits):
            text = f"    from thing_{file} import name_{number}"
            lines.append(form.format(path=path, number=number, text=text))
        all_lines.append([*lines, ""] if heading else lines)
    return all_lines


@for_each("command", FORMS)
@pytest.mark.parametrize("limit", [{"max_result_chars": 1_600}, {"max_result_tokens": 500}])
def test_the_first_hits_of_each_file_are_shown(
    rust: ModuleType, command: str, limit: dict[str, int]
) -> None:
    files = found_in(*FORMS[command])
    text = "\n".join(line for lines in files for line in lines)
    shown = projected(rust, command, text, **limit)
    found = lines_of(shown)
    for lines in files:
        own = [line for line in found if line in lines and line]
        assert 2 <= len(own) < 40
        assert own == lines[: len(own)]
        if lines is not files[-1]:
            assert f"{own[-1]}\n... {sum(map(bool, lines)) - len(own)} more lines\n" in shown


def test_hits_of_many_files_are_folded_with_their_number(rust: ModuleType) -> None:
    files = found_in("{path}:{number}:{text}", "", files=50, hits=4)
    text = "\n".join(line for lines in files for line in lines)
    shown = projected(rust, "grep -rn import .", text, max_result_chars=900)
    assert lines_of(shown)[0] == files[0][0]
    assert re.search(r"^\.\.\. [0-9]+ lines of [0-9]+ files$", shown, re.MULTILINE)


def test_lines_around_hits_come_after_all_hits(rust: ModuleType) -> None:
    lines = []
    for number in range(5, 300, 10):
        lines += [
            f"a.py-{number - 1}-before {number}",
            f"a.py:{number}:def name_{number}(self):",
            f"a.py-{number + 1}-after {number}",
            "--",
        ]
    shown = lines_of(
        projected(rust, "grep -n -C1 def a.py b.py", "\n".join(lines[:-1]), max_result_chars=2_000)
    )
    assert set(lines[1::4]) <= set(shown)


def test_messages_and_errors_are_shown_before_other_hits(rust: ModuleType) -> None:
    files = found_in("{path}:{number}:{text}", "", files=40)
    files[17].append('src/part_17/mod.py:200:    raise ValueError("error: no such part")')
    lines = [line for own in files for line in own]
    lines.insert(900, "grep: src/private: Permission denied")
    shown = lines_of(projected(rust, "grep -rn . src", "\n".join(lines), max_result_tokens=300))
    assert {files[17][-1], lines[900]} <= set(shown)


@pytest.mark.parametrize("name", ["Grep", "grep_search", "mcp__files__search_files"])
def test_the_tool_of_an_agent_is_a_command(rust: ModuleType, name: str) -> None:
    text = "\n".join(line for lines in found_in("{path}:{number}:{text}", "") for line in lines)
    messages = wire.turn(name, {"pattern": "import"}, text)
    assert "more lines" in sent(rust, messages, text, max_result_chars=900)


@for_each(
    ("command", "line"),
    [
        ("grep ERROR app.log", "2026-01-01T10:00:{0:02}.123 db: slow query {0}"),
        ("grep ERROR app.log", "10:00:{0:02} db: slow query {0}"),
        ("grep -h word notes", "a word, and more of it {0}"),
        ("cat hits", "a.py:{0}:import os"),
    ],
)
def test_another_text_is_cut_as_before(rust: ModuleType, command: str, line: str) -> None:
    check_cut_at_its_ends(rust, command, "\n".join(line.format(number) for number in range(200)))


paths = st.sampled_from(
    ("a.py", "src/b.rs", "./c/d.ts", "C:\\x\\y.py", "e-1-f.md", "10:3.x", "Makefile")
)
texts = st.sampled_from(
    ("import os", "x: 3", "", "caf\u00e9 \u4e2d", "  return 1", "12:x", "a.py-3-y")
)
errors = st.sampled_from(
    ("grep: x: Is a directory", "a.py:9:raise ValueError: bad", "src/b.rs:7:error[E0308]: mismatched", "b.py:3:FAILED",
     "[ERROR] it broke", "c.js:4:npm ERR! code 1", "d.py:1:not ok 3 odd")
)  # fmt: skip
hits = st.builds(
    lambda path, first, mark, some: [f"{path}{mark}{first + n}{mark}{text}" for n, text in enumerate(some)],
    paths, st.integers(1, 999), st.sampled_from((":", ":", ":", "-")), st.lists(texts, min_size=1, max_size=30),
)  # fmt: skip
headed = st.builds(
    lambda path, some: [path, *[f"{n}:{text}" for n, text in enumerate(some, 1)], ""],
    paths, st.lists(texts, min_size=1, max_size=9),
)  # fmt: skip


@pytest.mark.rust
@examples(600)
@given(
    found=st.lists(st.one_of(hits, headed, st.just(["--"])), max_size=30),
    spoken=st.lists(errors, max_size=4, unique=True),
    room=st.integers(80, 900),
)
def test_both_backends_choose_the_same_hits(
    found: list[list[str]], spoken: list[str], room: int
) -> None:
    messages = wire.bash(
        "rg x", "\n".join([line for lines in [*found, spoken, *found] for line in lines]), "t1"
    )
    check_both_carry(messages, max_result_chars=room)


@given(
    found=st.lists(hits, min_size=12, max_size=30),
    spoken=st.lists(errors, min_size=1, max_size=4, unique=True),
    tokens=st.integers(300, 600),
)
def test_errors_are_shown_and_all_lines_are_those_of_the_text(
    rust: ModuleType, found: list[list[str]], spoken: list[str], tokens: int
) -> None:
    lines = [line for own in [*found[:9], spoken, *found[9:]] for line in own]
    text = "\n".join(lines)
    shown = projected(rust, "grep -rn x .", text, max_result_tokens=tokens)
    if shown == text or "shortened" not in shown:
        return
    kept = lines_of(shown)
    assert count_tokens(shown) <= tokens
    assert {line for line in lines if ERROR.search(line)} <= set(kept)
    rest = iter([line.rstrip(" \t") for line in lines])
    assert all(line in rest for line in kept)
