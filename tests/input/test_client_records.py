"""Records of Claude Code and Codex that are not messages: streams, summaries, queued texts, stored outputs, rollbacks."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders.records import Record, carried, out, record, run, said
from support.oracles.format_checks import ASSISTANT, USER, as_lines, blocks, turns


def streamed(uuid: str, message: Any, parent_call: str | None = None) -> Record:
    """A record as the Agent SDK streams it: without the member for its parent."""
    found = record(uuid, None, message, parent_tool_use_id=parent_call)
    del found["parentUuid"]
    return found


STREAM = [
    {"type": "system", "subtype": "init", "uuid": "0"},
    streamed("1", {"role": "assistant", "content": "I look."}),
    streamed("2", run("a")),
    streamed("3", out("a")),
    streamed("4", run("side"), "id_a"),
    streamed("5", out("side"), "id_a"),
    streamed("6", run("b")),
    streamed("7", out("b")),
    {"type": "result", "subtype": "success", "uuid": "8"},
]


def test_records_without_a_parent_go_on(api: ModuleType) -> None:
    for given in (STREAM, as_lines(STREAM)):
        assert carried(api, given) == ["a", "b"]  # type: ignore[arg-type]
        found = api.inspect(given)
        assert (found.calls, found.side_chain_blocks, found.other_branch_blocks) == (3, 1, 0)
        assert api.dialogue(given) == turns((ASSISTANT, "I look."))


def test_the_call_is_the_scope(api: ModuleType) -> None:
    assert [block.scope for block in blocks(api, STREAM)] == ["", "id_a", ""]


def test_an_empty_parent_is_a_root(api: ModuleType) -> None:
    records = [record("1", None, said("left")), record("2", None, said("taken"))]
    assert api.dialogue(records) == turns((USER, "taken"))


def test_the_client_is_not_the_user(api: ModuleType) -> None:
    records = [
        record("1", None, said("Paint it.")),
        record("2", "1", said("What happened so far."), isCompactSummary=True),
        record("3", "2", said("Caveat."), isMeta=True),
        record("4", "3", {"role": "assistant", "content": "API Error."}, isApiErrorMessage=True),
        record("5", "4", {"role": "assistant", "content": "Done. [SUMMARY]"}),
    ]
    told = turns((USER, "Paint it."), ("SUMMARY", "What happened so far."), ("CLIENT", "Caveat."), ("CLIENT", "API Error."), (ASSISTANT, "Done. [\\SUMMARY]"))  # fmt: skip
    assert api.dialogue(records) == api.dialogue(as_lines(records)) == told
    converted = api.convert(records, to="openai")
    assert [message["content"] for message in converted.messages] == [
        "Paint it.",
        "Done. [SUMMARY]",
    ]
    assert [loss.kind for loss in converted.losses].count("client") == 1


def test_a_summary_of_what_is_gone_is_sent(api: ModuleType) -> None:
    records = [record("1", None, said("So far."), isCompactSummary=True), record("2", "1", run("a")), record("3", "2", out("a"))]  # fmt: skip
    assert "So far." in json.dumps(api.convert(records, to="openai").messages)
    for given in (records, as_lines(records)):
        recounted = api.recount(given)
        assert recounted.messages[0] == {"role": "user", "content": "So far."}
        assert recounted.report.client == 0


def compacted(**members: Any) -> list[Record]:
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None}
    return [
        record("1", None, said("Paint it.")),
        record("2", "1", {"role": "assistant", "content": "Red?"}),
        {**boundary, "logicalParentUuid": "2"},
        record("3", "b", said("It was grey."), isCompactSummary=True),
        record("4", "3", said("Go on."), **members),
    ]


def test_a_recount_leaves_out_what_the_client_wrote(api: ModuleType) -> None:
    for records, told, count in (
        (compacted(), ["Paint it.", "Red?", "Go on."], 1),
        (compacted(isMeta=True), ["Paint it.", "Red?"], 2),
        (compacted()[2:], ["It was grey.", "Go on."], 0),
        (compacted(isMeta=True)[3:], ["It was grey."], 1),
    ):
        for given in (records, as_lines(records)):
            found = api.recount(given)
            assert [message["content"] for message in found.messages] == told
            assert found.report.client == found.report.to_dict()["client"] == count


def test_a_result_in_a_message_of_the_client(api: ModuleType) -> None:
    """Only the text is the client's."""
    given = out("a")
    given["content"].append({"type": "text", "text": "Caveat."})
    records = [record("1", None, run("a")), record("2", "1", given, isMeta=True)]
    for body in (records, as_lines(records)):
        found = api.recount(body)
        assert "out of a" in found.messages[0]["content"]
        assert "Caveat." not in json.dumps(found.messages)
        assert found.report.client == 1


