"""Rule 2: the plan, requests, pending calls and open failures."""

from typing import Any

import pytest
from support.builders.handovers import FILLER, after_much, answered, said, section
from support.builders.wire import assistant, bash, open_call, read, result, turn, use, user, write


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
    assert "The last request of the user has no final answer yet." in text


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
