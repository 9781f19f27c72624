"""System messages among the others: the user's where the destination refuses them, unchanged elsewhere."""

import json
from types import ModuleType
from typing import Any

import pytest

from toolcarry import ProjectPolicy

NOTE = "Be brief."


def chat(role: str, text: str = "Go.") -> dict[str, Any]:
    return {"role": role, "content": text}


def body_of(messages: list[Any], key: str = "messages", **frame: Any) -> bytes:
    return json.dumps({**frame, key: messages}).encode()


def repaired(api: ModuleType, body: bytes, destination: str | None = None) -> tuple[Any, list[str]]:
    """Repair a body, and see that a second repair changes nothing."""
    policy = ProjectPolicy(repair=True, destination=destination)
    found = api.project_body(body, policy=policy)
    again = api.project_body(found.body, policy=policy)
    assert (again.body, again.report.mends) == (found.body, ())
    return json.loads(found.body), [mend.kind for mend in found.report.mends]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_converse_has_none(api: ModuleType, role: str) -> None:
    """It stays in its place, and is joined to the user's message after it, as Bedrock asks."""
    messages = [
        {"role": "user", "content": [{"text": "Go."}]},
        {"role": "assistant", "content": [{"text": "Yes."}]},
        {"role": role, "content": [{"text": NOTE}]},
        {"role": "user", "content": [{"text": "And?"}]},
    ]
    made, kinds = repaired(api, body_of(messages, modelId="m"), "bedrock")
    assert made["messages"][2:] == [{"role": "user", "content": [{"text": NOTE}, {"text": "And?"}]}]
    assert kinds == ["system_message", "merged_message"]


def test_gemini_has_none(api: ModuleType) -> None:
    """Those at the beginning are its system prompt, and the user still has to begin."""
    contents = [
        {"role": "system", "parts": [{"text": NOTE}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": 1}}}]},
    ]
    made, kinds = repaired(api, body_of(contents, "contents"))
    assert made["systemInstruction"] == {"parts": contents[0]["parts"]}
    assert made["contents"][1:] == contents[1:]
    assert made["contents"][0]["role"] == "user"
    assert kinds == ["system_message", "missing_user"]


@pytest.mark.parametrize(
    ("model", "is_refused"),
    [("claude-sonnet-4-5", True), ("claude-opus-4-7", True), ("claude-opus-4-8", False)],
)
def test_older_models_of_anthropic(api: ModuleType, model: str, is_refused: bool) -> None:
    messages = [chat("user"), chat("assistant", "Yes."), chat("user"), chat("system", NOTE)]
    messages[0] = {"role": "user", "content": [{"type": "text", "text": "Go."}]}
    messages[1] = {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]}
    made, kinds = repaired(api, body_of(messages, model=model))
    role = "user" if is_refused else "system"
    assert made["messages"] == [*messages[:3], chat(role, NOTE)]
    assert kinds == ["system_message"] * is_refused


def test_mistral_takes_them_first(api: ModuleType) -> None:
    """All of those at the beginning stay, and a later one is separated from a result as a user message is."""
    call = {"id": "a1B2c3D4e", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        chat("system", NOTE),
        chat("system", "Be kind."),
        chat("user"),
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a1B2c3D4e", "content": "ok"},
        chat("system", "Be quick."),
    ]
    made, kinds = repaired(api, body_of(messages), "mistral")
    assert [message["role"] for message in made["messages"][:5]] == [
        message["role"] for message in messages[:5]
    ]
    assert [message["role"] for message in made["messages"][5:]] == ["assistant", "user"]
    assert kinds == ["system_message", "missing_model"]


def test_openai_takes_them_anywhere(api: ModuleType) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        chat("user"),
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        chat("system", NOTE),
    ]
    assert repaired(api, body_of(messages), "openai-chat") == ({"messages": messages}, [])


def test_results_come_before_it(api: ModuleType) -> None:
    """It is the user's turn now, so that a result that follows it moves to its beginning."""
    call = {"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}
    result = {"toolResult": {"toolUseId": "t1", "content": [{"text": "ok"}]}}
    messages = [
        {"role": "user", "content": [{"text": "Go."}]},
        {"role": "assistant", "content": [call]},
        {"role": "system", "content": [{"text": NOTE}]},
        {"role": "user", "content": [result]},
    ]
    found = api.project(messages, policy=ProjectPolicy(repair=True))
    assert found.messages == [*messages[:2], {"role": "user", "content": [result, {"text": NOTE}]}]


@pytest.mark.parametrize("model", ["qwen3.6-27b", "MiniMax/MiniMax-M2.5"])
def test_several_at_the_beginning_become_one(api: ModuleType, model: str) -> None:
    later = chat("system", "Be quick.")
    messages = [chat("system", NOTE), chat("developer", "Be kind."), chat("user"), later]
    made, kinds = repaired(api, body_of(messages, model=model))
    first = chat("system", f"{NOTE}\n\nBe kind.")
    assert made["messages"] == [first, messages[2], later | {"role": "user"}]
    assert kinds == ["joined_system", "system_message"]
    in_parts = [{"type": "text", "text": "Be kind."}]
    messages[1]["content"] = in_parts
    made, _ = repaired(api, body_of(messages, model=model))
    assert made["messages"][0]["content"] == [{"type": "text", "text": NOTE}, *in_parts]


@pytest.mark.parametrize("name", ["deepseek", "mistral"])
@pytest.mark.parametrize("place", [0, 1])
def test_a_developer_is_the_system(api: ModuleType, name: str, place: int) -> None:
    """The role is OpenAI's alone. Mistral takes the system's messages at the beginning only."""
    messages: list[Any] = [{"role": "user", "content": "Go."}]
    messages.insert(place, {"role": "developer", "content": "Be brief."})
    policy = ProjectPolicy(repair=True, destination=name)
    found = api.project(messages, policy=policy)
    role, kind = ("user", "system_message") if name == "mistral" and place else ("system", "renamed_role")  # fmt: skip
    assert found.messages[place] == {"role": role, "content": "Be brief."}
    assert [(mend.kind, mend.position) for mend in found.report.mends] == [(kind, place)]
    assert api.project(found.messages, policy=policy).messages == found.messages
    assert api.project(messages, policy=ProjectPolicy(repair=True)).messages == messages
