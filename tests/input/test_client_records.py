"""Records of Claude Code and Codex that are not messages: streams, summaries, queued texts, stored outputs, rollbacks."""

import json
from types import ModuleType
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st
from support.builders.records import Record, carried, out, record, run, said
from support.examples import examples
from support.oracles.format_checks import ASSISTANT, USER, as_lines, blocks, turns
from support.rows import for_each


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


def test_records_without_a_parent_go_on(api: ModuleType, rust: ModuleType) -> None:
    for given in (STREAM, as_lines(STREAM)):
        assert carried(api, given) == ["a", "b"]  # type: ignore[arg-type]
        found = rust.inspect(given)
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


@for_each(
    "members",
    [
        {"content": "<task-notification>\nb1 ended.\n</task-notification>"},
        {"content": [{"type": "text", "text": "<task-notification>b1 ended.</task-notification>"}]},
        {"content": "<local-command-stdout>b1 ended.</local-command-stdout>"},
        {"content": "b1 ended.", "origin": {"kind": "task-notification"}},
        {"content": "b1 ended.", "subtype": "notification"},
    ],
)
def test_a_notification_is_not_from_the_user(
    api: ModuleType, rust: ModuleType, members: Record
) -> None:
    """Claude Code tells the model about background shells and sub-agents as the user, without ``isMeta``."""
    content, marks = (
        members["content"],
        {key: value for key, value in members.items() if key != "content"},
    )
    records = [
        record("1", None, said("Run b1.")),
        record("2", "1", said(content), **marks),
        record("3", "2", {"role": "assistant", "content": "Done."}),
    ]
    for given in (records, as_lines(records)):
        assert "[CLIENT]" in api.dialogue(given)
        recounted = rust.recount(given)
        assert ("b1 ended" in json.dumps(recounted.messages), recounted.report.client) == (False, 1)
        converted = api.convert(given, to="openai")
        assert "b1 ended" not in json.dumps(converted.messages)
        assert [loss.kind for loss in converted.losses].count("client") == 1


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "<task-notification> is a tag."},
        {"role": "user", "content": "Explain <task-notification>."},
        {"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "text", "text": "<task-notification>"}]},
    ],
)  # fmt: skip
def test_a_text_that_mentions_a_notification(api: ModuleType, message: Record) -> None:
    assert "[CLIENT]" not in api.dialogue([record("1", None, message)])
    assert "[CLIENT]" not in api.dialogue([{"role": "user", "content": "<task-notification>"}])


def test_an_answer_that_no_model_gave(api: ModuleType, rust: ModuleType) -> None:
    """Claude Code writes ``No response requested.`` as a message of the model ``<synthetic>``, without a flag."""
    given = {"role": "assistant", "model": "<synthetic>", "content": "No response requested."}
    records = [record("1", None, said("Wait.")), record("2", "1", given)]
    for each in (records, as_lines(records)):
        assert "[CLIENT]\nNo response requested." in api.dialogue(each)
        assert rust.recount(each).report.client == 1
        assert "No response" not in json.dumps(api.convert(each, to="openai").messages)
    assert "[ASSISTANT]" in api.dialogue([given])


@pytest.mark.parametrize(
    "text",
    ["<environment_context>x</environment_context>", "# AGENTS.md instructions for x", "<turn_aborted>x</turn_aborted>"],
)  # fmt: skip
def test_codex_is_not_the_user(api: ModuleType, rust: ModuleType, text: str) -> None:
    records = [prompt(text), *turn("a")]
    for given in (records, as_lines(records)):
        assert api.dialogue(given).startswith(f"[CLIENT]\n{text}\n[/CLIENT]\n\n[USER]\nDo a.")
        assert rust.recount(given).messages[0]["content"] == "Do a."
        converted = api.convert(given, to="anthropic")
        assert (
            text in json.dumps(converted.messages),
            "Do a." in json.dumps(converted.messages),
        ) == (False, True)
        assert [loss.kind for loss in converted.losses].count("client") == 1


@pytest.mark.parametrize("held", [{"message": "So far: a."}, {"message": "So far: a.", "replacement_history": []}])  # fmt: skip
def test_a_compaction_of_codex_is_a_summary(
    api: ModuleType, rust: ModuleType, held: Record
) -> None:
    records = [*turn("a"), {"type": "compacted", "payload": held}, *turn("b")]
    for given in (records, as_lines(records)):
        assert "[SUMMARY]\nSo far: a.\n[/SUMMARY]\n\n[USER]\nDo b." in api.dialogue(given)
        recounted = rust.recount(given)
        assert ("So far" in json.dumps(recounted.messages), recounted.report.client) == (False, 1)
        converted = api.convert(given, to="openai")
        assert "So far" not in json.dumps(converted.messages)
        assert ("client", "1 compaction") in [(loss.kind, loss.detail) for loss in converted.losses]


