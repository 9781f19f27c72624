"""The rules of the hand-over: nothing false, state first, the latest steps in order, the current text, the ledger."""

from typing import Any

import pytest
from support.builders.wire import (
    assistant,
    bash,
    edit,
    join,
    open_call,
    read,
    result,
    turn,
    use,
    user,
    write,
)

from toolcarry import carry

LETTERS = "etaoinshrdlu"


def word(number: int) -> str:
    """A word that no other number below 1,728 has."""
    return "".join(LETTERS[number // 12**place % 12] for place in range(3))


FILLER = "".join(
    f"{word(n)} and {word(7 * n)} meet {word(11 * n)} at {word(5 * n)}\n" for n in range(400)
)
"""Lines of which no two are alike."""


def said(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def answered(text: str) -> list[Any]:
    return [{"role": "assistant", "content": text}]


def after_much(*turns: list[Any], tokens: int = 2_000) -> str:
    """The hand-over of turns after a file that does not fit."""
    messages = join(read("/w/big.txt", FILLER * 4, "big"), *turns)
    carried = carry(messages, max_tokens=tokens, layout="handover")
    assert carried.report.tokens_after is not None
    assert carried.report.tokens_after <= tokens
    assert carried.report.steps
    return carried.text


def section(text: str, name: str) -> str:
    """The text of a section; empty if there is none."""
    _, found, rest = text.partition(f"\n## {name}\n")
    return rest.partition("\n## ")[0] if found else ""


# Rule 1: nothing is false.


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
        read("/w/a.py", "1\tx = 1\n2\ty = 2", "r1"), edit("/w/a.py", "x = 1", "x = 5", "e1")
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
    text = after_much(
        read("/w/one/a.py", "1\tfirst = 1", "r1"),
        edit("/w/two/a.py", "x", "second = 2", "e1"),
        bash("true"), bash("date"), bash("who"),
    )  # fmt: skip
    assert "first = 1" in section(text, "Files Read")
    assert "changed since" not in text


def test_a_plan_that_a_later_failure_contradicts_says_so() -> None:
    todos = [{"content": "Commit", "status": "completed", "activeForm": "Committing"}]
    text = after_much(
        turn("TodoWrite", {"todos": todos}, "Todos have been modified"),
        bash("git commit -m x", "error: hook declined", is_error=True),
    )
    assert "- [x] Commit\n(written by #2; since then #3 failed)" in text
    assert "Committing" not in text


def test_lines_of_a_file_have_its_numbers() -> None:
    numbered = "".join(f"{n:6}\tline {n}\n" for n in range(1, 3000))
    text = after_much(
        read("/w/a.txt", "     1\t\n     2\tsecond\n     3\tthird", "r1"),
        read("/w/b.txt", numbered, "r2", offset=1),
        edit("/w/b.txt", "line 70\n", "new 70\n", "e1"),
        *[bash(f"date {n}") for n in range(4)],
    )
    shown = section(text, "Files Changed")
    first = int(shown.partition("(lines ")[2].partition("-")[0])
    lines = shown.partition("```\n")[2].split("\n")
    assert lines[70 - first] == "new 70"
    assert lines[69 - first] == "line 69"
    assert "\n\nsecond\nthird\n" in text


# Rule 2: state first.


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


# Rule 3: the latest steps.


def test_steps_are_in_time_order_with_their_results() -> None:
    text = after_much(*[bash(f"step {n}", f"result {n}", f"s{n}") for n in range(30)])
    steps = section(text, "Latest Steps")
    shown = [
        int(line.rpartition(" ")[2])
        for line in steps.split("\n")
        if line.startswith("### #") and "$ step" in line
    ]
    assert shown == sorted(shown)
    assert shown[-1] == 29
    assert all(f"$ step {n}\n→ result {n}\n" in steps for n in shown)


def test_what_was_read_last_stays_whole() -> None:
    last = "".join(f"last {n}\n" for n in range(100))
    text = after_much(
        *[bash(f"seq {n}", FILLER[:3_000], f"s{n}") for n in range(9)],
        read("/w/last.txt", last, "r"),
    )
    assert last in text


def test_an_edit_is_a_diff_with_changes_next_to_each_other() -> None:
    old, new = "a\nb\nkeep\nc\nd", "a\nB\nkeep\nC\nd"
    text = after_much(edit("/w/z.py", old, new))
    assert " a\n-b\n+B\n keep\n-c\n+C\n d\n" in text


def test_equal_steps_in_a_row_are_one() -> None:
    runs = [
        bash("swift build", "This command requires approval", f"b{n}", is_error=True)
        for n in range(30)
    ]
    text = after_much(*runs, bash("swift build", "Compiled", "b30"))
    assert (
        "### #2 to #31, 30 times, $ swift build (failed; see #32)\n→ This command requires approval"
        in text
    )
    assert text.count("swift build") == 2


# Rule 4: current text.


@pytest.mark.parametrize(
    "command",
    [
        "sed -i s/1/2/ a.py",
        "mv /w /v",
        "rm -r ~/w",
        "cat > a.py <<'EOF'\nx\nEOF",
        "echo 1 > a.py",
        "git checkout main",
        "mv a.py b.py",
        "rm a.py",
    ],
)
def test_a_command_that_may_change_a_file_makes_its_text_unknown(command: str) -> None:
    text = after_much(
        write("/w/a.py", "x = 1\ny = 2\nz = 3"),
        bash(command),
        *[bash(f"date {n}") for n in range(5)],
    )
    assert "### /w/a.py" not in text


def test_a_command_that_only_reads_leaves_it_known() -> None:
    text = after_much(
        write("/w/a.py", "x = 1\ny = 2\nz = 3"),
        bash("cat a.py 2>/dev/null"),
        bash("git reset a.py"),
        bash("git checkout -b new"),
        bash("ls"),
    )
    assert (
        "whole, 3 lines; changed by #2)" in text
        or "### #2 write /w/a.py\n```python\nx = 1\ny = 2" in text
    )


def test_edits_and_patches_are_replayed() -> None:
    patch = "*** Begin Patch\n*** Update File: /w/a.py\n@@\n one\n-two\n+TWO\n+more\n three\n*** End Patch"
    text = after_much(
        write("/w/a.py", "one\ntwo\nthree\nfour\n", "w"),
        turn("apply_patch", {"input": patch}, "Success. Updated the following files:\nM a.py", "p"),
        edit("/w/a.py", "four", "FOUR", "e"),
        turn("Edit", {"file_path": "/w/a.py", "old_string": "x", "new_string": "y"}, "String to replace not found in file.", "q", is_error=True),
        bash("ls"),
    )  # fmt: skip
    assert (
        "### /w/a.py (whole, 5 lines; changed by #2, #3, #4)\n```python\none\nTWO\nmore\nthree\nFOUR\n```"
        in text
    )


def test_a_file_that_was_changed_under_another_path_is_not_current() -> None:
    text = after_much(
        bash("cat src/a.py", "\n".join(f"value_{n} = {n}" for n in range(9)), "s"),
        edit("/w/src/a.py", "value_1 = 1", "value_1 = 0", "e"),
        bash("ls"),
    )
    assert "value_1 = 1" not in text.replace("-value_1 = 1", "")
    assert "$ cat src/a.py (maybe changed since, by #3)" in text


def test_a_change_that_was_not_seen_is_named() -> None:
    given = {"file_path": "/w/a.py", "old_string": "x = 1", "new_string": "x = 5"}
    text = after_much(
        write("/w/a.py", "x = 1\ny = 2\nz = 3"),
        *[bash(f"d {n}") for n in range(4)],
        open_call("Edit", given, "p"),
    )
    assert (
        "(whole, 3 lines; changed by #2; may be changed by #7, whose result was not seen)" in text
    )


def test_a_read_of_several_files_is_no_file() -> None:
    text = after_much(
        turn(
            "read_multiple_files",
            {"paths": ["/w/a.py", "/w/b.py"]},
            "/w/a.py:\nx = 1\n\n---\n/w/b.py:\ny = 2\n",
        ),
        *[bash(f"d {n}") for n in range(4)],
    )
    assert "read /w/a.py, /w/b.py" in text
    assert "### /w/a.py" not in text


def test_commands_that_print_a_file_are_reads() -> None:
    lines = [f"value_{n} = {n}" for n in range(1, 201)]
    text = after_much(
        bash("sed -n '1,100p' a.py", "\n".join(lines[:100]), "s1"),
        bash(
            "nl -ba a.py | sed -n '101,200p'",
            "\n".join(f"{n:6}\t{line}" for n, line in enumerate(lines[100:], 101)),
            "s2",
        ),
        edit("a.py", "value_100 = 100", "value_100 = 0", "e"),
        *[bash(f"d {n}") for n in range(4)],
    )
    assert "### a.py (lines 1-" in text or "### a.py (lines " in text
    assert "value_99 = 99\nvalue_100 = 0\nvalue_101 = 101\n" in section(text, "Files Changed")


def test_blocks_to_search_and_replace_are_replayed() -> None:
    diff = "------- SEARCH\ny = 2\n=======\ny = 5\n+++++++ REPLACE\n"
    text = after_much(
        turn("write_to_file", {"path": "/w/a.py", "content": "x = 1\ny = 2\nz = 3\n"}, "ok", "w"),
        turn("replace_in_file", {"path": "/w/a.py", "diff": diff}, "ok", "r"),
        turn(
            "Edit",
            {"file_path": "/w/new.py", "old_string": "", "new_string": "made = 1"},
            "ok",
            "n",
        ),
        *[bash(f"d {n}") for n in range(4)],
    )
    shown = section(text, "Files Changed")
    assert "x = 1\ny = 5\nz = 3" in shown
    assert "### /w/new.py (whole, 1 line; changed by #4)" in shown
    assert "-y = 2\n+y = 5\n" in text


def test_a_long_file_is_one_passage_around_its_last_edit() -> None:
    lines = "\n".join(f"value_{n} = {n}" for n in range(2_000))
    text = after_much(
        write("/w/a.py", lines, "w"),
        edit("/w/a.py", "value_1500 = 1500", "value_1500 = 0", "e"),
        *[bash(f"d {n}") for n in range(3)],
    )
    shown = section(text, "Files Changed")
    assert "value_1500 = 0" in shown
    assert "\nvalue_1 = 1\n" not in shown
    assert "of 2,000; changed by #2, #3)" in shown
    assert "..." not in shown


# Rule 5: the ledger.


def test_equal_calls_share_a_line_with_their_numbers() -> None:
    polls = [bash("kubectl get pods", f"pod {n}", f"p{n}") for n in range(3)]
    text = after_much(
        *polls, *[bash(f"seq {n}", FILLER[:2_500], f"s{n}") for n in range(9)], tokens=1_300
    )
    assert "- #2, #3, #4 $ kubectl get pods → last: pod 2\n" in section(text, "Earlier")


def test_a_failure_names_the_call_that_followed_it() -> None:
    text = after_much(
        bash("python -m pytest", "Exit code 1\nNo module named pytest", "f", is_error=True),
        bash("python -m pytest", "3 passed", "g"),
        *[bash(f"seq {n}", FILLER[:2_500], f"s{n}") for n in range(9)],
        tokens=1_300,
    )
    assert "- #2 $ python -m pytest (exit code 1; see #3) → No module named pytest" in text


def test_changes_come_before_reads() -> None:
    reads = [
        turn("Glob", {"pattern": f"**/*.{n}"}, f"/w/{n}/" + "x" * 150, f"g{n}") for n in range(60)
    ]
    text = after_much(
        edit("/w/q.py", "a", "b", "e"),
        *reads,
        *[bash(f"seq {n}", FILLER[:900], f"s{n}") for n in range(9)],
        tokens=1_200,
    )
    assert "- #2 edit /w/q.py → -1 +1 lines" in section(text, "Earlier")
    assert "more calls, not listed" in text


# Rule 6: cleaned.


def test_noise_of_terminals_and_clients_goes() -> None:
    meter = "  % Total    % Received % Xferd  Average Speed\n100  975    0   550 --:--:-- --:--:-- --:--:-- 10051\n"
    output = f"{meter}\x1b[32mgreen\x1b[0m\n 10 %\r 90 %\r100 %\n<system-reminder>\nRemember.\n</system-reminder>"
    text = after_much(bash("build", output))
    assert "green\n100 %\n" in text
    assert "Xferd" not in text
    assert "Remember" not in text


def test_lines_alike_are_counted() -> None:
    output = "\n".join(f"10:24:{n:02} waiting for pod web-{n}" for n in range(50))
    text = after_much(bash("wait", output))
    assert (
        "10:24:00 waiting for pod web-0 [and 48 lines like this, but for numbers]\n10:24:49" in text
    )


def test_groups_of_lines_alike_are_counted() -> None:
    output = "\n".join(
        f"18:47:{n:02} app[{n}f] {'end' if n % 2 else 'begin'} of a batch" for n in range(40)
    )
    text = after_much(bash("log show", output))
    assert " end of a batch [and 36 lines like these, but for numbers]\n18:47:38" in text


def test_data_is_not_folded() -> None:
    output = "\n".join(f"{n}\t{n * n}" for n in range(40))
    assert "12\t144\n13\t169" in after_much(bash("squares", output))


@pytest.mark.parametrize("kind", ["read", "write", "edit", "command"])
def test_bodies_of_private_keys_are_never_shown(kind: str) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEsecret\nmore\n-----END RSA PRIVATE KEY-----\nafter"
    calls = {
        "read": read("/w/k.pem", key),
        "write": write("/w/k.pem", key),
        "edit": edit("/w/k.pem", "x", key),
        "command": bash(f"echo '{key}'", key),
    }
    text = after_much(calls[kind], bash("ls"))
    assert "MIIEsecret" not in text
    assert "(private key left out)" in text


def test_the_working_directory_is_said_once() -> None:
    messages = [
        {
            "type": "assistant",
            "uuid": f"u{n}",
            "parentUuid": f"u{n - 1}" if n else None,
            "cwd": "/home/a/work",
            "message": message,
        }
        for n, message in enumerate(
            join(
                read("/home/a/work/big.txt", FILLER * 4, "big"),
                bash("cd /home/a/work && make", "made", "m"),
                bash("cd /home/a/work/sub && ls", "x", "n"),
            )
        )
    ]
    for record in messages:
        record["type"] = record["message"]["role"]
    text = carry(messages, max_tokens=1_500, layout="handover").text
    assert "Working directory: /home/a/work\n" in text
    assert "$ make\n" in text
    assert "$ cd sub && ls\n" in text or "$ cd /home/a/work/sub && ls\n" in text


def test_a_commit_keeps_the_first_line_of_its_message() -> None:
    command = "git commit -m \"$(cat <<'EOF'\nFix the parser\n\nA long story.\nEOF\n)\""
    text = after_much(bash(command, "[main 1] Fix the parser"))
    assert '$ git commit -m "Fix the parser …"' in text
    assert "A long story" not in text


# Rule 7: each step says what it did, where it was said, and what resolved it.


PATCH = """*** Begin Patch
*** Delete File: old.md
*** Add File: new.md
+# New
+text
*** Update File: a.py
*** Move to: b.py
@@
 keep
-one
+two
*** End Patch"""


@pytest.mark.parametrize("tool", ["apply_patch", "shell"])
def test_a_patch_shows_what_it_did_to_each_file(tool: str) -> None:
    given = {"input": PATCH}
    if tool == "shell":
        given = {"command": f"apply_patch <<'EOF'\n{PATCH}\nEOF"}
    text = after_much(
        turn(
            "Bash" if tool == "shell" else tool,
            given,
            "Success. Updated the following files:\nM b.py",
        )
    )
    steps = section(text, "Latest Steps")
    assert "*** Delete File: old.md\n*** Add File: new.md\n+# New\n+text\n" in steps
    assert "*** Update File: a.py\n*** Move to: b.py\n keep\n-one\n+two\n" in steps


def test_the_ledger_says_what_a_patch_did_to_each_file() -> None:
    text = after_much(
        turn("apply_patch", {"input": PATCH}, "Success. Updated the following files:\nM b.py"),
        *[bash(f"seq {n}", FILLER[:2_500], f"s{n}") for n in range(9)],
        tokens=1_300,
    )
    found = section(text, "Earlier")
    assert (
        "old.md: removed the file; new.md: wrote 2 lines: # New; a.py: moved to b.py, -1 +1 lines"
        in found
    )


def test_a_patch_of_one_file_is_a_diff() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n keep\n-one\n+two\n*** End Patch"
    text = after_much(
        turn("apply_patch", {"": patch}, "Success. Updated the following files:\nM a.py")
    )
    assert "patch a.py\n```diff\n keep\n-one\n+two\n```" in text


def test_only_the_same_thing_resolves_a_failure() -> None:
    failed = {"is_error": True}
    text = after_much(
        bash("make build", "Exit code 2\nerror: no rule", "a", **failed),
        bash("make clean", "done", "b"),
        turn("WebFetch", {"url": "https://a.example"}, "Request failed", "c", is_error=True),
        turn("WebFetch", {"url": "https://b.example"}, "Welcome", "d"),
        turn("Edit", {"file_path": "/w/a.py", "old_string": "x", "new_string": "y"}, "String not found", "e", is_error=True),
        read("/w/a.py", "1\tz = 1", "f"),
        bash("cd /w && npm test --silent", "Exit code 1\n1 error", "g", **failed),
        bash("cd /v && npm test 2>&1 | tail -3", "all good", "h"),
    )  # fmt: skip
    found = section(text, "Open Failures")
    assert [line.split()[1] for line in found.strip().split("\n")] == ["#2", "#4", "#6"]
    assert "see #9" in text
    assert "see #3" not in text
    assert "see #5" not in text
    assert "see #7" not in text


def test_a_command_that_no_shell_could_read_is_resolved_when_it_was_redone() -> None:
    text = after_much(
        bash(
            "echo (a)",
            "bash: -c: line 1: syntax error near unexpected token `('",
            "a",
            is_error=True,
        ),
        bash("echo '(a)'", "(a)", "b"),
    )
    assert "see #3" in text
    assert not section(text, "Open Failures")


def test_a_write_that_failed_says_nothing_but_that() -> None:
    text = after_much(
        turn("str_replace_editor", {"command": "create", "path": "/w/a.py", "file_text": "x = 1\n"}, "ERROR:\nFile exists: cannot create /w/a.py."),
        *[bash(f"seq {n}", FILLER[:2_500], f"s{n}") for n in range(9)],
        tokens=1_300,
    )  # fmt: skip
    assert "/w/a.py → ERROR: / File exists: cannot create /w/a.py." in section(text, "Earlier")
    assert "wrote" not in text


def test_an_empty_result_of_a_read_was_not_recorded() -> None:
    text = after_much(read("/w/a.py", "", "r"), bash("mkdir d", "", "m"))
    assert "read /w/a.py\n→ no result recorded" in text
    assert "$ mkdir d\n→ no output" in text


def test_an_inserted_line_is_no_written_file() -> None:
    given = {
        "command": "insert",
        "path": "/w/a.py",
        "insert_line": 3,
        "new_str": "x = 1",
        "file_text": "",
    }
    text = after_much(turn("str_replace_editor", given, "The file /w/a.py has been edited."))
    assert "edit /w/a.py\n```diff\n+x = 1\n```" in text


def test_the_last_request_stands_before_all_calls_that_it_caused() -> None:
    many = [bash(f"seq {n}", FILLER[:2_000], f"s{n}") for n in range(14)]
    text = after_much(bash("ls", "a.py", "l"), said("Now mend\nthe parser."), *many, tokens=900)
    found = section(text, "Earlier")
    place = found.index("**User:**\n```text\nNow mend\nthe parser.\n```\n\n")
    assert found.index("$ ls") < place
    assert place < min(found.index(f"$ seq {n}") for n in range(14) if f"$ seq {n}" in found)
    assert text.count("the parser.") == 1


def test_a_directory_is_stated_only_if_all_commands_ran_there() -> None:
    here, there = bash("cd /w/sub && ls", "x", "a"), bash("cd /v && ls", "x", "b")
    assert "All commands ran in: /w/sub\n" in after_much(here, bash("cd /w/sub && pwd", "y", "c"))
    text = after_much(here, there)
    assert "ran in" not in text
    assert "$ cd /w/sub && ls" in text
    assert "ran in" not in after_much(here, bash("ls", "x", "d"))


def test_a_pointer_leads_only_to_the_lines_that_were_read() -> None:
    lines = [f"value_{n} = {n}" for n in range(2_000)]
    numbered = "".join(f"{n + 1}\t{line}\n" for n, line in enumerate(lines[:60]))
    text = after_much(
        write("/w/a.py", "\n".join(lines), "w"),
        read("/w/a.py", numbered, "r", offset=1, limit=60),
        edit("/w/a.py", "value_1500 = 1500", "value_1500 = 0", "e"),
    )
    assert "60 lines\n" in text
    assert "60 lines; lines" not in text


def test_a_copy_does_not_change_its_source() -> None:
    text = after_much(
        read("/w/a.py", "1\tx = 1\n2\ty = 2", "r"),
        read("/w/b.py", "1\tx = 2\n2\ty = 3", "s"),
        bash("cp a.py b.py", "", "c"),
    )
    assert "read /w/a.py\n" in text
    assert "read /w/b.py (maybe changed since, by #4)" in text


def test_calls_about_a_plan_are_named() -> None:
    text = after_much(
        turn("TaskCreate", {"subject": "Parse"}, "Task #1 created successfully: Parse", "a"),
        turn("TaskCreate", {"subject": "Print"}, "Task #2 created successfully: Print", "b"),
        turn("TaskUpdate", {"taskId": "1", "status": "completed"}, "Updated task #1 status", "c"),
        bash("ls"),
    )
    found = section(text, "Earlier")
    assert "- #2, #3 TaskCreate → Parse; Print\n" in found
    assert "- #4 TaskUpdate → 1 completed\n" in found


@pytest.mark.parametrize("command", ["rg -n task src", "ls -l src"])
def test_hits_and_files_are_not_folded(command: str) -> None:
    output = "\n".join(f"src/a.py:{n}: task {n}" for n in range(20))
    assert f"\n{output}\n" in after_much(bash(command, output))


def test_numbers_of_lines_that_a_command_printed_stay() -> None:
    numbered = "\n".join(f"{n:6d}\tvalue_{n} = {n}" for n in range(40, 60))
    assert numbered in after_much(bash("nl -ba a.py | sed -n '40,59p'", numbered))


def test_a_read_is_named_by_the_lines_that_it_shows() -> None:
    numbered = "\n".join(f"{n}\tvalue_{n}" for n in range(30, 36))
    text = after_much(read("/w/a.py", numbered, "r", offset=30, limit=2_000), bash("ls"))
    assert "read /w/a.py (lines 30-35)" in text


def test_a_read_that_ends_before_its_limit_has_the_whole_file() -> None:
    text = after_much(
        bash("sed -n '1,200p' a.py", "\n".join(f"value_{n} = {n}" for n in range(9)), "s"),
        *[bash(f"d {n}") for n in range(4)],
    )
    assert "### a.py (whole, 9 lines; read by #2)" in text


def test_a_note_of_a_tool_is_no_line_of_the_file() -> None:
    output = "a = 1\nb = 2\nc = 3\nd = 4\n\n[81 more lines in file. Use offset=5 to continue.]"
    text = after_much(read("/w/a.py", output, "r", limit=4), *[bash(f"d {n}") for n in range(4)])
    assert "### /w/a.py (lines 1-4; the rest is not known; read by #2)" in text
    assert "81 more" not in text


def test_an_envelope_around_a_file_has_no_lines() -> None:
    output = '{"kind": 3, "node": "' + "x" * 900 + '"}'
    text = after_much(read("/w/a.py", output, "r"), *[bash(f"d {n}") for n in range(4)])
    assert "1 line" not in text
    assert "### /w/a.py" not in text


def test_a_request_that_the_summary_has_is_not_repeated() -> None:
    request = "Mend the parser.\n" + "It must not fail.\n" * 9
    messages = join(read("/w/big.txt", FILLER * 4, "big"), said(request), bash("ls", "a.py"))
    text = carry(messages, summary=f"Asked:\n{request}", max_tokens=2_000, layout="handover").text
    assert text.count("Mend the parser.") == 1
    assert "**User:** (as quoted in the summary)" in text


def test_files_of_a_patch_that_the_context_has_are_not_shown_twice() -> None:
    names = ("a", "b")
    files = "".join(
        f"*** Add File: /w/{name}.py\n" + "".join(f"+{name}_{n} = {n}\n" for n in range(20))
        for name in names
    )
    patch = f"*** Begin Patch\n{files}*** End Patch"
    text = after_much(
        turn("apply_patch", {"input": patch}, "Success. Updated the following files:\nA /w/a.py"),
        *[bash(f"d {n}") for n in range(4)],
        tokens=4_000,
    )
    assert "a.py: wrote 20 lines; b.py: wrote 20 lines; as they are now: Files Changed" in text
    assert text.count("b_19 = 19") == 1


def test_a_patch_changes_files_where_it_ran() -> None:
    patch = "*** Begin Patch\n*** Delete File: a.py\n*** Add File: a.py\n+x = 1\n*** End Patch"
    text = after_much(
        read("/w/a.py", "1\ty = 1\n2\tz = 2", "r"),
        bash(f"cd /w/sub && apply_patch <<'EOF'\n{patch}\nEOF", "Success. Updated the following files:\nA a.py", "p"),
        *[bash(f"d {n}") for n in range(4)],
    )  # fmt: skip
    assert "patch /w/sub/a.py\n" in text
    assert "### /w/sub/a.py (whole, 1 line; changed by #3)" in section(text, "Files Changed")
    assert "changed since" not in text


def test_the_last_request_stays_between_the_calls_around_it() -> None:
    text = after_much(
        turn("TaskCreate", {"subject": "Parse"}, "Task #1 created successfully: Parse", "a"),
        bash("ls", "a.py", "l"),
        said("Now mend\nthe parser."),
        turn("TaskUpdate", {"taskId": "1", "status": "completed"}, "Updated task #1 status", "b"),
        bash("make", "made", "m"),
    )
    steps = section(text, "Latest Steps")
    assert steps.index("$ ls") < steps.index("Now mend\nthe parser.") < steps.index("$ make")
    assert text.count("the parser.") == 1


def test_a_request_without_room_is_one_line_at_its_place() -> None:
    long = "Now do this.\n" + FILLER[:9_000]
    text = after_much(
        bash("ls", "a.py", "l"),
        said(long),
        bash("make", "made", "m"),
        said("Go on."),
        bash("pwd", "/", "p"),
    )
    steps = section(text, "Latest Steps")
    assert steps.index("$ make") < steps.index("**User:** Go on.")
    if "$ ls" in steps:
        assert steps.index("$ ls") < steps.index("Now do this.") < steps.index("$ make")


def test_hits_that_were_followed_are_not_left_out() -> None:
    hits = [f"src/{word(n)}_{word(7 * n)}.py:{n}: the task of {word(5 * n)}" for n in range(900)]
    followed = hits[700].partition(":")[0]
    text = after_much(
        bash("rg -n task src", "\n".join(hits), "s"), read(f"/w/{followed}", "1\tx = 1", "r")
    )
    assert hits[700] in text
