"""Rule 4: the current text of files."""

import pytest
from support.builders.handovers import FILLER, LATER, after_much, before_others, section, word
from support.builders.wire import bash, edit, open_call, read, turn, write

MERGED = "Updating 1..2\nFast-forward"


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
    text = before_others(
        write("/w/a.py", "one\ntwo\nthree\nfour\n", "w"),
        turn("apply_patch", {"input": patch}, "Success. Updated the following files:\nM a.py", "p"),
        edit("/w/a.py", "four", "FOUR", "e"),
        turn("Edit", {"file_path": "/w/a.py", "old_string": "x", "new_string": "y"}, "String to replace not found in file.", "q", is_error=True),
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
    steps = [bash(f"d {n}", FILLER[900 * n :][:900], f"d{n}") for n in range(3)]
    text = after_much(
        write("/w/a.py", "x = 1\ny = 2\nz = 3"),
        edit("/w/a.py", "y = 2", "y = 3", "e"),
        *steps,
        open_call("Edit", given, "p"),
        tokens=4_000,
    )
    assert (
        "(whole, 3 lines; changed by #2, #3; may be changed by #7, whose result was not seen)"
        in text
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
    text = before_others(
        bash("sed -n '1,100p' a.py", "\n".join(lines[:100]), "s1"),
        bash(
            "nl -ba a.py | sed -n '101,200p'",
            "\n".join(f"{n:6}\t{line}" for n, line in enumerate(lines[100:], 101)),
            "s2",
        ),
        edit("a.py", "value_100 = 100", "value_100 = 0", "e"),
    )
    assert "### a.py (lines 1-" in text or "### a.py (lines " in text
    assert "value_99 = 99\nvalue_100 = 0\nvalue_101 = 101\n" in section(text, "Files Changed")


def test_blocks_to_search_and_replace_are_replayed() -> None:
    diff = "------- SEARCH\ny = 2\n=======\ny = 5\n+++++++ REPLACE\n"
    text = after_much(
        turn("write_to_file", {"path": "/w/a.py", "content": "x = 1\ny = 2\nz = 3\n"}, "ok", "w"),
        *LATER,
        turn("replace_in_file", {"path": "/w/a.py", "diff": diff}, "ok", "r"),
        tokens=4_000,
    )
    shown = section(text, "Files Changed")
    assert "x = 1\ny = 5\nz = 3" in shown
    assert "-y = 2\n+y = 5\n" in text


def test_an_edit_without_an_old_text_makes_a_file() -> None:
    given = {"file_path": "/w/new.py", "old_string": "", "new_string": "made = 1"}
    text = before_others(turn("Edit", given, "ok", "n"))
    assert "### /w/new.py (whole, 1 line; changed by #2)" in section(text, "Files Changed")


def test_a_long_file_is_one_passage_around_its_last_edit() -> None:
    lines = "\n".join(f"value_{n} = {n}" for n in range(2_000))
    text = after_much(
        write("/w/a.py", lines, "w"),
        edit("/w/a.py", "value_1500 = 1500", "value_1500 = 0", "e"),
        *[bash(f"d {n}") for n in range(3)],
        tokens=4_000,
    )
    shown = section(text, "Files Changed")
    assert "value_1500 = 0" in shown
    assert "\nvalue_1 = 1\n" not in shown
    assert "of 2,000; changed by #2, #3)" in shown
    assert "..." not in shown


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git pull", "Already up to date."),
        (
            "git checkout main && git pull --rebase",
            "Already on 'main'\nCurrent branch main is up to date.",
        ),
        ("git stash", "No local changes to save"),
        ("git stash list", "stash@{0}: WIP on main"),
        ("git apply --check fix.patch", ""),
        ("git commit -m 'fix: pull and merge the data'", "[main 1] fix: pull and merge the data"),
        ("git checkout -- b.py", ""),
        ("git restore src/b.py", ""),
        ("ruff format .", "4 files left unchanged"),
        ("ruff format --check .", "Would reformat: /w/a.py\n1 file would be reformatted"),
        ("git stash", "error: could not write index"),
        ("cd /x && rm ./w", ""),
        (
            "git pull",
            f"{MERGED}\n b.py | 2 +-\n .../c.py | 4 +-\n 2 files changed, 3 insertions(+)",
        ),
        ("cd /home/me/app && git pull", "Updating 1..2"),
        ("cd /x && sed -i s/1/2/ a.py", ""),
        ("sed -i s/1/2/ /x/a.py", ""),
        ("sed -n 1,9p /w/a.py | sort > /tmp/log && node --check /tmp/log", ""),
        ("python3 /w/a.py > /tmp/log 2>&1 &", ""),
        ("git add b.py; git commit -m 'mend b.py; sed and\n/w/a.py > b'", "[main 1] mend"),
        ("git add b.py && git commit -m \"$(cat <<'EOF'\nMend a.py > b\nEOF\n)\"", "[main 1] mend"),
        ("cat > b.py <<'EOF'\nopen('a.py') > 1\nEOF\ndate", ""),
    ],
)
def test_a_command_that_changed_nothing_of_a_file_leaves_it_current(
    command: str, output: str
) -> None:
    text = before_others(read("/w/a.py", "1\tx = 1\n2\ty = 2", "r"), bash(command, output))
    assert "changed since" not in text
    assert "### /w/a.py (whole, 2 lines; read by #2)" in text


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git pull", "Updating 1..2\nFast-forward\n a.py | 2 +-"),
        ("git pull && git checkout other", "Already up to date.\nSwitched to branch 'other'"),
        ("git pull", f"{MERGED}\n a.py | 2 +-\n 1 file changed, 1 insertion(+)"),
        ("git pull", f"{MERGED}\n b.py | 2 +-\n 2 files changed, 3 insertions(+)"),
        ("git pull", f"{MERGED}\n {{b => w}}/a.py | 2 +-\n 1 file changed, 1 insertion(+)"),
        ("git pull", f"{MERGED}\n ...ng/a.py | 2 +-\n 1 file changed, 1 insertion(+)"),
        ("cd /w/web && git pull", "Updating 1..2"),
        ("cd / && git -C /w pull", "Updating 1..2"),
        ("git pull && sed -i s/1/2/ a.py", "Already up to date."),
        ("cd /w && sed -i 's/1;/2|/' ./a.py", ""),
        ("cd /w/b && sed -i s/1/2/ ../a.py", ""),
        ("grep -l 1 *.py | xargs sed -i s/1/2/", ""),
        ("sed -i s/1/2/ *.py", ""),
        ("cat > b.py <<'EOF'\nb\nEOF\nsed -i s/1/2/ a.py", ""),
        ("cat > /w/a.py <<'EOF'\nb\nEOF", ""),
        ("git checkout -- a.py", ""),
        ("cd / && rm -r w", ""),
        ("git checkout HEAD~1 -- .", ""),
        ("git -C /w stash", "Saved working directory"),
        ("ruff format .", "1 file reformatted, 3 files left unchanged"),
    ],
)
def test_a_command_that_changed_files_is_named(command: str, output: str) -> None:
    text = after_much(
        read("/w/a.py", "1\tx = 1\n2\ty = 2", "r"), bash(command, output), bash("date")
    )
    assert "read /w/a.py (maybe changed since, by #3)" in text


