"""Messages with calls that say a role which may not call: they are the model's, and are given its role."""

from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.oracles.repairs import ASK, INTERRUPTED, answer, chat, kinds, repair

from toolcarry import ProjectPolicy

REPAIR = ProjectPolicy(repair=True)


@pytest.mark.parametrize("role", ["user", "system"])
def test_a_call_of_anthropics_in_anothers_message(api: ModuleType, role: str) -> None:
    """The other blocks stay where they are, except for results, which move to a user message."""
    text = ASK["content"][0]
    said = {"role": role, "content": [wire.result("t1"), text, wire.use("t2")]}
    found = repair(api, [ASK, wire.assistant(wire.use("t1")), said])
    assert found.messages == [
        ASK,
        wire.assistant(wire.use("t1")),
        wire.user(wire.result("t1")),
        wire.assistant(text, wire.use("t2")),
        wire.user({**INTERRUPTED, "tool_use_id": "t2"}),
    ]
    assert [(mend.kind, mend.position, mend.call_id) for mend in found.report.mends][:2] == [
        ("moved_result", 2, "t1"),
        ("renamed_role", 2, "t2"),
    ]


def test_a_call_of_bedrocks_in_the_users_message(api: ModuleType) -> None:
    """It is joined to what the model said before it."""
    ask = {"role": "user", "content": [{"text": "?"}]}
    said = {"role": "assistant", "content": [{"text": "I look."}]}
    call = {"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}
    result = {"toolResult": {"toolUseId": "t1", "content": [{"text": "ok"}]}}
    messages = [ask, said, {"role": "user", "content": [call]}]
    found = repair(api, [*messages, {"role": "user", "content": [result]}], "bedrock")
    assert found.messages == [
        ask,
        {"role": "assistant", "content": [{"text": "I look."}, call]},
        {"role": "user", "content": [result]},
    ]
    assert kinds(found) == ["renamed_role", "merged_message"]


@pytest.mark.parametrize("role", ["user", "function", None])
def test_a_call_of_geminis_that_is_not_the_models(api: ModuleType, role: str | None) -> None:
    own = {} if role is None else {"role": role}
    call: dict[str, Any] = {"functionCall": {"name": "f", "args": {}}}
    response = {"functionResponse": {"name": "f", "response": {"result": "ok"}}}
    contents = [{**own, "parts": [call]}, {"role": "user", "parts": [response]}]
    found = repair(api, contents, "gemini")
    stand_in = {"role": "user", "parts": [{"text": "[No user message was here]"}]}
    assert found.messages == [stand_in, {"role": "model", "parts": [call]}, contents[1]]
    assert kinds(found) == ["renamed_role", "stand_in"]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_calls_of_chats_in_anothers_message(api: ModuleType, role: str) -> None:
    said = chat(("t1", "f"), ("t2", "g"))
    messages = [
        {"role": "user", "content": "?"},
        {**said, "role": role},
        answer("t1"),
        answer("t2"),
    ]
    found = repair(api, messages, "openai")
    assert found.messages == [messages[0], said, *messages[2:]]
    assert kinds(found) == ["renamed_role"]


def test_a_body_keeps_the_rest_of_the_message(api: ModuleType) -> None:
    body = b'{"messages": [{"role" : "user", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]}]}'
    found = api.project_body(body, policy=REPAIR)
    message = body.replace(b'"user"', b'"assistant"').removeprefix(b'{"messages": [')
    assert message.removesuffix(b"]}") in found.body
