"""Structures that no format knows: every job reports them, and nothing known is among them."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders.families import FAMILIES
from support.rows import for_each

from toolcarry import CarryPolicy, InputError, ProjectPolicy
from toolcarry.types.unread import MOST_PLACES, Unread, UnreadPlace

JsonObject = dict[str, Any]

HELLO = {"role": "user", "content": "Boil the egg."}
DONE = {"role": "assistant", "content": "It is boiled."}
CALL = {"id": "c1", "type": "function", "function": {"name": "boil", "arguments": "{}"}}
FLAT = {"id": "c1", "name": "boil", "args": {"minutes": 4}, "type": "tool_call"}

UNKNOWN: dict[str, JsonObject] = {
    "another role": {"role": "toolResult", "content": "soft"},
    "no role": {"type": "human", "content": "Boil the egg."},
    "a role that is no text": {"role": 7, "content": "Boil the egg."},
    "content under another name": {"role": "assistant", "segments": [{"words": "I boil."}]},
    "content that is an object": {"role": "user", "content": {"words": "Boil the egg."}},
    "a part of another type": {"role": "assistant", "content": [{"type": "tool-call", "toolName": "boil"}]},
    "a part without a type": {"role": "assistant", "content": [{"tool_call": {"name": "boil"}}]},
    "a part that is a number": {"role": "user", "content": [7]},
    "a result without id and content": {"role": "user", "content": [{"type": "tool_result", "run": {}}]},
    "calls under another name": {"role": "assistant", "content": "", "toolUses": [CALL]},
    "a call without a function": {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]},
    "a call whose function is a text": {"role": "assistant", "tool_calls": [{"id": "c1", "function": "boil"}]},
    "a flat call with args": {"role": "assistant", "content": "", "tool_calls": [FLAT]},
    "a call without a role": {"type": "assistant", "tool_calls": [{"id": "c1", "name": "boil", "given": "{}"}]},
    "an answer to another name": {"role": "tool", "content": "soft", "toolResults": ["c1"]},
    "an answer in parts": {"role": "tool", "content": [{"type": "tool-result", "output": "soft"}]},
    "an answer without content": {"role": "tool", "blocks": [{"text": "soft"}]},
    "parts with another mark": {"parts": [{"part_kind": "user-prompt", "content": "Boil the egg."}]},
    "an item of another type": {"type": "boiling_finished", "id": "x"},
    "an event": {"type": "step.completed", "step": {"type": "message", "text": "I boil."}},
    "a record of Codex with another item": {"type": "response_item", "payload": {"type": "boiled"}},
    "keys of an importer": {"kind": "Prompt", "data": {"words": "Boil the egg."}},
    "nothing but keys of an importer": {"data": {}, "kind": "Prompt"},
    "typed parts": {"role": "assistant", "parts": [{"type": "pause"}]},
}  # fmt: skip

KNOWN: dict[str, JsonObject] = {
    "text": HELLO,
    "a system message": {"role": "developer", "content": [{"type": "input_text", "text": "Be kind."}]},
    "thinking": {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]},
    "images": {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}, "and a text"]},
    "Bedrock's parts": {"role": "user", "content": [{"text": "Boil."}, {"cachePoint": {"type": "default"}}]},
    "Gemini's parts": {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"inlineData": {}}]},
    "an empty answer of Chat": {"role": "assistant", "content": None, "refusal": "No.", "annotations": []},
    "no parts": {"role": "model", "parts": []},
    "no calls": {"role": "assistant", "content": "Hm.", "tool_calls": [], "toolCalls": []},
    "a result with an empty id": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": ""}]},
    "an answer without ids": {"role": "tool", "content": "soft"},
    "an answer with a name": {"role": "tool", "tool_name": "boil", "content": [{"boiled": True}]},
    "an answer of unknown parts": {"role": "tool", "tool_call_id": "c1", "content": [{"type": "egg"}]},
    "a flat call": {"role": "assistant", "tool_calls": [{"id": "c1", "name": "boil", "arguments": "{}"}]},
    "reasoning": {"type": "reasoning", "summary": []},
    "an item of its own": {"type": "mcp_approval_request", "id": "m"},
    "a record of Claude Code": {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
    "a summary": {"type": "summary", "summary": "An egg.", "leafUuid": "u"},
    "a record of Codex": {"type": "event_msg", "payload": {"type": "token_count"}},
    "the state of an old rollout": {"record_type": "state"},
}  # fmt: skip


def body_of(messages: list[JsonObject]) -> bytes:
    return json.dumps(messages).encode()


def lines_of(messages: list[JsonObject]) -> bytes:
    return b"\n".join(json.dumps(message).encode() for message in messages)


@for_each("message", UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_structure_is_reported_by_every_job(
    api: ModuleType, rust: ModuleType, message: JsonObject
) -> None:
    messages = [HELLO, message, DONE]
    for given in (messages, body_of(messages), lines_of(messages)):
        unread = rust.inspect(given).unread
        assert (unread.count, unread.total) == (1, 3)
        assert unread.first[0].position == 1
        assert unread.first[0].keys
        assert api.carry(given).report.unread == unread
        assert rust.recount(given).report.unread == unread
        assert api.convert(given, to="openai").unread == unread
    assert rust.project(messages).report.unread == unread
    assert rust.project_body(body_of(messages)).report.unread == unread
    repair = ProjectPolicy(repair=True)
    for mended in (
        rust.project(messages, policy=repair),
        rust.project_body(body_of(messages), policy=repair),
    ):
        assert mended.report.not_repaired.endswith("unread in message 1")
        assert mended.report.mends == ()
    assert api.extract_tool_blocks(messages) == []


@for_each("message", KNOWN.values(), ids=KNOWN)
def test_a_known_structure_is_no_alarm(rust: ModuleType, message: JsonObject) -> None:
    for given in ([message], body_of([message]), lines_of([message, HELLO])):
        assert not rust.inspect(given).unread


@for_each("family", FAMILIES)
def test_the_conversations_of_the_formats_are_read(rust: ModuleType, family: str) -> None:
    assert not rust.inspect(FAMILIES[family]("t1")).unread


@for_each(
    ("message", "keys"),
    [
        ({"role": "assistant", "content": [{"type": "x", "n": 1}]}, ("type", "n")),
        ({"role": "assistant", "tool_calls": [CALL, FLAT]}, ("id", "name", "args", "type")),
        ({"role": "user", "content": [7]}, ("role", "content")),
        ({"kind": "Prompt", "data": {}}, ("kind", "data")),
        ({"k" * 100: 1, "\x1b[31m": 2}, ("k" * 39 + "…", "\ufffd[31m")),
        ({f"key{number}": 0 for number in range(20)}, tuple(f"key{number}" for number in range(8))),
    ],
)
def test_the_innermost_keys_are_shown_and_no_text(rust: ModuleType, message: JsonObject, keys: tuple[str, ...]) -> None:  # fmt: skip
    for given in ([message], body_of([message])):
        assert rust.inspect(given).unread == Unread(1, 1, (UnreadPlace(0, keys),))


def test_the_first_places_are_named_and_all_are_counted(rust: ModuleType) -> None:
    unread = rust.inspect([HELLO, *({"odd": number} for number in range(20))]).unread
    assert (unread.count, unread.total) == (20, 21)
    assert [place.position for place in unread.first] == list(range(1, 1 + MOST_PLACES))


def test_objects_without_members_are_unread(rust: ModuleType) -> None:
    class Function:
        name = "boil"
        arguments = "{}"

    class Call:
        id = "c1"
        function = Function()

    unread = rust.inspect([{"role": "assistant", "content": None, "tool_calls": [Call()]}]).unread
    assert unread == Unread(1, 1, (UnreadPlace(0, ("role", "content", "tool_calls")),))


def test_nothing_is_read_as_the_nearest_format(rust: ModuleType) -> None:
    for message in UNKNOWN.values():
        assert rust.inspect([message]).shape in ("unknown", "codex")


def test_a_walk_that_stops_early_reports_what_it_passed(api: ModuleType, rust: ModuleType) -> None:
    messages: list[JsonObject] = [{"odd": 1}]
    for number in range(60):
        call_id = f"t{number}"
        use = {
            "type": "tool_use",
            "id": call_id,
            "name": "Bash",
            "input": {"command": f"boil {number}"},
        }
        said = {"type": "tool_result", "tool_use_id": call_id, "content": "soft " * 300}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [said]}]
    messages.append({"odd": 2})
    for given in (messages, body_of(messages), lines_of(messages)):
        report = api.carry(given, policy=CarryPolicy(max_chars=20_000, layout="sections")).report
        assert not report.walked_all
        assert (report.unread.count, report.unread.first[0].position) == (1, 121)
        assert 1 < report.unread.total < 122
        assert rust.inspect(given).unread.count == 2


def test_reports_are_plain_values(api: ModuleType, rust: ModuleType) -> None:
    messages = [{"odd": 1}]
    said = {"count": 1, "total": 1, "first": [{"position": 0, "keys": ["odd"]}], "texts": 0}
    reports = [
        api.carry(messages).report,
        rust.recount(messages).report,
        rust.project(messages).report,
    ]
    for report in (*reports, rust.inspect(messages)):
        assert json.loads(json.dumps(report.to_dict()))["unread"] == said
    assert rust.inspect(messages).unread.is_everything
    assert not rust.inspect([]).unread.is_everything


CONVERSATIONS = {
    "lists": [[HELLO, DONE], [HELLO]],
    "an empty list first": [[], [HELLO]],
    "requests": [{"id": "a", "messages": [HELLO]}, {"id": "b", "messages": [DONE]}],
    "one request": [{"model": "m", "input": [HELLO]}],
}


@pytest.mark.parametrize("many", CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_an_array_of_conversations_is_refused(
    api: ModuleType, rust: ModuleType, many: list[Any]
) -> None:
    jobs = [api.carry, rust.inspect, rust.recount, api.dialogue, api.extract_tool_blocks]
    for job in (*jobs, lambda given: api.convert(given, to="openai"), api.count_tokens):
        for given in (many, body_of(many)):
            with pytest.raises(InputError, match="many conversations"):
                job(given)
    with pytest.raises(InputError, match="many conversations"):
        rust.project(many)
    assert rust.project_body(body_of(many)).report.untouched == "many conversations"


@pytest.mark.parametrize(
    "messages",
    [
        [{"call_id": "a", "output": "x", "uuid": "u"}, {"call_id": "b", "output": "y", "role": "z"}],
        [{"type": "assistant", "uuid": "u"}, {"type": "assistant", "uuid": "u"}, {"role": "user", "content": "x"}],
    ],
)  # fmt: skip
def test_an_odd_record_without_an_importer_is_surveyed(rust, messages):
    """A record that is repeated, or is none, is not read in the walk, but its format is asked for."""
    assert rust.inspect(messages).messages == len(messages)
    lines = "\n".join(map(json.dumps, messages)).encode()
    assert rust.inspect(lines) == rust.inspect(messages)


@for_each(
    "record",
    [
        {"type": "frame-link", "sessionId": "s", "path": "/a.html", "frameUrl": "https://a.example", "artifactCount": 1},
        {"type": "atis-latch", "sessionId": "s", "atis": ""},
        {"type": "cost-state", "sessionId": "s", "totalCostUSD": 1},
        {"type": "bridge-session", "sessionId": "s", "bridgeSessionId": "b"},
        {"type": "artifact-comment-monitor", "v": 1, "sessionId": "s", "artifacts": {}},
        {"type": "marble-origami-commit", "sessionId": "s", "collapseId": "1", "summary": "x"},
        {"type": "continued-in", "sessionId": "s"},
        {"type": "relocated", "sessionId": "s"},
    ],
)  # fmt: skip
def test_the_newest_records_of_claude_code_hold_no_message(
    rust: ModuleType, record: JsonObject
) -> None:
    user = {"type": "user", "uuid": "1", "parentUuid": None, "message": HELLO}
    assert rust.inspect([user, record]).unread.count == 0
    without = {key: value for key, value in record.items() if key != "sessionId"}
    assert rust.inspect([user, without]).unread.count == 1


def test_the_messages_of_another_producer_are_read_before_they_are_counted(backend: Any) -> None:
    ask = {"type": "human", "data": {"content": "What is here?"}}
    body = json.dumps(
        [ask, {"type": "human", "data": {"content": [{"type": "odd", "odd": 1}]}}]
    ).encode()
    found = backend.unread(body)
    assert (found.count, found.total, found.first[0].position) == (1, 2, 1)


@for_each("name", list(FAMILIES))
def test_the_keys_are_those_of_the_input(api: ModuleType, name: str) -> None:
    """An import adds members to a message."""
    odd = {"type": "tool_use", "junk": 1}
    unread = api.carry([*FAMILIES[name]("t1"), odd, {"type": "tool_result"}]).report.unread
    assert not {"imported", "unread"} & {key for place in unread.first for key in place.keys}
