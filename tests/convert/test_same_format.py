"""Parts already in the target's format are kept unchanged; the same content in another place is reported."""

import json
from typing import Any

import pytest
from support.builders.sources_providers import (
    asked,
    chat_call,
    function_call,
    output,
    result,
    said,
    text,
    tool_result,
    tool_use,
    use,
)
from support.builders.wire import assistant, user
from support.oracles.conversions import TARGETS

from toolcarry import convert
from toolcarry.types import Loss
from toolcarry.types.shapes import Target

JsonObject = dict[str, Any]

each_target = pytest.mark.parametrize("to", TARGETS)


PNG = {"mimeType": "image/png"}
OWN: dict[Target, list[JsonObject]] = {
    "responses": [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "d"}]},
        {"type": "message", "id": "msg_1", "role": "user", "status": "completed", "content": "x"},
        {
            "type": "message",
            "id": "msg_2",
            "role": "assistant",
            "status": "incomplete",
            "phase": "commentary",
            "content": [
                {"type": "output_text", "text": "y", "annotations": [{"type": "url_citation"}]},
                {"type": "refusal", "refusal": "No."},
            ],
        },
        {**function_call("c1", "f", {}), "id": "fc_1", "status": "completed"},
        {**output("c1", "ok"), "id": "fo_1", "status": "failed"},
        {"type": "computer_call", "id": "cc", "call_id": "c2", "action": {"type": "screenshot"}},
        {
            "type": "computer_call_output",
            "call_id": "c2",
            "acknowledged_safety_checks": [{"id": "s"}],
            "output": {
                "type": "computer_screenshot",
                "image_url": "data:image/png;base64,iVBORw0KGgo=",
            },
        },
        {"type": "tool_search_call", "call_id": "c3", "arguments": {"query": "q"}},
        {"type": "tool_search_output", "call_id": "c3", "tools": [{"name": "f"}]},
    ],
    "anthropic": [
        user({**text("x"), "cache_control": {"type": "ephemeral"}}),
        assistant({**use("t1", "f", {}), "caller": {"type": "direct"}}),
        user(
            {
                **result("t1", ""),
                "is_error": False,
                "content": [
                    {**text("a"), "cache_control": {"type": "ephemeral"}},
                    text("b"),
                    {"type": "tool_reference", "tool_name": "f"},
                ],
            }
        ),
    ],
    "openai": [
        said("user", [text("x"), text("y")]),
        {
            "role": "assistant",
            "content": [{"type": "refusal", "refusal": "No."}],
            "tool_calls": [
                {
                    **chat_call("c1", "f", {}),
                    "type": "function",
                    "extra_content": {"google": {"thought_signature": "s"}},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "name": "f", "content": [text("a"), text("b")]},
    ],
    "ollama": [
        said("user", "x", images=["iVBORw0KGgo="]),
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"index": 0, "name": "f", "arguments": {}}}],
        },
        {"role": "tool", "tool_name": "f", "content": "ok", "images": ["iVBORw0KGgo="]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "x"}, {"inlineData": {"data": "iVBORw0KGgo=", **PNG}}]},
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True},
                {"text": "y", "thoughtSignature": "c2ln"},
                {"executableCode": {"language": "PYTHON", "code": "1"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
                {**asked("f", {}), "thoughtSignature": "c2ln"},
                asked("g", {}),
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "name": "f",
                        "response": {"ok": 1},
                        "parts": [{"inlineData": {"data": "iVBORw0KGgo=", **PNG}}],
                    }
                },
                {"functionResponse": {"name": "g", "response": {}, "scheduling": "SILENT"}},
            ],
        },
        {"role": "user", "parts": [{"fileData": {"fileUri": "gs://a/b", **PNG}}]},
    ],
    "bedrock": [
        user({"text": "x"}, {"cachePoint": {"type": "default"}}),
        assistant(
            {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
            {"text": "y"},
            tool_use("t.1:a", "f", {}),
            tool_use("t2", "f", {}),
        ),
        user(
            tool_result("t.1:a", "no", "error"),
            {"toolResult": {"toolUseId": "t2", "content": [{"json": {"a": [1]}}]}},
            {"document": {"format": "pdf", "name": "A b", "source": {"bytes": "iVBORw0KGgo="}}},
            {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://a/b"}}}},
            {"text": "z"},
        ),
    ],
}


@each_target
def test_messages_of_the_target_format_stay_unchanged(to: Target) -> None:
    converted = convert(OWN[to], to=to)
    assert converted.messages == OWN[to]
    assert converted.losses == ()
    assert {mend.kind for mend in converted.mends} <= {"missing_definitions"}


def test_item_metadata_is_a_loss_elsewhere() -> None:
    losses = convert(OWN["responses"][1:3], to="openai").losses
    assert Loss(None, "metadata", "fields of 2 messages: id, phase, status") in losses


def test_an_anthropic_answer_is_not_a_responses_item() -> None:
    answer = {"type": "message", "id": "msg_1", **assistant(text("I look."), use("t1", "f", {}))}
    converted = convert([answer, user(result("t1", "ok"))], to="responses")
    assert converted.messages == [
        said("assistant", "I look."),
        {"type": "function_call", "call_id": "t1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "t1", "output": "ok"},
    ]


def test_a_refusal_of_a_message_stays_one() -> None:
    messages = [said("assistant", None, refusal="No.")]
    part = {"type": "refusal", "refusal": "No."}
    for to in ("openai", "responses"):
        assert convert(messages, to=to).messages == [said("assistant", [part])]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "to", "loss"),
    [
        (
            {"messages": [said("user", "x", name="bob")]},
            "responses",
            Loss(None, "metadata", "fields of 1 message: name"),
        ),
        (
            {
                "system": [{**text("Be kind."), "cache_control": {"type": "ephemeral"}}],
                "messages": [said("user", "x")],
            },
            "anthropic",
            Loss(None, "cache_control", "of the system prompt, which is one text"),
        ),
        (
            {"messages": OWN["ollama"]},
            "openai",
            Loss(2, "moved_media", "image in the result of f"),
        ),
    ],
    ids=str,
)
def test_formerly_silent_losses_are_reported(body: JsonObject, to: Target, loss: Loss) -> None:
    assert loss in convert(json.dumps(body).encode(), to=to).losses


