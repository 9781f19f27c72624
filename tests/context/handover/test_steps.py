"""Rule 3: the latest steps, in time order."""

from support.builders.handovers import FILLER, after_much, section, word
from support.builders.wire import bash, edit, read, turn, write


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


def test_a_result_is_whole_if_it_needs_a_little_more_than_its_share() -> None:
    rows = "".join(f"row {word(n)} {word(3 * n)}\n" for n in range(120))
    before = [bash(f"list {n}", FILLER, f"s{n}") for n in range(4)]
    text = after_much(*before, bash("ls", rows, "a"), bash("cat x", FILLER, "b"))
    assert rows in text


def test_a_text_that_was_just_written_stands_once() -> None:
    lines = "".join(f"{word(n)} = {word(5 * n)}\n" for n in range(150))
    text = after_much(write("/w/settings.ini", lines))
    assert "## Files Changed" not in text
    assert text.count(f"{word(3)} = {word(15)}\n") == 1


def test_a_write_whose_file_was_written_anew_is_a_line() -> None:
    text = after_much(
        write("/w/a.txt", "first\nold text\n", "w1"),
        turn(
            "Write",
            {"file_path": "/w/b.txt", "content": "no\ntext\n"},
            "refused",
            "w2",
            is_error=True,
        ),
        write("/w/a.txt", "first\nnew text\n", "w3"),
        write("/w/b.txt", "some\ntext\n", "w4"),
    )
    assert "write /w/a.txt (written anew by #4)\n→ wrote 2 lines" in text
    assert "write /w/b.txt (failed; see #5)\n→ refused" in text
    assert "old text" not in text
    assert "new text" in text


def test_the_newest_changes_are_whole_before_output_is_shown() -> None:
    lines = "\n".join(f"value of line {n}" for n in range(60))
    text = after_much(
        write("/w/a.txt", lines, "w1"),
        *[
            bash(f"run {n}", "\n".join(f"{word(n * 99 + m)} {m}" for m in range(99)), f"r{n}")
            for n in range(5)
        ],
        tokens=2_000,
    )
    assert f"write /w/a.txt\n```\n{lines}\n```" in text
    assert "$ run 4\n" in text
