"""Rule 1: no statement of a hand-over says more than the conversation."""

import json

import pytest
from support.builders.handovers import FILLER, after_much, before_others, section
from support.builders.wire import bash, edit, join, read, turn, write

from toolcarry import CarryPolicy, carry


def test_a_result_is_no_success_unless_it_says_so() -> None:
    text = after_much(bash("make", ""), bash("deploy", "queued"))
    assert "$ make\n→ no output" in text
    assert "$ deploy\n→ queued" in text
    assert "ok" not in text.lower().replace("broken", "")


def test_an_exit_code_is_named_once_and_never_turned_into_success() -> None:
    text = after_much(
        bash("false-ish", "Exit code: 3\nWall time: 1 seconds\nOutput:\nbroken", is_error=True)
    )
    assert "$ false-ish (exit code 3)\n→ broken" in text


def test_an_exit_code_is_named_if_nothing_calls_it_a_failure() -> None:
    text = after_much(
        bash("check", "Exit code: 2\nWall time: 1 seconds\nOutput:\nodd", is_error=False)
    )
    assert "$ check (exit code 2)\n→ odd" in text


def test_an_edit_of_all_places_says_so() -> None:
    given = {"file_path": "/w/a.py", "old_string": "a", "new_string": "b", "replace_all": True}
    edits = [turn("Edit", given, "ok", "e1"), turn("Edit", given, "ok", "e2")]
    text = after_much(
        *edits, *[bash(f"echo {n}", FILLER[:3_000], f"c{n}") for n in range(12)], tokens=900
    )
    assert "2 edits, -2 +2 lines in all, some in each place" in text


def test_messages_of_a_shell_about_itself_are_named() -> None:
    noise = "bash: fork: retry: Resource temporarily unavailable"
    text = after_much(bash("git log", f"{noise}\n{noise}"))
    assert "2 lines of the shell about fork and nothing else" in text


def test_a_read_is_not_shown_as_current_after_an_edit() -> None:
    text = after_much(
        read("/w/a.py", "1\tx = 1\n2\ty = 2", "r1"),
        edit("/w/a.py", "x = 1", "x = 5", "e1"),
        tokens=4_000,
    )
    assert "read /w/a.py (changed since, by #3)" in text
    shown = section(text, "Files Changed")
    assert "x = 5\ny = 2" in shown
    assert "x = 1" not in shown


def test_a_message_of_a_reading_tool_is_no_text_of_the_file() -> None:
    text = after_much(
        read("a.py", "Invalid path: it should be absolute."), *[bash(f"d {n}") for n in range(4)]
    )
    assert "### #2 read a.py\n→ Invalid path: it should be absolute." in text or (
        "read a.py → Invalid path: it should be absolute." in text
    )
    assert "### a.py" not in text


def test_a_change_in_doubt_leaves_the_text_unknown() -> None:
    text = after_much(
        write("/w/a.py", "x = 1\ny = 2\nz = 3"),
        edit("/w/a.py", "x = 1", "x = 5", content="Could not apply: invalid anchor"),
        bash("ls"),
    )
    assert "→ Could not apply: invalid anchor" in text
    assert "### /w/a.py" not in text


def test_merged_edits_count_all_lines() -> None:
    edits = [edit("/w/a.py", f"a{n}", f"b{n}\nc{n}", f"e{n}") for n in range(9)]
    others = [bash(f"echo {n}", FILLER[:900], f"c{n}") for n in range(12)]
    text = after_much(*edits, *others, tokens=900)
    assert "9 edits, -9 +18 lines in all" in section(text, "Earlier")


def test_namesakes_are_different_files() -> None:
    text = before_others(
        read("/w/one/a.py", "1\tfirst = 1", "r1"), edit("/w/two/a.py", "x", "second = 2", "e1")
    )
    assert "first = 1" in section(text, "Files Read")
    assert "changed since" not in text


def test_a_plan_that_a_later_failure_contradicts_says_so() -> None:
    todos = [{"content": "Commit", "status": "completed", "activeForm": "Committing"}]
    text = after_much(
        turn("TodoWrite", {"todos": todos}, "Todos have been modified"),
        bash("git commit -m x", "error: hook declined", is_error=True),
    )
    assert "- [x] Commit\n(written by #2; failed since then, and open: #3)" in text
    assert "Committing" not in text


def test_lines_of_a_file_have_its_numbers() -> None:
    numbered = "".join(f"{n:6}\tline {n}\n" for n in range(1, 3000))
    text = after_much(
        read("/w/a.txt", "     1\t\n     2\tsecond\n     3\tthird", "r1"),
        read("/w/b.txt", numbered, "r2", offset=1),
        edit("/w/b.txt", "line 70\n", "new 70\n", "e1"),
        *[bash(f"date {n}") for n in range(4)],
        tokens=4_000,
    )
    shown = section(text, "Files Changed")
    first = int(shown.partition("(lines ")[2].partition("-")[0])
    lines = shown.partition("```\n")[2].split("\n")
    assert lines[70 - first] == "new 70"
    assert lines[69 - first] == "line 69"
    assert "\n\nsecond\nthird\n" in text


@pytest.mark.parametrize(
    "output",
    [
        json.dumps({"log": FILLER[:4_000], "code": 0}),
        json.dumps([FILLER[n : n + 90] for n in range(0, 9_000, 90)]),
        "\n".join(json.dumps({"line": FILLER[n : n + 90]}) for n in range(0, 9_000, 90)),
    ],
)
def test_a_marker_is_no_part_of_the_json_of_a_result(output: str) -> None:
    messages = join(read("/w/big.txt", FILLER * 4, "big"), turn("query", {"q": "x"}, output))
    policy = CarryPolicy(max_tokens=1_500, layout="handover", keep="head")
    text = carry(messages, policy=policy).text
    shown = next(part for part in text.split("```\n") if part.startswith(("{", "[{", '["')))
    body, found, _ = shown.partition("\n... [truncated")
    assert found
    for each in body.split("\n") if body.startswith('{"line') else [body]:
        assert "toolcarry" not in str(json.loads(each))
        assert "truncated" not in str(json.loads(each))