def marked(number: int) -> JsonObject:
    return {**text(f"Part {number}."), "cache_control": {"type": "ephemeral"}}


@pytest.mark.rust
def test_anthropic_takes_four_cache_marks_and_the_last_ones_stay() -> None:
    turns = [[user(marked(number)), assistant(text("Yes."))] for number in range(3)]
    shown = {**result("t1", ""), "content": [marked(3), marked(4)]}
    call = {**use("t1", "f", {"content": [{"cache_control": 1}]}), "cache_control": {}}
    messages = [*(message for turn in turns for message in turn), assistant(call), user(shown)]
    converted = convert(messages, to="anthropic")
    assert [mend.kind for mend in converted.mends] == ["cache_mark"] * 2
    written = [json.dumps(message) for message in converted.messages]
    assert [message.count('"cache_control": {') for message in written] == [0, 0, 0, 0, 1, 1, 2]
    assert convert(converted.messages, to="anthropic").mends == ()
    assert convert(messages[-4:], to="anthropic").losses == ()


def test_calls_of_bedrocks_server_stay_with_their_results_and_are_ordinary_elsewhere() -> None:
    call, answer = tool_use("s1", "ground", {"q": "x"}), tool_result("s1", "found")
    call["toolUse"]["type"], answer["toolResult"]["type"] = "server_tool_use", "ground_result"
    messages = [assistant(call, answer, {"text": "So."}), user({"text": "And?"})]
    assert convert(messages, to="bedrock", repair=False).messages == messages
    assert convert(messages[:1], to="bedrock").losses == ()
    elsewhere = convert(messages, to="openai")
    assert [message["role"] for message in elsewhere.messages] == [
        "assistant", "tool", "assistant", "user",
    ]  # fmt: skip
    assert Loss(0, "server_tool", "ground s1") in elsewhere.losses


def test_an_item_that_only_responses_knows_is_reported_elsewhere() -> None:
    item = {"type": "additional_tools", "role": "developer", "tools": [{"name": "f"}]}
    messages = [said("user", "x"), item]
    assert convert(messages, to="responses").messages == messages
    assert Loss(1, "unknown", "an item additional_tools") in convert(messages, to="openai").losses


def test_a_speaker_of_chat_keeps_the_name_and_the_role() -> None:
    messages = [
        said("developer", "Be kind."),
        said("user", "x", name="bob"),
        said("assistant", "a", name="eve"),
        said("assistant", "b", name="ann"),
        said("assistant", None, audio={"id": "audio_1"}),
    ]
    converted = convert(messages, to="openai")
    assert converted.messages == messages
    assert converted.losses == ()
