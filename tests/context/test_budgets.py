"""Budgets: what is shown, what is cut, what is left out and listed."""

import re
from types import ModuleType
from typing import Any

import pytest
from support.builders.wire import assistant, bash, edit, join, read, result, turn, use, user
from support.oracles import markdown
from support.rows import for_each

from toolcarry import NO_LIMIT, CarryPolicy, Rule


def within(total: int | None = None, result: int | None = None, **more: Any) -> CarryPolicy:
    """The limits, where the newest results are shown in full; tests/context/handover has the other layout."""
    more = {"layout": "sections", **more}
    return CarryPolicy(max_chars=total, max_result_chars=result, **more)


def runs(count: int, size: int) -> list[Any]:
    """Return *count* commands, each with *size* characters of output."""
    return join(*[bash(f"run {n}", f"{n}" * size, f"t{n}") for n in range(count)])


def headings(text: str) -> list[str]:
    return [shown.heading for shown in markdown.shown_blocks(text)]


def left_out(text: str) -> list[str]:
    """The lines under ``## Left Out``."""
    return markdown.lines_between(text, "## Left Out", "") if "## Left Out" in text else []


# The limit on one result


def test_one_result_is_cut_to_its_limit(api: ModuleType) -> None:
    carried = api.carry(read("a.txt", "0123456789" * 10), policy=within(result=30))
    assert carried.report.cut == carried.report.shown == 1
    assert (
        "### a.txt\n```\n012345678901234567890123456789\n"
        "... [truncated: 30 of 100 characters shown; whole: t1]\n```\n"
    ) in carried.text


def test_a_result_within_its_limit_is_whole(api: ModuleType) -> None:
    carried = api.carry(read("a.txt", "0123456789"), policy=within(result=10))
    assert carried.report.cut == 0
    assert "truncated" not in carried.text


@pytest.mark.parametrize(
    ("keep", "inside"),
    [
        ("head", "aaaa\n{}\n"),
        ("tail", "{}\ncccc\n"),
        ("ends", "aa\n{}\ncc\n"),
    ],
)
def test_the_side_that_stays(api: ModuleType, keep: Any, inside: str) -> None:
    text = api.carry(bash("ls", "aaaabbbbcccc"), policy=within(result=4, keep=keep)).text
    marker = "... [truncated: 4 of 12 characters shown; whole: t1]"
    assert markdown.shown_blocks(text)[0].fences == [("", inside.format(marker))]


def test_auto_keeps_both_ends_of_output_and_the_head_of_a_file(api: ModuleType) -> None:
    content = "aaaabbbbcccc"
    messages = join(
        bash("ls", content, "t1"), read("a.txt", content, "t2"), turn("f", {}, content, "t3")
    )
    found = {
        s.section: s.fences[0][1]
        for s in markdown.shown_blocks(api.carry(messages, policy=within(result=4)).text)
    }
    assert re.match(r"aa\n.*\ncc\n", found["Commands Executed"])
    assert found["Files Read"].startswith("aaaa\n...")
    assert found["Other Tools"].startswith("aaaa\n...")


def test_a_cut_splits_no_grapheme(api: ModuleType) -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    text = api.carry(read("a.txt", family * 10), policy=within(result=12)).text
    assert f"```\n{family * 2}\n... [truncated: 10 of 50 characters shown" in text


def test_large_numbers_have_commas(api: ModuleType) -> None:
    text = api.carry(read("a.txt", "x" * 54_321), policy=within(result=12_345)).text
    assert "... [truncated: 12,345 of 54,321 characters shown; whole: t1]" in text


@pytest.mark.parametrize("call_id", ["", "\x07", "\x1b[0m"])
def test_without_an_id_that_shows_the_marker_names_none(api: ModuleType, call_id: str) -> None:
    text = api.carry(turn("f", {}, "x" * 100, call_id), policy=within(result=10)).text
    assert "... [truncated: 10 of 100 characters shown]" in text


def test_limit_zero_shows_the_marker_alone(api: ModuleType) -> None:
    text = api.carry(bash("ls", "x" * 100), policy=within(result=0)).text
    assert "### ls\n```\n... [truncated: 0 of 100 characters shown; whole: t1]\n```\n" in text