@pytest.mark.parametrize(
    "payload", [{"message": ""}, {"message": 7}, {}, {"replacement_history": []}]
)
def test_a_compaction_of_codex_without_text(
    api: ModuleType, rust: ModuleType, payload: Record
) -> None:
    records = [*turn("a"), {"type": "compacted", "payload": payload}]
    assert "SUMMARY" not in api.dialogue(records)
    assert rust.recount(records).report.client == 0


def test_a_summary_after_texts_of_the_client_is_sent(api: ModuleType, rust: ModuleType) -> None:
    """They are not sent, so nothing that the summary covers is."""
    records = [
        record("1", None, said("Caveat."), isMeta=True),
        record("2", "1", said("So far."), isCompactSummary=True),
        record("3", "2", said("Go on.")),
    ]
    for given in (records, as_lines(records)):
        converted = api.convert(given, to="openai")
        recounted = rust.recount(given)
        for messages in (converted.messages, recounted.messages):
            assert [message["content"] for message in messages] == ["So far.", "Go on."]
        assert recounted.report.client == 1


def test_a_summary_of_what_is_gone_is_sent(api: ModuleType, rust: ModuleType) -> None:
    records = [record("1", None, said("So far."), isCompactSummary=True), record("2", "1", run("a")), record("3", "2", out("a"))]  # fmt: skip
    assert "So far." in json.dumps(api.convert(records, to="openai").messages)
    for given in (records, as_lines(records)):
        recounted = rust.recount(given)
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


def test_a_recount_leaves_out_what_the_client_wrote(rust: ModuleType) -> None:
    for records, told, count in (
        (compacted(), ["Paint it.", "Red?", "Go on."], 1),
        (compacted(isMeta=True), ["Paint it.", "Red?"], 2),
        (compacted()[2:], ["It was grey.", "Go on."], 0),
        (compacted(isMeta=True)[3:], ["It was grey."], 1),
    ):
        for given in (records, as_lines(records)):
            found = rust.recount(given)
            assert [message["content"] for message in found.messages] == told
            assert found.report.client == found.report.to_dict()["client"] == count


def test_a_result_in_a_message_of_the_client(rust: ModuleType) -> None:
    """Only the text is the client's."""
    given = out("a")
    given["content"].append({"type": "text", "text": "Caveat."})
    records = [record("1", None, run("a")), record("2", "1", given, isMeta=True)]
    for body in (records, as_lines(records)):
        found = rust.recount(body)
        assert "out of a" in found.messages[0]["content"]
        assert "Caveat." not in json.dumps(found.messages)
        assert found.report.client == 1


def attachment(uuid: str, parent: str, **members: Any) -> Record:
    return {"type": "attachment", "uuid": uuid, "parentUuid": parent, "attachment": members}


@pytest.mark.parametrize("prompt", ["Backwards.", [{"type": "text", "text": "Backwards."}]])
def test_what_was_typed_ahead(api: ModuleType, rust: ModuleType, prompt: Any) -> None:
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
    found = rust.inspect(records)
    assert (found.calls, found.results) == (1, 1)
    assert not found.unread


def queue(operation: str, **members: Any) -> Record:
    return {"type": "queue-operation", "operation": operation, "sessionId": "s", **members}


@for_each(
    ("typed", "left", "later", "is_told"),
    [
        ("Backwards.", queue("remove"), None, True),
        ("Backwards.", None, None, True),
        ("Backwards.", queue("dequeue"), said("Backwards."), False),
        ("Backwards.", queue("dequeue"), said("First this.\nBackwards."), False),
        ("Backwards.", queue("remove", content="Backwards."), {"prompt": "Backwards."}, False),
        ("Backwards.", queue("remove"), said("What?"), True),
        ("Backwards.", queue("popAll", content="Backwards."), None, False),
        ("Backwards.", queue("popAll", content="Forwards."), None, True),
        ("Backwards.", queue("popAll"), None, False),
        ("<task-notification>b1</task-notification>", queue("remove"), None, False),
        ("", queue("remove"), None, False),
        (7, queue("remove"), None, False),
    ],
)
def test_a_queued_text_that_stands_nowhere_else(api: ModuleType, rust: ModuleType, typed: Any, left: Record | None, later: Record | None, is_told: bool) -> None:  # fmt: skip
    records = [
        record("1", None, said("Sort it.")),
        record("2", "1", run("a")),
        queue("enqueue", content=typed),
        *([left] if left is not None else []),
        record("3", "2", out("a")),
    ]
    if later is not None and "prompt" in later:
        records.append(attachment("4", "3", type="queued_command", **later))
    elif later is not None:
        records.append(record("4", "3", later))
    text = typed if isinstance(typed, str) else "7"
    turn = f"[USER]\n{text}\n[/USER]"
    for given in (records, as_lines(records)):
        told = api.dialogue(given)
        assert told.count(turn) == (
            is_told or (later or {}).get("content") == typed or "prompt" in (later or {})
        )
        sent = [message["content"] for message in api.convert(given, to="openai").messages]
        recounted = [message["content"] for message in rust.recount(given).messages]
        for texts in (sent, recounted):
            assert (texts.count(text) > 0) == (turn in told)
        found = rust.inspect(given)
        assert (found.calls, found.results, found.unread.count) == (1, 1, 0)


