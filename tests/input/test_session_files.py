"""Session files: branches, side chains, split messages, gaps."""

from types import ModuleType
from typing import Any

from support.builders.records import carried, out, record, run, said
from support.builders.wire import assistant, bash, result, use, user


def test_a_chain_is_one_conversation(api: ModuleType) -> None:
    records = [
        record("1", None, run("a")),
        record("2", "1", out("a")),
        record("3", "2", run("b")),
        record("4", "3", out("b")),
    ]
    assert carried(api, records) == ["a", "b"]


def test_a_branch_that_was_left_is_not_carried(api: ModuleType, rust: ModuleType) -> None:
    records = [
        record("1", None, said("go")),
        record("2", "1", run("left")),
        record("3", "2", out("left")),
        record("4", "1", run("taken")),
        record("5", "4", out("taken")),
    ]
    assert carried(api, records) == ["taken"]
    assert api.carry(records).report.excluded == {"other_branch": 1}
    assert [block.notes.is_active for block in api.extract_tool_blocks(records)] == [False, True]
    assert rust.inspect(records).other_branch_blocks == 1


def test_the_results_of_parallel_calls_stand_on_sibling_branches(api: ModuleType) -> None:
    records = [
        record("1", None, said("go")),
        record("2", "1", {**assistant(use("id_a", command="a")), "id": "msg_1"}),
        record("3", "2", {**assistant(use("id_b", command="b")), "id": "msg_1"}),
        record("4", "2", out("a")),
        record("5", "3", out("b")),
        record("6", "5", said("thanks")),
    ]
    assert carried(api, records) == ["a", "b"]
    assert "out of a" in api.carry(records).text


def test_a_message_split_over_records_is_taken_whole(api: ModuleType) -> None:
    records = [
        record("1", None, said("go")),
        record("2", "1", {**assistant(use("id_a", command="a")), "id": "msg_1"}),
        record("3", "1", {**assistant(use("id_b", command="b")), "id": "msg_1"}),
        record("4", "3", out("b")),
        record("5", "2", out("a")),
        record("6", "4", said("thanks")),
    ]
    assert carried(api, records) == ["a", "b"]
    assert "out of a" in api.carry(records).text


def test_a_record_before_its_parent(api: ModuleType) -> None:
    records = [
        record("2", "1", out("a")),
        record("1", None, run("a")),
        record("3", "2", run("b")),
        record("4", "3", out("b")),
    ]
    assert "b" in carried(api, records)


def test_a_broken_chain_goes_on_in_file_order(api: ModuleType) -> None:
    records: list[Any] = [
        record("1", None, run("before")),
        record("2", "1", out("before")),
        {},
        record("4", "lost", run("after")),
        record("5", "4", out("after")),
    ]
    assert carried(api, records) == ["before", "after"]


def test_nothing_before_any_gap_is_lost(api: ModuleType) -> None:
    records: list[Any] = []
    for number in range(4):
        records += [
            record(f"c{number}", f"lost{number}", run(f"{number}")),
            record(f"r{number}", f"c{number}", out(f"{number}")),
        ]
    assert carried(api, records) == ["0", "1", "2", "3"]


def test_parents_in_a_circle(api: ModuleType) -> None:
    records = [record("1", "2", run("a")), record("2", "1", out("a")), record("3", "3", run("b"))]
    assert carried(api, records)[-1] == "b (interrupted: no result)"


def test_a_compacted_session_goes_on_by_its_logical_parent(api: ModuleType) -> None:
    records = [
        record("1", None, run("a")),
        record("2", "1", out("a")),
        record("3", None, said("compacted"), logicalParentUuid="2"),
        record("4", "3", run("b")),
        record("5", "4", out("b")),
    ]
    assert carried(api, records) == ["a", "b"]


def test_a_new_root_begins_a_new_conversation(api: ModuleType) -> None:
    records = [
        record("1", None, run("a")),
        record("2", "1", out("a")),
        record("3", None, run("b")),
        record("4", "3", out("b")),
    ]
    assert carried(api, records) == ["b"]