def test_a_change_is_cut_as_a_result_is(api: ModuleType) -> None:
    text = api.carry(edit("a.py", "x" * 100, "y" * 100), policy=within(result=20)).text
    assert (
        "```diff\n-xxxxxxxxxxxxxxxxxxx\n... [truncated: 20 of 204 characters shown; whole: t1]\n```"
        in text
    )


# The total


@for_each("total", [0, 1, 50, 66, 67, 100, 150, 200, 300, 500, 1_000, 10_000])
def test_the_total_is_a_promise(api: ModuleType, total: int) -> None:
    messages = join(
        runs(5, 100), edit("a.py", "x" * 90, "y", "e"), turn("f", {"a": "b" * 50}, "z" * 90, "f")
    )
    for summary in ("", "S" * 40, "# Long\n" * 100):
        for framing in (True, False):
            policy = within(total, framing=framing)
            assert len(api.carry(messages, summary=summary, policy=policy).text) <= total


def test_a_count_of_runs_that_does_not_fit_is_left_out(api: ModuleType) -> None:
    messages = join(*[bash("ls", "x", f"t{n}") for n in range(12)])
    whole = len(api.carry(messages).text)
    for more, heading in ((-1, "ls"), (1, "ls (latest of 12 runs)")):
        carried = api.carry(messages, policy=within(whole + more))
        assert headings(carried.text) == [heading]
        assert len(carried.text) <= whole + more


def test_the_default_total(api: ModuleType) -> None:
    messages = runs(100, 1_000)
    assert 55_000 < len(api.carry(messages).text) <= 60_000
    assert len(api.carry(messages, policy=within(NO_LIMIT)).text) > 100_000


def test_the_newest_run_is_shown_and_only_its_oldest_block_cut(api: ModuleType) -> None:
    carried = api.carry(runs(6, 200), policy=within(1_000))
    assert headings(carried.text) == ["run 2", "run 3", "run 4", "run 5"]
    fences = [s.fences[0][1] for s in markdown.shown_blocks(carried.text)]
    assert "[truncated" in fences[0]
    assert fences[1:] == [digit * 200 + "\n" for digit in "345"]
    assert carried.report.cut == 1


def test_a_budget_to_the_character(api: ModuleType) -> None:
    messages = runs(3, 50)
    whole = api.carry(messages, policy=within(NO_LIMIT)).text
    assert api.carry(messages, policy=within(len(whole))).text == whole
    assert api.carry(messages, policy=within(len(whole) - 1)).text != whole


def test_a_block_that_could_show_too_little_is_left_out(api: ModuleType) -> None:
    messages = runs(2, 100)
    whole = len(api.carry(messages[2:], policy=within(NO_LIMIT)).text)
    carried = api.carry(messages, policy=within(whole + 40))
    assert headings(carried.text) == ["run 1"]
    assert carried.report.left_out == 1


@pytest.mark.parametrize("total", [0, 10, 65])
def test_a_budget_too_small_for_the_frame_gives_nothing_and_says_so(
    api: ModuleType, total: int
) -> None:
    carried = api.carry(bash("ls", "x"), policy=within(total))
    assert carried.text == ""
    assert carried.report.budget_too_small
    assert carried.report.left_out == 1
    summed = api.carry([], summary="S" * 50, policy=within(total))
    assert summed.text == ""
    assert summed.report.budget_too_small


def test_nothing_to_carry_is_no_small_budget(api: ModuleType) -> None:
    assert not api.carry([], policy=within(0)).report.budget_too_small
    assert not api.carry(
        bash("ls", "x"), policy=within(0, include_commands=False)
    ).report.budget_too_small


def test_excluded_blocks_take_no_room(api: ModuleType) -> None:
    messages = join(bash("ls", "x" * 100, "t1"), read("a.py", "y" * 5_000, "t2"))
    carried = api.carry(messages, policy=within(400, include_files=False))
    assert headings(carried.text) == ["ls"]
    assert carried.report.excluded == {"include_files": 1}


# What is left out


def test_left_out_blocks_are_listed_newest_first(api: ModuleType) -> None:
    messages = join(
        read("a.py", "x" * 3_000, "t1"),
        turn("Grep", {"pattern": "x"}, "x" * 3_000, "t2"),
        bash("ls", "x" * 3_000, "t3"),
        bash("make", "y" * 5_000, "t4"),
    )
    carried = api.carry(messages, policy=within(5_000))
    assert headings(carried.text) == ["make"]
    assert left_out(carried.text) == ["- Bash: ls", '- Grep(pattern="x")', "- Read: a.py"]
    assert carried.report.left_out == 3
    assert carried.report.walked_all