TEXTS = st.sampled_from(
    ["Backwards.", "Sort it.\nBackwards.", "", "<task-notification>x", "<environment_context>", "\u00e4\u4e2d", 7, None]
) | st.lists(st.sampled_from([{"type": "text", "text": "Backwards."}, {"type": "input_text", "text": "<turn_aborted>"}, 7, "Sort it."]), max_size=2)  # fmt: skip
MODELS = st.sampled_from([{}, {}, {"model": "<synthetic>"}, {"model": "claude"}])
MARKS = st.fixed_dictionaries({}, optional={"isMeta": st.booleans(), "isCompactSummary": st.booleans(), "isApiErrorMessage": st.sampled_from([True, 1]), "origin": st.sampled_from([{"kind": "task-notification"}, {"kind": "human"}, {"kind": 7}, 7])})  # fmt: skip
ROLES = st.sampled_from(["user", "assistant", "tool"])
CLIENT_RECORDS = st.lists(
    st.builds(lambda role, text, marks, model: {"message": {"role": role, "content": text, **model}, **marks}, ROLES, TEXTS, MARKS, MODELS)
    | st.builds(lambda text, mode: {"type": "attachment", "attachment": {"type": "queued_command", "prompt": text, **mode}}, TEXTS, st.sampled_from([{}, {"commandMode": "prompt"}, {"commandMode": "x"}]))
    | st.builds(lambda operation, text: queue(operation, content=text), st.sampled_from(["enqueue", "enqueue", "dequeue", "remove", "popAll"]), TEXTS)
    | st.builds(lambda kind, held: {"type": kind, "payload": held}, st.sampled_from(["compacted", "response_item"]), st.builds(lambda text: {"message": text}, TEXTS) | st.builds(lambda role, text: {"type": "message", "role": role, "content": text}, ROLES, TEXTS))
    | st.builds(lambda number: {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": number}}, st.integers(-1, 2)),
    min_size=2,
    max_size=8,
)  # fmt: skip


def in_a_session(records: list[Record]) -> list[Record]:
    """Give the records that Claude Code links their names and parents."""
    linked: list[Record] = []
    above: str | None = None
    for number, each in enumerate(records):
        if "message" in each or "attachment" in each:
            linked.append({**each, "uuid": f"r{number}", "parentUuid": above})
            above = f"r{number}"
        else:
            linked.append(each)
    return linked


@examples(400)
@hypothesis.given(
    records=CLIENT_RECORDS.flatmap(
        lambda records: st.tuples(*(st.sampled_from([each, each, {**each, "role": None}, {**each, "role": "user"}]) for each in records)).map(list)
    )
)  # fmt: skip
def test_both_backends_tell_the_same_speakers(
    both: tuple[ModuleType, ModuleType], records: list[Record]
) -> None:
    linked = in_a_session(records)
    body = as_lines(linked)
    python, rust = both
    assert python.dialogue(linked) == rust.dialogue(linked)
    assert python.dialogue(body) == rust.dialogue(body)


PREVIEW = "<persisted-output>\nOutput too large. Preview:\nline 1\n</persisted-output>"


@for_each(
    ("held", "shown"),
    [
        ({"stdout": "line 1\nthe end", "stderr": ""}, "the end"),
        ({"content": "line 1\nthe end"}, "the end"),
        ({"result": "line 1\nthe end"}, "the end"),
        ({"content": [{"type": "text", "text": "line 1\nthe end"}]}, "the end"),
        ([{"type": "text", "text": "line 1"}, {"type": "text", "text": "the end"}], "the end"),
        ([], "Preview"),
        ([{"type": "text", "text": ""}], "Preview"),
        ([7], "Preview"),
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


@for_each(
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
