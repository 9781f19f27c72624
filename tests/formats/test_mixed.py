"""Several shapes in one conversation, and structures that only look like a shape."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders.families import (
    ANSWER,
    FAMILIES,
    atif,
    chat,
    codex,
    gemini,
    langchain,
    openhands,
    opentelemetry,
    responses,
)
from support.oracles.format_checks import (
    ASSISTANT,
    USER,
    JsonObject,
    as_lines,
    blocks,
    check_inputs,
    check_pairs,
    only_block,
    shown,
    turns,
)
from support.rows import for_each

IN_TWO_MESSAGES = [name for name in FAMILIES if name != "atif"]
PAIRS = [
    (asked, IN_TWO_MESSAGES[(index + step) % len(IN_TWO_MESSAGES)])
    for index, asked in enumerate(IN_TWO_MESSAGES)
    for step in (1, 4)
]
"""Each format asks two others, and answers two others."""


@for_each("name", FAMILIES)
def test_every_family_shows_its_call(api: ModuleType, name: str) -> None:
    messages = FAMILIES[name]("call_1")
    block = only_block(api, *messages)
    assert (block.tool_name, block.call_id) == (name, "call_1")
    assert shown(api, messages) == [("Other Tools", f'{name}(query="q")', [("", f"{ANSWER}\n")])]
    check_inputs(api, messages)


def test_all_in_one_conversation(api: ModuleType, rust: ModuleType) -> None:
    messages = [message for name, make in FAMILIES.items() for message in make(f"id_{name}")]
    found = blocks(api, messages)
    assert [block.tool_name for block in found] == list(FAMILIES)
    assert all(block.tool_use and block.tool_result for block in found)
    assert {fences[0][1] for _, _, fences in shown(api, messages)} == {f"{ANSWER}\n"}
    assert rust.inspect(messages).shape == "mixed"
    check_inputs(api, messages, {"messages": messages})


@for_each(("asked", "answered"), PAIRS)
def test_an_id_pairs_across_shapes(api: ModuleType, asked: str, answered: str) -> None:
    """A gateway may translate a part of a conversation."""
    messages = [FAMILIES[asked]("call_1")[0], FAMILIES[answered]("call_1")[1]]
    block = only_block(api, *messages)
    assert block.tool_name == asked
    assert [fences[0][1] for _, _, fences in shown(api, messages)] == [f"{ANSWER}\n"]
    check_inputs(api, messages)


def test_one_id_in_every_turn(api: ModuleType, rust: ModuleType) -> None:
    """Some backends restart their call ids in every turn: each turn keeps its pair."""
    messages = [message for make in FAMILIES.values() for message in make("call_0")]
    found = blocks(api, messages)
    assert [block.tool_name for block in found] == list(FAMILIES)
    assert rust.inspect(messages).orphan_calls == rust.inspect(messages).duplicate_results == 0


@for_each("name", FAMILIES)
def test_objects_of_an_sdk(api: ModuleType, name: str) -> None:
    messages = FAMILIES[name]("call_1")
    assert api.carry([Dumped(message) for message in messages]).text == api.carry(messages).text


class Dumped:
    """An SDK's object."""

    def __init__(self, value: JsonObject) -> None:
        self._value = value

    def model_dump(self) -> JsonObject:
        return self._value


NO_CALLS: dict[str, JsonObject] = {
    "the call of OpenTelemetry as a message": opentelemetry("c")[0]["parts"][0],
    "the call of LangChain as a message": langchain("c")[0]["data"]["tool_calls"][0],
    "a message of LangChain without data": {"type": "tool", "data": "text", "tool_call_id": "c"},
    "an event of Codex": codex("c")[1] | {"type": "event_msg"},
    "a payload of another logger": {"type": "log", "payload": responses("c")[0]},
    "an event of another framework": openhands("c")[0] | {"kind": "Action"},
    "an action of another framework": {"action": {"command": "ls"}, "observation": "a.py"},
    "a message with an item's type": {"type": "function_call", "role": "user", "content": "hi"},
    "parts of a user interface": {
        "role": "assistant",
        "content": "hi",
        "parts": [{"type": "tool-invocation", "toolCallId": "c"}],
    },
    "a call of Gemini's beside the parts": {"role": "model", "functionCall": {"name": "f"}},
    "a call of Bedrock's beside the content": {"role": "assistant", "toolUse": {"name": "f"}},
}


