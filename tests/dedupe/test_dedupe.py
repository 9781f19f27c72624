"""Superseding: what newer blocks make of older ones."""

from types import ModuleType
from typing import Any

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
from support.rows import for_each

from toolcarry import ToolBlock


def kept(api: ModuleType, *turns: list[Any], rules: Any = ()) -> list[str]:
    """The ids of the blocks that stay."""
    blocks = api.extract_tool_blocks(join(*turns))
    return [block.call_id for block in api.deduplicate_tools(blocks, rules=rules)]


# Reads


def test_the_last_read_of_a_file_stays(api: ModuleType) -> None:
    turns = read("a.py", "1", "r1"), read("b.py", "2", "r2"), read("a.py", "3", "r3")
    assert kept(api, *turns) == ["r2", "r3"]
    assert api.carry(join(*turns)).report.superseded == {"later_read": 1}


def test_paths_are_compared_in_their_normal_form(api: ModuleType) -> None:
    assert kept(
        api, read("a.py", "1", "r1"), read("./a.py", "2", "r2"), read("A.py", "3", "r3")
    ) == ["r2", "r3"]


def test_different_tools_read_the_same_file(api: ModuleType) -> None:
    view = turn("view", {"path": "a.py"}, "2", "r2")
    assert kept(api, read("a.py", "1", "r1"), view) == ["r2"]


RANGES: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    # the older, the later, whether the later one covers it
    ({"offset": 10, "limit": 5}, {"offset": 10, "limit": 5}, True),
    ({"offset": 10, "limit": 5}, {"offset": 9, "limit": 10}, True),
    ({"offset": 10, "limit": 5}, {"offset": 10, "limit": 4}, False),
    ({"offset": 10, "limit": 5}, {"offset": 11, "limit": 10}, False),
    ({"offset": 10, "limit": 5}, {}, True),
    ({}, {"offset": 1, "limit": 2000}, True),
    ({}, {"offset": 1, "limit": 1999}, False),
    ({}, {"offset": 2}, False),
    ({"offset": 1_990, "limit": 11}, {}, True),
    ({"offset": 1_990, "limit": 12}, {}, False),
    ({"offset": 3_000}, {}, False),
    ({"start_line": 10, "end_line": 20}, {"start_line": 5, "end_line": 20}, True),
    ({"start_line": 10, "end_line": 20}, {"start_line": 5, "end_line": 19}, False),
    ({"start_line": 10, "end_line": 20}, {"offset": 10, "limit": 11}, True),
    ({"view_range": [10, 20]}, {"view_range": [1, 20]}, True),
    ({"view_range": [10, -1]}, {"view_range": [9, -1]}, True),
    ({"view_range": [10, -1]}, {"view_range": [1, 5_000]}, False),
    ({"view_range": [10, 5_000]}, {"view_range": [1, -1]}, True),
    ({"limit": 10}, {"offset": 1, "limit": 10}, True),
]


@for_each(("older", "later", "covers"), RANGES)
def test_a_range_is_superseded_by_a_read_that_covers_it(
    api: ModuleType, older: dict[str, Any], later: dict[str, Any], covers: bool
) -> None:
    turns = read("a.py", "1", "r1", **older), read("a.py", "2", "r2", **later)
    assert kept(api, *turns) == (["r2"] if covers else ["r1", "r2"])


def test_one_later_read_must_cover_it(api: ModuleType) -> None:
    halves = (
        read("a.py", "2", "r2", offset=1, limit=10),
        read("a.py", "3", "r3", offset=11, limit=10),
    )
    assert kept(api, read("a.py", "1", "r1", offset=5, limit=10), *halves) == ["r1", "r2", "r3"]
    assert kept(api, read("a.py", "1", "r1", offset=5, limit=6), *halves) == ["r2", "r3"]


def test_a_failed_read_covers_nothing_that_succeeded(api: ModuleType) -> None:
    assert kept(api, read("a.py", "1", "r1"), read("a.py", "no", "r2", is_error=True)) == [
        "r1",
        "r2",
    ]


def test_a_failed_read_is_superseded_by_any_later_one(api: ModuleType) -> None:
    failed = read("a.py", "no", "r1", is_error=True)
    assert kept(api, failed, read("a.py", "1", "r2", offset=9, limit=1)) == ["r2"]
    assert kept(api, failed, read("a.py", "no", "r2", is_error=True)) == ["r2"]
    assert kept(api, open_call("Read", {"file_path": "a.py"}, "r1"), read("a.py", "1", "r2")) == [
        "r2"
    ]