def test_lines_that_a_later_edit_did_not_touch_are_current() -> None:
    numbered = "".join(f"{n}\tvalue_{n} = {n}\n" for n in range(40, 46))
    later = edit("/w/a.py", "other = 1", "other = 2", "e")
    text = after_much(read("/w/a.py", numbered, "r", offset=40, limit=6), later)
    assert "read /w/a.py (lines 40-45)\n```python\nvalue_40 = 40\n" in text
    longer = edit("/w/a.py", "other = 1", "other = 2\nmore = 3", "e")
    text = after_much(read("/w/a.py", numbered, "r", offset=40, limit=6), longer)
    assert "read /w/a.py (lines 40-45; numbered as before #3)\n```python\nvalue_40 = 40\n" in text


@pytest.mark.parametrize(
    "old", ["value_42 = 42", "value_45 = 45\nvalue_46 = 46", "= 39\nvalue_40 = 40", "45\n\n"]
)
def test_lines_that_a_later_edit_touched_are_not(old: str) -> None:
    numbered = "".join(f"{n}\tvalue_{n} = {n}\n" for n in range(40, 46))
    text = after_much(
        read("/w/a.py", numbered, "r", offset=40, limit=6), edit("/w/a.py", old, "new", "e")
    )
    assert "read /w/a.py (lines 40-45; changed since, by #3)" in text


