"""Rule 2: the plan, requests, pending calls and open failures."""

from typing import Any

import pytest
from support.builders.handovers import FILLER, after_much, answered, said, section, word
from support.builders.wire import (
    assistant,
    bash,
    edit,
    open_call,
    read,
    result,
    turn,
    use,
    user,
    write,
)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("TodoWrite", {"todos": [{"content": "One", "status": "completed"}, {"content": "Two", "status": "in_progress"}, {"content": "Six", "status": "pending"}]}),
        ("update_plan", {"plan": [{"step": "One", "status": "completed"}, {"step": "Two", "status": "in_progress"}, {"step": "Six", "status": "pending"}]}),
        ("write_todos", {"todos": [{"description": "One", "status": "completed"}, {"description": "Two", "status": "in_progress"}, {"description": "Six", "status": "pending"}]}),
        ("update_todo_list", {"todos": "[x] One\n[-] Two\n[ ] Six"}),
        ("any_tool", {"entries": [{"title": "One", "state": "done"}, {"title": "Two", "state": "active"}, {"title": "Six", "state": "open"}]}),
    ],
)  # fmt: skip
def test_a_plan_is_known_by_its_structure(tool: str, given: dict[str, Any]) -> None:
    text = after_much(turn(tool, given, "ok"), bash("ls"))
    assert "## Plan\n- [x] One\n- [>] Two\n- [ ] Six\n" in text


def test_a_plan_of_single_items_is_put_together() -> None:
    text = after_much(
        turn("TaskCreate", {"subject": "One"}, "Task #1 created successfully: One", "a"),
        turn("TaskCreate", {"subject": "Two"}, "Task #2 created successfully: Two", "b"),
        turn("TaskUpdate", {"taskId": "1", "status": "completed"}, "Updated task #1 status", "c"),
    )
    assert "## Plan\n- [x] One\n- [ ] Two\n(written by #4)" in text


def test_requests_stand_at_their_places_and_the_last_one_is_whole() -> None:
    long = "Now do this.\n" + "Because it matters to us.\n" * 12
    many = [bash(f"seq {n}", FILLER[:2_000], f"s{n}") for n in range(14)]
    text = after_much(
        said("Begin with the parser."), *many, said(long), bash("ls", "a.py"), tokens=900
    )
    assert "- **User:** Begin with the parser." in section(text, "Earlier")
    steps = section(text, "Latest Steps")
    assert long.strip() in steps
    assert steps.index("**User:**") < steps.index("$ ls")
    assert "No answer of the assistant follows." in text


def test_a_handled_request_stays_handled() -> None:
    text = after_much(said("Count them."), bash("ls | wc -l", "12"), answered("There are 12."))
    assert "no final answer" not in text
    assert text.index("→ 12") < text.index("**Assistant, last:** There are 12.")


def test_texts_of_the_client_are_no_requests() -> None:
    text = after_much(
        said("<system-reminder>Be careful.</system-reminder>\nFix it."),
        said("<command-name>/clear</command-name>"),
        bash("ls"),
    )
    assert "**User:** Fix it." in text
    assert "Be careful" not in text
    assert "/clear" not in text


def test_what_the_user_said_to_a_rejected_call_is_quoted() -> None:
    words = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nUse make, not npm."
    text = after_much(bash("npm run build", words, is_error=True), bash("ls"))
    assert "$ npm run build (rejected by the user)\n→ the user said: Use make, not npm." in text
    assert "Open Failures" not in text


def test_calls_whose_result_was_not_seen_are_marked() -> None:
    both = [
        assistant(use("p1", command="sleep 9"), use("p2", command="sleep 8")),
        user(result("p1", "woke")),
    ]
    text = after_much(open_call("Bash", {"command": "lost"}, "l1"), bash("ls", "x", "k"), both)
    assert "$ lost\n→ no result recorded" in text
    assert "$ sleep 9\n→ woke" in text
    assert (
        "$ sleep 8\n→ issued just before the hand-over, result not seen: check before repeating"
        in text
    )