def test_the_list_ends_with_the_earlier_ones_where_it_is_not_all(api: ModuleType) -> None:
    carried = api.carry(runs(60, 1_500), policy=within(20_000))
    lines = left_out(carried.text)
    assert lines[-1] == "- ... and earlier results"
    assert len(lines) == 21
    assert not carried.report.walked_all
    assert carried.report.walked < 60


def test_the_list_takes_the_lines_that_fit(api: ModuleType) -> None:
    text = api.carry(runs(30, 300), policy=within(2_000)).text
    assert 1 < len(left_out(text)) < 20
    assert left_out(text)[-1] == "- ... and earlier results"


def test_the_walk_stops_when_the_budget_is_spent(api: ModuleType) -> None:
    report = api.carry(runs(5_000, 100), policy=within(2_000)).report
    assert not report.walked_all
    assert report.walked < 100
    assert report.shown + report.left_out == report.walked


def test_the_sections_follow_each_other(api: ModuleType) -> None:
    text = api.carry(runs(10, 2_000), summary="S", policy=within(5_000)).text
    assert markdown.sections(text) == ["Summary", "Commands Executed", "Left Out"]


# Counts in notes


def test_counts_cover_walked_blocks(api: ModuleType) -> None:
    repeated = join(*[bash("ls", "x", f"l{n}") for n in range(3)])
    assert headings(api.carry(repeated).text) == ["ls (latest of 3 runs)"]
    newer = join(*[bash("ls", "x", f"m{n}") for n in range(3)])
    carried = api.carry(join(repeated, runs(40, 500), newer), policy=within(2_000))
    assert "ls (latest of 3+ runs)" in headings(carried.text)


def test_the_count_of_edits_too(api: ModuleType) -> None:
    edits = join(*[edit("a.py", f"{n}", "x", f"e{n}") for n in range(3)])
    carried = api.carry(join(runs(40, 500), edits), policy=within(2_000))
    assert "a.py (3+ edits, last shown)" in headings(carried.text)


# Steps


def test_format_alone_keeps_the_budget(api: ModuleType) -> None:
    blocks = api.extract_tool_blocks(runs(10, 100))
    for total in range(0, 1_500, 50):
        assert len(api.format_tool_context(blocks, policy=within(total))) <= total


def test_no_limit_means_none(api: ModuleType) -> None:
    carried = api.carry(runs(3, 30_000), policy=within(NO_LIMIT, NO_LIMIT))
    assert carried.report.cut == carried.report.left_out == 0
    assert len(carried.text) > 90_000


def test_limits_past_the_largest_mean_none_too(api: ModuleType) -> None:
    carried = api.carry(runs(1, 10), policy=within(NO_LIMIT * 4, NO_LIMIT * 4))
    assert carried.report.shown == 1


def test_keep_first_and_a_small_budget(api: ModuleType) -> None:
    policy = within(600, rules=(Rule("bash", kind="command", key="command", keep="first"),))
    messages = join(*[bash("ls", f"{n}" * 300, f"t{n}") for n in range(5)])
    carried = api.carry(messages, policy=policy)
    assert carried.report.superseded == {"earlier_call": 4}
    assert "0" * 300 in carried.text


def test_every_walked_block_has_one_fate(api: ModuleType) -> None:
    report = api.carry(runs(60, 500), policy=within(3_000)).report
    assert not report.walked_all
    assert report.walked == report.shown + report.left_out


def test_a_count_is_exact_where_everything_was_walked(api: ModuleType) -> None:
    def step(call_id: str, name: str, given: dict[str, str], text: str) -> list[Any]:
        return [assistant(use(call_id, name, **given)), user(result(call_id, text))]

    messages = [
        *step("1", "Bash", {"command": "ls"}, "1"),
        *step("2", "Grep", {"pattern": "x"}, "y" * 3_000),
        *step("3", "Bash", {"command": "ls"}, "3"),
        *step("4", "Bash", {"command": "ls"}, "4"),
    ]
    carried = api.carry(messages, policy=within(600))
    assert carried.report.walked_all
    assert "### ls (latest of 3 runs)" in carried.text