def test_a_read_in_tags_is_the_text_of_its_file() -> None:
    lines = "\n".join(f"{n}: line {n}" for n in range(1, 31))
    shown = f"<path>/w/a.txt</path>\n<type>file</type>\n<content>\n{lines}\n\n{{}}\n</content>"
    whole = after_much(read("/w/a.txt", shown.format("(End of file - total 30 lines)"), "a"))
    assert "read /w/a.txt\n```\nline 1\nline 2\n" in whole
    more = "(Output capped at 50 KB. Showing lines 1-30. Use offset=31 to continue.)"
    assert "read /w/a.txt (lines 1-30)\n```\nline 1\n" in after_much(
        read("/w/a.txt", shown.format(more), "a")
    )


def test_a_read_of_a_folder_is_no_file() -> None:
    shown = "<path>/w/src</path>\n<type>directory</type>\n<entries>\na.py\nb.py\n</entries>"
    text = after_much(
        read("/w/src", shown, "a"), *[bash(f"run {n}", FILLER, f"r{n}") for n in range(9)]
    )
    assert "## Files Read" not in text


def test_a_note_that_a_part_is_shown_is_no_line_of_the_file() -> None:
    note = "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 5-6 of 212 total lines.\n"
    shown = f"{note}\n--- FILE CONTENT (truncated) ---\nfive\nsix"
    text = after_much(read("/w/a.txt", shown, "a", offset=4))
    assert "read /w/a.txt (lines 5-6)\n```\nfive\nsix\n```" in text


def test_a_commit_changes_no_file() -> None:
    body = "git commit -m \"$(cat <<'EOF'\nMend a.py > b\nEOF\n)\""
    rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected"
    text = after_much(
        read("/w/a.py", "1\tx = 1\n2\ty = 2", "r"),
        bash("git add a.py", "", "g"),
        bash(body, "[main 1] Mend a.py", "c"),
        bash("gh issue create --body \"$(cat <<'EOF'\nsee a.py > x\nEOF\n)\"", "https://x", "h"),
        bash("sed -i s/x/y/ a.py", rejected, "s", is_error=True),
    )
    assert "changed since" not in text


def test_many_removed_lines_are_counted() -> None:
    old = "".join(f"old {word(n)}\n" for n in range(40))
    text = after_much(edit("/w/a.py", old, "new\n"))
    assert f"-old {word(2)}\n@@ 37 more removed lines\n+new\n" in text


def test_an_edit_of_each_occurrence_says_so() -> None:
    given = {"file_path": "/w/a.py", "old_string": "x", "new_string": "y", "replace_all": True}
    text = after_much(turn("Edit", given, "done"))
    assert "edit /w/a.py (each occurrence)" in text


def test_one_line_in_tags_is_a_line_of_its_file() -> None:
    shown = f"<path>/w/a.css</path>\n<type>file</type>\n<content>\n1: 6: {'a' * 400}\n\n(End of file - total 1 lines)\n</content>"
    text = after_much(read("/w/a.css", shown, "a"), edit("/w/a.css", "6", "7"))
    assert "read /w/a.css (changed since, by #3)\n→ 1 line\n" in text


def test_an_empty_last_line_above_a_note_is_a_line() -> None:
    lines = "\n".join(f"text of line {n}" for n in range(370, 404))
    shown = f"{lines}\n\n\n[666 more lines in file. Use offset=405 to continue.]"
    text = after_much(read("/w/a.txt", shown, "a", offset=370, limit=35))
    assert "read /w/a.txt (lines 370-404)" in text