def test_open_failures_are_those_that_nothing_resolved() -> None:
    failed = {"is_error": True}
    text = after_much(
        bash("cargo test", "Exit code 101\nerror[E0308]: mismatched types", "f1", **failed),
        bash("cargo test -q", "test result: ok", "f2"),
        bash("grep -r nothing .", "Exit code 1", "f3", **failed),
        read("/w/no.py", "File does not exist.", "f4", is_error=True),
        write("/w/no.py", "made = 1", "f5"),
        bash("npm run lint", "Exit code 1\nerror: 3 problems", "f6", **failed),
        bash("npm run lint", "Exit code 1\nerror: 3 problems", "f7", **failed),
    )
    found = section(text, "Open Failures").strip().split("\n")
    assert found == ["- #8 $ npm run lint → exit code 1: error: 3 problems"]


def test_tests_that_failed_are_open_whatever_the_exit_code() -> None:
    text = after_much(
        bash("pytest a.py | tail -3", "x\n=== 2 failed, 3 passed in 1s ===", "a"),
        bash("cargo test | tail -1", "test result: FAILED. 3 passed; 1 failed; 0 ignored", "b"),
        bash("cargo test | tail -1", "test result: ok. 4 passed; 0 failed; 0 ignored", "c"),
        bash("cat notes | tail -1", "5 failed", "d"),
    )
    found = section(text, "Open Failures").strip().split("\n")
    assert found == ["- #2 $ pytest a.py | tail -3 → 2 failed, 3 passed in 1s"]


SETTLED = {
    "another way to run the same": ("python -m pytest tests/a.py -x", "1 failed", [bash("uv run pytest tests/a.py -q", "1 passed")]),
    "all tests": ("pytest tests/a.py::test_x", "E   assert 0", [bash("python3.11 -m pytest", "9 passed")]),
    "the folder of the test": ("pytest tests/a.py", "E   assert 0", [bash("CI=1 pytest tests/", "9 passed")]),
    "the test that had failed": ("pytest", "FAILED tests/a.py::test_x", [bash("pytest tests/a.py", "1 passed")]),
    "other flags": ("git push", "fatal: no upstream", [bash("git push -u origin main", "done")]),
    "another message": ("git commit -m x", "error: hook declined", [bash("git commit -m y", "[main 1] y")]),
    "other options": ("tool --yes a", "error: unknown option '--yes'", [bash("tool b", "done")]),
    "the program's other name": ("python a.py", "bash: python: command not found", [bash("python3 a.py", "done")]),
    "an edit and a build": ("cargo build", "error[E1]: no\n --> src/a.rs:1", [edit("src/a.rs", "x", "y", "e"), bash("cargo test", "ok")]),
    "an edit and a run": ("python tool.py", 'File "/w/a.py", line 1\nKeyError: 1', [edit("/w/a.py", "x", "y", "e"), bash("python main.py", "done")]),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(SETTLED))
def test_a_failure_that_was_settled_in_another_form_is_not_open(name: str) -> None:
    command, output, later = SETTLED[name]
    text = after_much(bash(command, f"Exit code 1\n{output}", "f", is_error=True), *later)
    assert "## Open Failures" not in text


@pytest.mark.parametrize(
    "command", ["which tmux && tmux -V", "command -v tmux", "type tmux && tmux new"]
)
def test_a_program_that_is_not_there_is_an_answer(command: str) -> None:
    text = after_much(bash(command, "Exit code 1\ntmux not found", "f", is_error=True))
    assert "## Open Failures" not in text


STILL_OPEN = {
    "a part of what had failed": ("pytest", "FAILED tests/a.py::test_x", [bash("pytest tests/b.py", "1 passed")]),
    "another package": ("cargo build -p core", "error[E1]: no", [bash("cargo build -p py", "done")]),
    "another page": ("curl https://a.example", "error: refused", [bash("curl https://b.example", "done")]),
    "an edit alone": ("cargo build", "error[E1]: no\n --> src/a.rs:1", [edit("src/a.rs", "x", "y", "e")]),
    "a build after failed tests": ("cargo test", "src/a.rs:1: panicked", [edit("src/a.rs", "x", "y", "e"), bash("cargo build", "done")]),
    "an edit of another file": ("cargo build", "error[E1]: no\n --> src/a.rs:1", [edit("src/b.rs", "x", "y", "e"), bash("cargo run", "done")]),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(STILL_OPEN))