def test_a_repeated_record_counts_once(api: ModuleType, rust: ModuleType) -> None:
    records = [
        record("1", None, run("a")),
        record("1", None, run("a")),
        record("2", "1", out("a")),
        record("2", "1", out("a")),
    ]
    assert carried(api, records) == ["a"]
    report = api.carry(records).report
    assert (report.walked, report.repeated_records, report.duplicate_results) == (1, 2, 0)
    assert rust.inspect(records).repeated_records == 2


def test_a_side_chain_is_not_carried(api: ModuleType, rust: ModuleType) -> None:
    records = [
        record("1", None, run("main")),
        record("s1", None, run("side"), isSidechain=True, agentId="agent_7"),
        record("s2", "s1", out("side"), isSidechain=True, agentId="agent_7"),
        record("2", "1", out("main")),
    ]
    assert carried(api, records) == ["main"]
    assert api.carry(records).report.excluded == {"side_chain": 1}
    assert [block.scope for block in api.extract_tool_blocks(records)] == ["", "agent_7"]
    assert rust.inspect(records).side_chain_blocks == 1


def test_a_side_chain_without_agent_is_named_by_its_root(api: ModuleType) -> None:
    records = [
        record("1", None, said("go")),
        record("s1", None, said("task"), isSidechain=True),
        record("s2", "s1", run("side"), isSidechain=True),
        record("t1", None, said("task"), isSidechain=True),
        record("t2", "t1", run("other"), isSidechain=True),
    ]
    assert [block.scope for block in api.extract_tool_blocks(records)] == ["s1", "t1"]


def test_a_side_chain_never_supersedes_another_scope(api: ModuleType) -> None:
    records = [
        record("1", None, run("ls")),
        record("2", "1", out("ls")),
        record("s1", None, assistant(use("x", command="ls")), isSidechain=True, agentId="a"),
        record("s2", "s1", user(result("x", "side")), isSidechain=True, agentId="a"),
    ]
    blocks = api.deduplicate_tools(api.extract_tool_blocks(records))
    assert len(blocks) == 2
    assert carried(api, records) == ["ls"]


def test_a_file_of_one_side_chain_is_that_conversation(api: ModuleType) -> None:
    records = [
        record("s1", None, run("side"), isSidechain=True, agentId="a"),
        record("s2", "s1", out("side"), isSidechain=True, agentId="a"),
    ]
    assert carried(api, records) == ["side"]
    assert api.carry(records).report.excluded == {}


def test_two_side_chains_alone_are_neither(api: ModuleType) -> None:
    records = [
        record("s1", None, run("one"), isSidechain=True, agentId="a"),
        record("s2", None, run("two"), isSidechain=True, agentId="b"),
    ]
    assert api.carry(records).report.excluded == {"side_chain": 2}


def test_a_result_on_another_branch_belongs_to_its_call(api: ModuleType) -> None:
    records = [
        record("1", None, run("a")),
        record("2", "1", out("a")),
        record("3", "1", said("never mind")),
    ]
    assert carried(api, records) == ["a"]
    assert "out of a" in api.carry(records).text


def test_records_that_are_no_messages_change_nothing(api: ModuleType) -> None:
    records: list[Any] = [
        {"type": "summary", "summary": "S", "leafUuid": "9"},
        record("1", None, run("a")),
        {"type": "file-history-snapshot", "messageId": "1", "snapshot": {}},
        {"type": "system", "uuid": "x", "parentUuid": "1", "content": "hook"},
        record("2", "x", out("a")),
        {"type": "progress", "uuid": "y", "parentUuid": "2"},
    ]
    assert carried(api, records) == ["a"]
    assert "out of a" in api.carry(records).text


def test_plain_messages_before_a_session_are_active(api: ModuleType) -> None:
    records = [*bash("ls", "plain"), record("1", None, run("a")), record("2", "1", out("a"))]
    assert carried(api, records) == ["ls", "a"]


def test_inspect_names_the_shape(rust: ModuleType) -> None:
    assert rust.inspect([record("1", None, run("a"))]).shape == "claude-code"
