"""Each step says its outcome; a pointer leads to the step that resolved it; requests keep their places."""

import json
from typing import Any

import pytest
from support.builders.handovers import FILLER, after_much, before_others, said, section, word
from support.builders.wire import bash, edit, join, read, turn, write

from toolcarry import carry

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
        *[bash(f"seq {n}", FILLER[:2_500], f"s{n}") for n in range(12)],
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
    assert [line.split()[1] for line in found.strip().split("\n")] == ["#2", "#6"]
    assert "see #9" in text
    assert "see #3" not in text
    assert "see #5" not in text


def test_a_lookup_that_found_nothing_is_no_open_failure() -> None:
    text = after_much(
        read("/w/.zshrc", "File does not exist.", "a", is_error=True),
        turn("WebFetch", {"url": "https://a.example"}, "Request failed", "b", is_error=True),
        bash("make", "Exit code 2\nerror: no rule", "c", is_error=True),
    )
    found = section(text, "Open Failures")
    assert [line.split()[1] for line in found.strip().split("\n")] == ["#4"]


def test_what_a_command_is_piped_into_is_a_part_of_it() -> None:
    text = after_much(
        bash("netstat -an | grep 5335", "Exit code 1", "a", is_error=True),
        bash("netstat -an | grep 4005", "tcp 0.0.0.0:4005", "b"),
        bash("netstat -an | grep 22 | head -3", "Exit code 1", "c", is_error=True),
        bash("netstat -an | grep 22", "tcp 0.0.0.0:22", "d"),
    )
    assert "see #3" not in text
    assert "see #5" in text


def test_a_search_says_which_files_it_looked_at() -> None:
    given = {"pattern": "tux|tmux", "path": "/home/ann", "glob": ".bash*"}
    text = after_much(turn("Grep", given, "No files found"))
    assert "Grep tux|tmux in /home/ann (glob .bash*)" in text


def test_blanks_within_a_command_stay() -> None:
    text = after_much(bash("grep -E '^    |Location:' a.txt", "nothing", "a"))
    assert "$ grep -E '^    |Location:' a.txt" in text


def test_lines_that_a_tool_left_out_of_a_file_are_not_counted_away() -> None:
    lines = [*range(1, 20), *range(388, 500)]
    shown = "\n".join(f"{number:>6}\tvalue_{number}" for number in lines)
    text = after_much(read("/w/a.py", shown), bash("ls"))
    assert "### #2 read /w/a.py\n" in text  # and not "whole", nor a number of lines
    assert "131 lines" not in text
    assert "   388\tvalue_388" in text
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
        *[bash(f"seq {n}", FILLER[:2_500], f"s{n}") for n in range(12)],
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
        edit("/w/a.py", "value_30 = 30", "value_30 = 0", "d"),
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
    text = before_others(
        bash("sed -n '1,200p' a.py", "\n".join(f"value_{n} = {n}" for n in range(9)), "s"),
    )
    assert "### a.py (whole, 9 lines; read by #2)" in text


def test_a_note_of_a_tool_is_no_line_of_the_file() -> None:
    output = "a = 1\nb = 2\nc = 3\nd = 4\n\n[81 more lines in file. Use offset=5 to continue.]"
    text = before_others(read("/w/a.py", output, "r", limit=4))
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
    assert text.count("b_19 = 19") == 1


def test_a_patch_changes_files_where_it_ran() -> None:
    patch = "*** Begin Patch\n*** Delete File: a.py\n*** Add File: a.py\n+x = 1\n*** End Patch"
    text = before_others(
        read("/w/a.py", "1\ty = 1\n2\tz = 2", "r"),
        bash(f"cd /w/sub && apply_patch <<'EOF'\n{patch}\nEOF", "Success. Updated the following files:\nA a.py", "p"),
    )  # fmt: skip
    assert "patch /w/sub/a.py" in text
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


def test_an_edit_without_its_texts_counts_no_lines() -> None:
    """A client may have cleared the texts of old calls."""
    gone = "[Old tool input cleared]"
    once = after_much(edit("a.py", gone, gone, "e1"))
    assert "-0 +0" not in once
    twice = after_much(edit("a.py", gone, gone, "e1"), bash("ls"), edit("a.py", "x", "y", "e2"))
    assert "-0 +0" not in twice


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ({"query": "make", "result": "first\nsecond", "success": True}, "$ make\n```\nfirst\nsecond\n```"),
        ({"output": "no rule", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}, "$ make (exit code 2)\n→ no rule"),
        ({"stdout": "made", "stderr": "", "exitCode": 0}, "$ make\n→ made"),
    ],
)  # fmt: skip
def test_an_envelope_around_an_output_goes(result: dict[str, Any], shown: str) -> None:
    assert shown in after_much(bash("make", json.dumps(result)))


def test_an_envelope_in_a_list_goes() -> None:
    result = [{"query": "a.py:1-2", "result": "1 | x = 1\n2 | y = 2", "success": True}]
    assert "```\n1 | x = 1\n2 | y = 2\n```" in after_much(turn("read_files", {"n": 1}, result))


@pytest.mark.parametrize(
    "result",
    [
        {"result": "a", "success": True},
        {"stdout": "a", "stderr": "b", "exitCode": 0},
        {"result": "a", "next": "b", "query": "c"},
    ],
)
def test_an_answer_in_json_stays(result: dict[str, Any]) -> None:
    assert f"→ {json.dumps(result)}\n" in after_much(
        bash("curl https://a.example", json.dumps(result))
    )
