"""Next to what no format knows, a repair removes, makes up, merges and renames nothing; elsewhere it does its work."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.oracles.repairs import mends_of_messages

from toolcarry import ProjectPolicy
from toolcarry.types.values import ProjectReport

JsonObject = dict[str, Any]
REPAIR = ProjectPolicy(repair=True)


class Function:
    name = "dig"
    arguments = "{}"


class Call:
    """A call whose members can't be read, as of an SDK without ``model_dump``."""

    id = "c1"
    type = "function"
    function = Function()


def asked(text: str) -> JsonObject:
    return {"role": "user", "content": text}


def chat_call(call_id: str) -> JsonObject:
    call = {"id": call_id, "type": "function", "function": {"name": "dig", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def chat_result(call_id: str) -> JsonObject:
    return {"role": "tool", "tool_call_id": call_id, "content": "a coin"}


def use(call_id: str) -> JsonObject:
    block = {"type": "tool_use", "id": call_id, "name": "dig", "input": {}}
    return {"role": "assistant", "content": [block]}


def result(call_id: str) -> JsonObject:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "a coin"}
    return {"role": "user", "content": [block]}


def bedrock(role: str, part: JsonObject) -> JsonObject:
    return {"role": role, "content": [part]}


BEDROCK_CALL = bedrock("assistant", {"toolUse": {"toolUseId": "b1", "name": "dig", "input": {}}})
BEDROCK_RESULT = bedrock("user", {"toolResult": {"toolUseId": "b1", "content": [{"text": "a coin"}]}})  # fmt: skip

EXCHANGES: dict[str, list[JsonObject]] = {
    "chat: a call with attributes": [{"role": "assistant", "content": None, "tool_calls": [Call()]}, chat_result("c1")],
    "chat: a call in parts": [{"role": "assistant", "content": [{"type": "call-of-a-tool", "toolCallId": "c1"}]}, chat_result("c1")],
    "chat: a result in parts": [chat_call("c1"), {"role": "tool", "content": [{"type": "result-of-a-tool", "toolCallId": "c1"}]}],
    "chat: an empty list of calls": [{"role": "assistant", "content": "Hm.", "tool_calls": []}, {"role": "critic?", "content": ""}],
    "anthropic: a call of another type": [{"role": "assistant", "content": [{"type": "toolUse2", "id": "t1"}]}, result("t1")],
    "anthropic: a result of another type": [use("t1"), {"role": "user", "content": [{"type": "toolResult2", "id": "t1"}]}],
    "anthropic: blanks and a call": [{"role": "assistant", "content": [{"type": "text", "text": " "}, {"type": "odd"}]}, use("t1")],
    "responses: an item": [{"type": "odd_item"}, {"type": "function_call_output", "call_id": "r1", "output": "a coin"}],
    "responses: a call before an item": [{"type": "function_call", "call_id": "r1", "name": "dig", "arguments": "{}"}, {"type": "odd_item"}],
    "bedrock: a call": [bedrock("assistant", {"toolUses": []}), BEDROCK_RESULT],
    "bedrock: messages of one role": [BEDROCK_CALL, bedrock("user", {"results": []}), bedrock("user", {"text": " "})],
}  # fmt: skip

OUTER: dict[str, tuple[JsonObject, JsonObject]] = {
    "chat": (chat_result("gone"), chat_call("open")),
    "anthropic": (result("gone"), use("open")),
    "responses": (
        {"type": "function_call_output", "call_id": "gone", "output": "x"},
        {"type": "function_call", "call_id": "open", "name": "dig", "arguments": "{}"},
    ),
    "bedrock": (
        bedrock("user", {"toolResult": {"toolUseId": "gone", "content": [{"text": "x"}]}}),
        bedrock("assistant", {"toolUse": {"toolUseId": "open", "name": "dig", "input": {}}}),
    ),
}


def checked(api: ModuleType, messages: list[JsonObject], policy: ProjectPolicy = REPAIR) -> tuple[list[JsonObject], ProjectReport]:  # fmt: skip
    """Project messages, and their body if they have one; both give the same, and again changes nothing."""
    once = api.project(messages, policy=policy)
    again = api.project(once.messages, policy=policy)
    assert again.messages == once.messages
    try:
        body = json.dumps({"messages": messages}).encode()
    except TypeError:
        return once.messages, once.report
    found = api.project_body(body, policy=policy)
    assert json.loads(bytes(found.body))["messages"] == once.messages
    assert mends_of_messages(found) == list(once.report.mends)
    assert found.report.not_repaired == once.report.not_repaired
    return once.messages, once.report


@pytest.mark.parametrize("exchange", EXCHANGES.values(), ids=EXCHANGES)
def test_nothing_nearby_is_repaired(api: ModuleType, exchange: list[JsonObject]) -> None:
    messages = [asked("Dig."), *exchange]
    new, report = checked(api, messages)
    assert new == messages
    assert report.mends == ()
    assert "unread in message" in report.not_repaired


@pytest.mark.parametrize("name", EXCHANGES)
def test_orphans_elsewhere_are_repaired(api: ModuleType, name: str) -> None:
    form = name.partition(":")[0]
    orphan, opened = OUTER[form]
    talk = (lambda text: bedrock("user", {"text": text})) if form == "bedrock" else asked
    exchange = EXCHANGES[name]
    messages = [talk("One."), opened, orphan, talk("Two."), *exchange, talk("Three."), opened]
    new, report = checked(api, messages)
    start = next(index for index, message in enumerate(new) if "Two." in str(message)) + 1
    assert new[start : start + len(exchange)] == exchange
    kinds = [mend.kind for mend in report.mends]
    assert "orphan_result" in kinds
    assert kinds.count("missing_result") == 2
    assert f"unread in message {4 + next(i for i, each in enumerate(exchange) if is_odd(api, each))}" in report.not_repaired  # fmt: skip


def is_odd(api: ModuleType, message: JsonObject) -> bool:
    return bool(api.carry([message]).report.unread)


def test_without_repair_nothing_is_said_of_it(api: ModuleType) -> None:
    _, report = checked(api, [asked("Dig."), {"odd": 1}], ProjectPolicy())
    assert (report.not_repaired, report.unread.count) == ("", 1)


def test_a_wholly_unread_message_is_named(api: ModuleType) -> None:
    messages = [{"odd": number} for number in range(7)]
    new, report = checked(api, messages)
    assert new == messages
    assert report.not_repaired == "unread in messages 0, 1, 2, 3, 4 and 2 more"


def test_a_turn_next_to_it_is_not_dropped(api: ModuleType) -> None:
    exchange = [{"role": "assistant", "content": [{"type": "odd"}]}, use("t1"), result("t1")]
    later = [message for number in range(4) for message in (use(f"u{number}"), result(f"u{number}"))]  # fmt: skip
    messages = [asked("Dig. " * 50), *exchange, asked("Go on."), *later]
    new, _ = checked(api, messages, ProjectPolicy(max_request_tokens=60))
    assert new[1] == exchange[0]
    assert [part["id"] for part in new[2]["content"]] == ["t1"]
    assert len(new) < len(messages)


PIECES = st.sampled_from(
    [
        asked("Dig."),
        use("t1"),
        use("t2"),
        result("t1"),
        result("t2"),
        {"role": "assistant", "content": [{"type": "text", "text": "Hm."}]},
        {"role": "assistant", "content": [{"type": "odd"}, {"type": "tool_use", "id": "t1", "name": "dig", "input": {}}]},
        {"role": "odd", "content": "Hm."},
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12))
def test_repair_is_idempotent_next_to_it(api: ModuleType, messages: list[JsonObject]) -> None:
    new, report = checked(api, messages)
    for place in report.unread.first:
        assert messages[place.position] in new