def test_a_read_before_an_edit_stays_and_says_so(api: ModuleType, rust: ModuleType) -> None:
    turns = read("a.py", "old", "r1"), edit("a.py", "x", "y", "e1")
    assert kept(api, *turns) == ["r1", "e1"]
    assert "### a.py (edited after this read)\n" in api.carry(join(*turns)).text
    assert rust.inspect(join(*turns)).stale_reads == 1


def test_a_read_after_the_edit_is_not_stale(api: ModuleType) -> None:
    turns = edit("a.py", "x", "y", "e1"), read("a.py", "new", "r1")
    assert "edited after" not in api.carry(join(*turns)).text


def test_a_failed_edit_makes_nothing_stale(api: ModuleType) -> None:
    for failed in (
        edit("a.py", "x", "y", "e1", is_error=True),
        open_call("Edit", {"file_path": "a.py"}, "e1"),
    ):
        assert "edited after" not in api.carry(join(read("a.py", "x", "r1"), failed)).text


# Edits


def test_the_last_edit_of_a_file_stays_with_the_number_of_all(api: ModuleType) -> None:
    turns = edit("a.py", "1", "2", "e1"), write("a.py", "3", "e2"), edit("a.py", "3", "4", "e3")
    assert kept(api, *turns) == ["e3"]
    assert "### a.py (3 edits, last shown)\n" in api.carry(join(*turns)).text
    assert api.carry(join(*turns)).report.superseded == {"later_edit": 2}


def test_a_failed_edit_supersedes_nothing(api: ModuleType) -> None:
    turns = edit("a.py", "1", "2", "e1"), edit("a.py", "3", "4", "e2", is_error=True)
    assert kept(api, *turns) == ["e1", "e2"]
    twice = (*turns, edit("a.py", "3", "4", "e3", is_error=True))
    assert kept(api, *twice) == ["e1", "e2", "e3"]


def test_a_failed_edit_is_superseded_by_a_later_success(api: ModuleType) -> None:
    failed = edit("a.py", "1", "2", "e1", is_error=True)
    assert kept(api, failed, edit("a.py", "1", "3", "e2")) == ["e2"]
    assert "edits" not in api.carry(join(failed, edit("a.py", "1", "3", "e2"))).text


def test_reads_and_edits_do_not_supersede_each_other(api: ModuleType) -> None:
    assert kept(api, edit("a.py", "1", "2", "e1"), read("a.py", "2", "r1")) == ["e1", "r1"]


# Commands


def test_the_last_run_of_a_command_stays_with_the_number_of_all(api: ModuleType) -> None:
    turns = (
        bash("pytest", "1 failed", "c1"),
        bash("ls", "a", "c2"),
        bash("pytest", "2 passed", "c3"),
    )
    assert kept(api, *turns) == ["c2", "c3"]
    assert "### pytest (latest of 2 runs)\n" in api.carry(join(*turns)).text
    assert api.carry(join(*turns)).report.superseded == {"later_run": 1}


def test_counts_stay_with_their_blocks_in_any_order(api: ModuleType) -> None:
    commands = ("pytest", "ls", "make")
    turns = [bash(name, "", f"{name} {run}") for run in range(3) for name in commands]
    blocks = api.deduplicate_tools(api.extract_tool_blocks(join(*turns)))
    for given in (blocks, blocks[::-1], [blocks[1], blocks[2], blocks[0]]):
        context = api.format_tool_context(given)
        assert all(f"### {name} (latest of 3 runs)\n" in context for name in commands)


def test_commands_are_compared_exactly(api: ModuleType) -> None:
    assert kept(api, bash("ls", "1", "c1"), bash("ls ", "2", "c2"), bash("LS", "3", "c3")) == [
        "c1",
        "c2",
        "c3",
    ]


@for_each("command", ["git commit -m x", "rm -f a && ls", "echo x > f", "X=1 sudo tee f"])
def test_a_command_with_side_effects_stays_every_time(api: ModuleType, command: str) -> None:
    turns = bash(command, "1", "c1"), bash(command, "2", "c2")
    assert kept(api, *turns) == ["c1", "c2"]
    assert "latest of" not in api.carry(join(*turns)).text


def test_a_failure_is_shown_when_it_is_the_last_and_the_last_success_next_to_it(
    api: ModuleType,
) -> None:
    turns = (
        bash("pytest", "old", "c1"),
        bash("pytest", "good", "c2"),
        bash("pytest", "bad", "c3", is_error=True),
        bash("pytest", "worse", "c4", is_error=True),
    )
    assert kept(api, *turns) == ["c2", "c4"]


