"""Session files: branches, side chains, split messages, gaps. DESIGN 3, and the hard cases A 7 to 9."""

import json
from types import ModuleType
from typing import Any

import pytest
import strategies
from hypothesis import given, settings
from markdown import shown_blocks
from wire import assistant, bash, result, use, user

from toolcarry import Policy
from toolcarry._pure.carry import carry, carry_walked
from toolcarry._pure.pair import Walk

Record = dict[str, Any]


def record(uuid: str, parent: str | None, message: Any, **more: Any) -> Record:
    return {
        "type": message.get("role"),
        "uuid": uuid,
        "parentUuid": parent,
        "message": message,
        **more,
    }


def run(name: str) -> dict[str, Any]:
    """A call of a command that tells where it stands."""
    return assistant(use(f"id_{name}", command=name))


def out(name: str) -> dict[str, Any]:
    return user(result(f"id_{name}", f"out of {name}"))


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def carried(api: ModuleType, records: list[Any]) -> list[str]:
    """The commands that a context shows."""
    return [shown.heading for shown in shown_blocks(api.carry(records).text)]


def test_a_chain_is_one_conversation(api: ModuleType) -> None:
    records = [
        record("1", None, run("a")),
        record("2", "1", out("a")),
        record("3", "2", run("b")),
        record("4", "3", out("b")),
    ]
    assert carried(api, records) == ["a", "b"]


def test_a_branch_that_was_left_is_not_carried(api: ModuleType) -> None:
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
    assert api.inspect(records).other_branch_blocks == 1


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


def test_a_repeated_record_counts_once(api: ModuleType) -> None:
    records = [
        record("1", None, run("a")),
        record("1", None, run("a")),
        record("2", "1", out("a")),
        record("2", "1", out("a")),
    ]
    assert carried(api, records) == ["a"]
    report = api.carry(records).report
    assert (report.walked, report.repeated_records, report.duplicate_results) == (1, 2, 0)
    assert api.inspect(records).repeated_records == 2


def test_a_side_chain_is_not_carried(api: ModuleType) -> None:
    records = [
        record("1", None, run("main")),
        record("s1", None, run("side"), isSidechain=True, agentId="agent_7"),
        record("s2", "s1", out("side"), isSidechain=True, agentId="agent_7"),
        record("2", "1", out("main")),
    ]
    assert carried(api, records) == ["main"]
    assert api.carry(records).report.excluded == {"side_chain": 1}
    assert [block.scope for block in api.extract_tool_blocks(records)] == ["", "agent_7"]
    assert api.inspect(records).side_chain_blocks == 1


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


def test_inspect_names_the_shape(api: ModuleType) -> None:
    assert api.inspect([record("1", None, run("a"))]).shape == "claude-code"


# The branch that is followed upward


def lines(records: list[Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in records)


def long_session(turns: int) -> list[Record]:
    """Calls with their results, each record the child of the one before it."""
    said = [
        message for number in range(turns) for message in (run(f"c{number}"), out(f"c{number}"))
    ]
    return [
        record(f"r{number}", f"r{number - 1}" if number else None, message)
        for number, message in enumerate(said)
    ]


SMALL = Policy(max_tool_context_chars=600)


def test_the_beginning_of_a_session_stays_unread_where_the_total_is_spent(api: ModuleType) -> None:
    carried = api.carry(b"no record\n" + lines(long_session(200)), policy=SMALL)
    assert not carried.report.walked_all
    assert carried.report.skipped_lines == ()
    assert "c199" in carried.text


def test_a_lost_branch_is_found_by_a_look_at_all_records(api: ModuleType) -> None:
    """A record whose parent is missing stands behind those before it: what was passed by is taken in again."""
    records = long_session(60)
    del records[100:102]
    shown = [f"c{number}" for number in range(60) if number != 50]
    assert carried(api, records) == shown


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(
            record("r9", "r8", run("c4"), isSidechain=True), id="a side chain without agent"
        ),
        pytest.param(
            record("x", "r391", assistant(use("x")) | {"id": "m"}), id="a part of a message"
        ),
        pytest.param(record("r395", "r398", run("c4")), id="a parent behind its child"),
        pytest.param({"role": "user", "uuid": "r396", "content": "hi"}, id="a name with a role"),
    ],
)
def test_what_does_not_tell_its_place_makes_all_be_looked_at(api: ModuleType, odd: Record) -> None:
    records = [*long_session(200)[:396], odd, *long_session(200)[397:]]
    given = b"no record\n" + lines(records)
    assert api.carry(given, policy=SMALL).report.skipped_lines == (1,)


@settings(max_examples=400)
@given(
    records=strategies.sessions() | strategies.tangles | strategies.transcripts,
    policy=strategies.policies,
)
def test_following_the_branch_finds_what_a_look_at_all_records_finds(
    records: list[Any], policy: Policy
) -> None:
    assert carry(records, "", policy) == carry_walked(Walk(records), "", policy, None)


def test_a_record_that_is_written_again_counts_where_it_was_written_last(api: ModuleType) -> None:
    records = [*long_session(3), *long_session(2)]
    assert carried(api, records) == ["c0", "c1"]
    blocks = api.extract_tool_blocks(records)
    assert [(block.tool_use["input"]["command"], block.position) for block in blocks] == [
        ("c2", 4),
        ("c0", 6),
        ("c1", 8),
    ]
