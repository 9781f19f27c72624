"""Calls in the form of Chat and of Ollama for each destination of both: arguments, ids and types as it asks."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.oracles.destinations import RECORDS
from support.providers.validity import problems
from support.rows import for_each

from toolcarry import ProjectPolicy

CHATS = [name for name, each in RECORDS.items() if each.form == "chat"]
ASK = {"role": "user", "content": "Go."}
GIVEN = {"city": "Oslo", "days": [1, 2]}
LATER = '{"city": "Rome"}'


def history(arguments: list[Any], call_ids: list[str], *, is_typed: bool) -> list[dict[str, Any]]:
    """Return a turn with a call for each of the arguments, its results, and an open call after it."""
    calls: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for number, (given, call_id) in enumerate(zip(arguments, call_ids, strict=True)):
        name = f"tool_{number}"
        kind = {"type": "function"} if is_typed else {}
        own, answered = (
            ({"id": call_id}, {"tool_call_id": call_id}) if call_id else ({}, {"tool_name": name})
        )
        calls.append({**own, **kind, "function": {"name": name, "arguments": given}})
        results.append({"role": "tool", **answered, "content": "ok"})
    return [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "", "tool_calls": calls},
        *results,
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": "", "tool_calls": calls[:1]},
    ]


@for_each("is_typed", [True, False])
@for_each("call_ids", [["c1", "c2"], ["", ""], ["c1", ""], ["a1B2c3D4e", "f5G6h7I8j"]])
@for_each("arguments", [[GIVEN, {}], [json.dumps(GIVEN), LATER], [GIVEN, LATER]])
@for_each("name", CHATS)
def test_a_wanted_destination(
    api: ModuleType, name: str, arguments: list[Any], call_ids: list[str], is_typed: bool
) -> None:
    destination = RECORDS[name]
    messages = history(arguments, call_ids, is_typed=is_typed)
    policy = ProjectPolicy(repair=True, destination=name)
    found = api.project(messages, policy=policy)
    assert found.report.not_repaired == ""
    provider = "ollama" if destination.shape == "ollama" else "openai"
    assert problems(provider, found.messages) == []
    calls = [call for each in found.messages for call in each.get("tool_calls", ())]
    sent = [call["function"]["arguments"] for call in calls]
    told = [json.loads(each) if isinstance(each, str) else each for each in arguments]
    if destination.arguments.form == "object":
        assert sent == [*told, told[0]]
    else:
        assert [json.loads(each) for each in sent] == [*told, told[0]]
        assert {call["type"] for call in calls} == {"function"}
    assert all(destination.id.takes_id(call.get("id", "")) for call in calls)
    contents = [each["content"] for each in found.messages if each["role"] == "tool"]
    assert contents[:2] == ["ok", "ok"]
    body = api.project_body(json.dumps({"messages": messages}).encode(), policy=policy)
    assert json.loads(body.body)["messages"] == found.messages
    again = api.project(found.messages, policy=policy)
    assert (again.messages, again.report.mends) == (found.messages, ())


@pytest.mark.parametrize("shape", ["openai-chat", "ollama"])
def test_without_a_wanted_destination_the_arguments_tell(api: ModuleType, shape: str) -> None:
    given = json.dumps(GIVEN) if shape == "openai-chat" else GIVEN
    messages = history([given, given], ["c1", "c2"], is_typed=True)[:-2]
    found = api.project(messages, policy=ProjectPolicy(repair=True))
    assert (found.messages, found.report.mends) == (messages, ())


def test_a_call_without_a_type(api: ModuleType) -> None:
    """It is that of the member that holds it, and reported once for each call."""
    custom = {"id": "c2", "custom": {"name": "patch", "input": "x"}}
    messages = history(["{}"], ["c1"], is_typed=False)[:3]
    messages[1]["tool_calls"].append(custom)
    messages.append({"role": "tool", "tool_call_id": "c2", "content": "ok"})
    found = api.project(messages, policy=ProjectPolicy(repair=True))
    calls = found.messages[1]["tool_calls"]
    assert [call["type"] for call in calls] == ["function", "custom"]
    assert [
        call.items() >= own.items()
        for call, own in zip(calls, messages[1]["tool_calls"], strict=True)
    ] == [True, True]
    mends = [(mend.kind, mend.position, mend.call_id, mend.detail) for mend in found.report.mends]
    assert mends == [("call_type", 1, "c1", "function"), ("call_type", 1, "c2", "custom")]


@for_each("name", RECORDS)
def test_words_in_parts_are_of_the_named_destination(api: ModuleType, name: str) -> None:
    """They were Anthropic's, which has the same parts, so that a request to Mistral was "not repaired"."""
    wanted = RECORDS[name]
    said = {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]}
    found = api.project([ASK, said, ASK], policy=ProjectPolicy(repair=True, destination=name))
    if wanted.has_types:
        assert found.report.not_repaired == ""
        text = "output_text" if wanted.form == "items" else "text"
        whole = [{"type": text, "text": "Yes."}]
        assert found.messages[1]["content"] == ("Yes." if name == "ollama" else whole)
    else:
        assert found.report.not_repaired == f"anthropic: {name} takes {wanted.shape}"