def test_a_failure_before_a_success_goes(api: ModuleType) -> None:
    assert kept(api, bash("pytest", "bad", "c1", is_error=True), bash("pytest", "good", "c2")) == [
        "c2"
    ]


def test_an_interrupted_run_is_a_failure(api: ModuleType) -> None:
    hanging = open_call("Bash", {"command": "pytest"}, "c2")
    assert kept(api, bash("pytest", "good", "c1"), hanging) == ["c1", "c2"]
    assert kept(api, hanging, bash("pytest", "good", "c3")) == ["c3"]


# Other tools, and what has no key


def test_other_tools_are_never_superseded(api: ModuleType) -> None:
    same = {"pattern": "x"}
    assert kept(api, turn("Grep", same, "1", "g1"), turn("Grep", same, "1", "g2")) == ["g1", "g2"]


def test_results_without_call_are_never_superseded(api: ModuleType) -> None:
    orphans = [
        message
        for message in join(read("a.py", "1", "x"), read("a.py", "2", "y"))
        if message["role"] == "user"
    ]
    assert kept(api, orphans) == ["x", "y"]


# The step by itself


def test_nothing_is_changed_and_the_rest_comes_back_as_it_was(api: ModuleType) -> None:
    blocks = api.extract_tool_blocks(
        join(read("a.py", "1", "r1"), bash("ls", "2", "c1"), read("a.py", "3", "r2"))
    )
    before = repr(blocks)
    found = api.deduplicate_tools(blocks)
    assert repr(blocks) == before
    assert [block.tool_use for block in found] == [blocks[1].tool_use, blocks[2].tool_use]
    command, newer = found
    assert command is blocks[1]
    assert newer is blocks[2]
    assert api.deduplicate_tools([]) == []


def test_blocks_made_by_hand(api: ModuleType) -> None:
    blocks = [
        ToolBlock(use(name, "Read", file_path="a.py"), {"content": name}, "Read", call_id=name)
        for name in "ab"
    ]
    assert [block.call_id for block in api.deduplicate_tools(blocks)] == ["b"]


def test_deduplicating_twice_changes_nothing_more(api: ModuleType) -> None:
    messages = join(
        bash("ls", "1", "c1"),
        bash("ls", "2", "c2"),
        read("a.py", "1", "r1"),
        edit("a.py", "1", "2", "e1"),
    )
    once = api.deduplicate_tools(api.extract_tool_blocks(messages))
    assert [block.call_id for block in api.deduplicate_tools(once)] == [
        block.call_id for block in once
    ]


def test_a_result_that_never_came_supersedes_no_success(api: ModuleType) -> None:
    messages = [
        assistant(use("1", "Read", file_path="a")),
        user(result("1", "CONTENT")),
        assistant(use("2", "Read", file_path="a")),
        user(result("2", "[Request interrupted by user for tool use]")),
    ]
    blocks = api.deduplicate_tools(api.extract_tool_blocks(messages))
    assert [block.call_id for block in blocks] == ["1", "2"]


@for_each(
    ("older", "newer", "stays"),
    [
        ({"offset": "1", "limit": "100"}, {"offset": "101", "limit": "100"}, True),
        ({"offset": "5", "limit": "9"}, {"offset": 1, "limit": 100}, False),
        ({"pages": "1-5"}, {"pages": "6-10"}, True),
        ({"offset": 1, "limit": 100}, {"offset": -50}, True),
        ({"pages": "1-5"}, {}, True),
    ],
)
def test_ranges_in_other_words(
    api: ModuleType, older: dict[str, Any], newer: dict[str, Any], stays: bool
) -> None:
    messages = [
        assistant(use("1", "Read", file_path="a", **older)),
        user(result("1", "one")),
        assistant(use("2", "Read", file_path="a", **newer)),
        user(result("2", "two")),
    ]
    blocks = api.deduplicate_tools(api.extract_tool_blocks(messages))
    assert [block.call_id for block in blocks] == (["1", "2"] if stays else ["2"])


def test_a_range_that_cannot_be_read_covers_nothing_and_is_covered_by_nothing(
    api: ModuleType,
) -> None:
    messages = join(
        read("a.py", "old", "t1", offset="many"),
        read("a.py", "whole", "t2"),
        read("a.py", "new", "t3", offset=[]),
    )
    found = api.deduplicate_tools(api.extract_tool_blocks(messages))
    assert [block.call_id for block in found] == ["t1", "t2", "t3"]