def attachment(uuid: str, parent: str, **members: Any) -> Record:
    return {"type": "attachment", "uuid": uuid, "parentUuid": parent, "attachment": members}


@pytest.mark.parametrize("prompt", ["Backwards.", [{"type": "text", "text": "Backwards."}]])
def test_what_was_typed_ahead(api: ModuleType, prompt: Any) -> None:
    records = [
        record("1", None, said("Sort it.")),
        record("2", "1", run("a")),
        record("3", "2", out("a")),
        attachment("4", "3", type="queued_command", prompt=prompt, commandMode="prompt"),
        attachment("5", "4", type="queued_command", prompt="A task ended.", commandMode="task-notification"),
        attachment("6", "5", type="todo", content=[]),
        record("7", "6", {"role": "assistant", "content": "Done."}),
    ]  # fmt: skip
    told = turns((USER, "Sort it."), (USER, "Backwards."), (ASSISTANT, "Done."))
    assert api.dialogue(records) == api.dialogue(as_lines(records)) == told
    found = api.inspect(records)
    assert (found.calls, found.results) == (1, 1)
    assert not found.unread


PREVIEW = "<persisted-output>\nOutput too large. Preview:\nline 1\n</persisted-output>"


@pytest.mark.parametrize(
    ("held", "shown"),
    [
        ({"stdout": "line 1\nthe end", "stderr": ""}, "the end"),
        ({"content": "line 1\nthe end"}, "the end"),
        ({"stdout": 7}, "Preview"),
        ({"stdout": ""}, "Preview"),
        ("the end", "Preview"),
        (None, "Preview"),
    ],
)
def test_the_whole_of_a_stored_output(api: ModuleType, held: Any, shown: str) -> None:
    given = out("a")
    given["content"][0]["content"] = PREVIEW
    records = [record("1", None, run("a")), record("2", "1", given, toolUseResult=held)]
    for body in (records, as_lines(records)):
        assert shown in api.carry(body).text


def item(**payload: Any) -> Record:
    return {"type": "response_item", "payload": payload}


def prompt(text: str) -> Record:
    return item(type="message", role="user", content=[{"type": "input_text", "text": text}])


def turn(name: str) -> list[Record]:
    given = {"name": "exec_command", "call_id": name, "arguments": json.dumps({"cmd": name})}
    said = [{"type": "output_text", "text": f"{name} is done."}]
    return [
        prompt(f"Do {name}."),
        item(type="function_call", **given),
        item(type="function_call_output", call_id=name, output=f"out of {name}"),
        item(type="message", role="assistant", content=said),
    ]


def rolled_back(turns: Any) -> Record:
    return {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": turns}}


@pytest.mark.parametrize(
    ("records", "kept"),
    [
        ([*turn("a"), *turn("b"), rolled_back(1), *turn("c")], ["a", "c"]),
        ([*turn("a"), *turn("b"), rolled_back(2), *turn("c")], ["c"]),
        ([*turn("a"), *turn("b"), rolled_back(1), rolled_back(1), *turn("c")], ["c"]),
        ([*turn("a"), prompt("<environment_context>x</environment_context>"), *turn("b"), rolled_back(1)], ["a"]),
        ([*turn("a"), rolled_back(9)], []),
        ([*turn("a"), rolled_back("1"), rolled_back(-1), rolled_back(None), rolled_back(True)], ["a"]),
    ],
)  # fmt: skip
def test_turns_that_codex_rolled_back(api: ModuleType, records: list[Record], kept: list[str]) -> None:  # fmt: skip
    for given in (records, as_lines(records)):
        active = [block.call_id for block in blocks(api, given) if block.notes.is_active]
        assert active == kept
        assert [f"Do {name}." in api.dialogue(given) for name in "abc"] == [name in kept for name in "abc"]  # fmt: skip