def test_a_success_of_something_else_settles_no_failure(name: str) -> None:
    command, output, later = STILL_OPEN[name]
    text = after_much(bash(command, f"Exit code 1\n{output}", "f", is_error=True), *later)
    assert f"- #2 $ {command} → " in section(text, "Open Failures")


NOISE = "\n".join(f"compiling part {word(n)} of the whole program" for n in range(12))


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (f"{NOISE}\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\nStop: done\nerror_log closed", "Stop: done"),
        (f"npm ERR! code ELIFECYCLE\nnpm ERR! errno 1\n{NOISE}\nnpm ERR! missing script: lint", "npm ERR! missing script: lint"),
        (f"test parse_error ... ok\n{NOISE}\ntest other ... FAILED", "test other ... FAILED"),
        (f"{NOISE}\nthread 'main' panicked at src/a.rs:2:5:\nno such node\nnote: run with a backtrace", "thread 'main' panicked at src/a.rs:2:5: no such node"),
        (f"tool: unrecognized option: a\nTool 1.36\n{NOISE}\n  w  wide", "tool: unrecognized option: a"),
        (f"ERROR: captured, not the reason\n{NOISE}\nE   assert 1 == 2", "E assert 1 == 2"),
        (f"{NOISE}\nerror: could not compile `a`\nerror[E0308]: mismatched types", "error[E0308]: mismatched types"),
    ],
)  # fmt: skip
def test_an_open_failure_quotes_the_line_that_says_the_error(output: str, line: str) -> None:
    text = after_much(bash("make all", f"Exit code 1\n{output}", "f", is_error=True))
    found = section(text, "Open Failures").replace("E   assert", "E assert")
    assert f"- #2 $ make all → exit code 1: {line}\n" in found


@pytest.mark.parametrize(
    "said_by_client",
    [
        "Base directory for this skill: /home/ann/.claude/skills/review\n\n# Review\n\nRead the difference first.",
        "<skill>\n<name>review</name>\nRead the difference first.\n</skill>",
        "<environment_context>\n<cwd>/w</cwd>\nRead the difference first.",
        "This session is being continued from a previous conversation that ran out of context. Read the difference first.",
        "<task-notification>\n<id>1</id>\n</task-notification>\nRead the output file to retrieve the result: Read the difference first.",
    ],
)
def test_texts_of_a_skill_or_a_client_are_no_words_of_the_user(said_by_client: str) -> None:
    text = after_much(said("Fix it."), said(said_by_client), bash("ls"))
    assert "**User:** Fix it." in text
    assert "Read the difference" not in text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>a.py only</command-args>", "/review a.py only"),
        ("<additional_data>\nx\n</additional_data>\n<user_query>\nFix it.\n</user_query>", "Fix it."),
        ("<task>\nFix it.\n</task>", "Fix it."),
    ],
)  # fmt: skip
def test_what_the_user_typed_is_shown_without_the_tags_of_the_client(
    written: str, shown: str
) -> None:
    assert f"**User:** {shown}\n" in after_much(said(written), bash("ls"))


def test_a_command_that_failed_by_its_code_resolves_nothing() -> None:
    failed = bash("make all", "Error: no rule", "a", is_error=True)
    again = bash("make all", "Exit code: 2\nOutput:\nno luck", "b")
    text = after_much(failed, again)
    assert "see #" not in text
    assert "- #3 $ make all → exit code 2" in section(text, "Open Failures")


def test_a_key_that_was_typed_is_no_failure() -> None:
    text = after_much(bash("C-c", "", "k", is_error=True), bash("date"))
    assert "## Open Failures" not in text