@for_each("name", NO_CALLS)
def test_lookalikes_of_calls(api: ModuleType, name: str) -> None:
    assert blocks(api, [NO_CALLS[name]]) == []
    assert blocks(api, as_lines([NO_CALLS[name]])) == []


def test_a_call_of_langchain_and_one_of_opentelemetry(api: ModuleType) -> None:
    """Both have the type ``tool_call``; the arguments are in different keys."""
    messages = [*langchain("c1"), *opentelemetry("c2")]
    texts = [heading for _, heading, _ in shown(api, messages)]
    assert texts == ['langchain(query="q")', 'opentelemetry(query="q")']
    check_inputs(api, messages)


def test_a_body_may_be_one_message_of_the_user(api: ModuleType, rust: ModuleType) -> None:
    body = json.dumps({"model": "m", "input": "Fix it.", "tools": []}).encode()
    assert api.dialogue(body) == turns((USER, "Fix it."))
    survey = rust.inspect(body)
    assert (survey.messages, survey.calls) == (1, 0)


@pytest.mark.parametrize(
    "document",
    [
        {"role": "user", "content": "Hi.", "input": responses("c")},
        {"role": "user", "content": "Hi.", "steps": atif("c")},
        {"role": "user", "content": "Hi.", "input": "Fix it."},
        {"type": "human", "data": {"content": "Hi."}, "history": chat("c")},
    ],
)
def test_a_document_that_is_a_message(
    api: ModuleType, rust: ModuleType, document: JsonObject
) -> None:
    body = json.dumps(document).encode()
    assert blocks(api, body) == []
    assert rust.inspect(body).messages == 1
    assert api.dialogue(body) == turns((USER, "Hi."))


def test_the_messages_of_a_document_come_first(api: ModuleType) -> None:
    document = {"input": responses("c1"), "messages": chat("c2"), "steps": atif("c3")}
    assert [block.tool_name for block in blocks(api, json.dumps(document).encode())] == ["chat"]


@for_each("key", ["contents", "history", "trajectory", "steps"])
@for_each("value", ["text", None, 7, {"a": 1}])
def test_a_list_of_another_kind_is_no_conversation(rust: ModuleType, key: str, value: Any) -> None:
    assert rust.inspect(json.dumps({key: value, "model": "m"}).encode()).calls == 0


def test_lines_that_hold_whole_requests_are_many_conversations(api: ModuleType) -> None:
    for request in ({"contents": gemini("c")}, {"input": responses("c")}, {"steps": atif("c")}):
        with pytest.raises(api.InputError):
            api.carry(as_lines([request, request]))
        assert len(blocks(api, as_lines([request]))) == 1


def test_text_in_every_format(api: ModuleType) -> None:
    text = [{"type": "text", "text": "Hi."}]
    messages = [
        {"role": "user", "content": "Hi."},
        {"role": "user", "parts": [{"text": "Hi."}]},
        {"role": "user", "content": [{"text": "Hi."}]},
        {"role": "user", "parts": [{"type": "text", "content": "Hi."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]},
        {"type": "human", "data": {"content": "Hi."}},
        {
            "kind": "MessageEvent",
            "source": "user",
            "llm_message": {"role": "user", "content": text},
        },
        {"step_id": 1, "source": "user", "message": "Hi."},
        {"role": "model", "parts": [{"text": "Hi."}]},
    ]
    assert api.dialogue(messages) == turns(*[(USER, "Hi.")] * 8, (ASSISTANT, "Hi."))


def test_a_call_and_its_result_in_one_message_of_each(api: ModuleType) -> None:
    for name in ("gemini", "bedrock", "anthropic", "opentelemetry"):
        asked, answered = FAMILIES[name]("c")
        key = "parts" if "parts" in asked else "content"
        both = asked | {key: asked[key] + answered[key]}
        check_pairs(api, [both], (asked[key][0], answered[key][0]))


def test_a_similar_type_is_not_a_call(api: ModuleType, rust: ModuleType) -> None:
    messages = [{"type": "phone_call", "id": "p1", "to": "Ada"}]
    assert api.extract_tool_blocks(messages) == []
    assert rust.inspect(messages).shape == "unknown"


def test_typed_parts_of_others_are_not_opentelemetry(rust: ModuleType) -> None:
    messages = [{"role": "user", "parts": [{"type": "text", "text": "Look."}]}]
    assert rust.inspect(messages).shape == "unknown"
