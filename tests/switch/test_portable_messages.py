"""Content that only one backend understands, in every spelling, and the messages without it."""

import json
from typing import Any

import pytest
from support.builders.wire_talks import ANTHROPIC, OPENAI, RESPONSES, SIGNED, Message
from support.providers.validity import problems
from support.rows import for_each

from toolcarry.switch import SummarizeTransformer
from toolcarry.switch.portable import portable_message

WHERE = {"conversation": "c", "backend": "b"}
TEXT = {"type": "text", "text": "Done."}
THOUGHTS: list[Any] = [
    {"type": "thinking", "thinking": SIGNED, "signature": SIGNED},
    {"type": "redacted_thinking", "data": SIGNED},
    {"type": "reasoning", "text": SIGNED},
    {"type": "redacted-reasoning", "data": SIGNED},
    {"type": "reasoning_content", "reasoning_content": {"text": SIGNED, "signature": SIGNED}},
    {"reasoningContent": {"redactedContent": SIGNED}},
    {"text": SIGNED, "thought": True},
]
BESIDE = [
    "thinking", "thinking_blocks", "reasoning", "reasoning_content", "reasoning_details", "reasoning_opaque",
    "reasoning_text", "reasoning_signature", "signature", "encrypted_content", "provider_specific_fields",
    "extra_content", "audio",
]  # fmt: skip


@for_each("thought", THOUGHTS)
def test_thoughts_among_parts(thought: Any) -> None:
    for key in ("content", "parts"):
        assert portable_message({"role": "assistant", key: [thought, TEXT]}) == {
            "role": "assistant",
            key: [TEXT],
        }
        assert portable_message({"role": "assistant", key: [thought]}) is None


@for_each("key", BESIDE)
@for_each("content", [None, "", []])
def test_thoughts_next_to_the_content(key: str, content: Any) -> None:
    said = {"role": "assistant", "content": "Done."}
    assert portable_message({**said, key: [{"id": SIGNED}]}) == said
    assert portable_message({**said, "content": content, key: [{"id": SIGNED}]}) is None
    assert portable_message({**said, "content": content}) is None


@for_each(
    "call",
    [
        {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": SIGNED},
        {"id": "c", "function": {"name": "f", "arguments": "{}"}, "extra_content": {"google": SIGNED}},
        {"id": "c", "function": {"name": "f", "arguments": "{}", "thought_signature": SIGNED}},
        {"id": "c", "function": {"name": "f", "arguments": "{}", "provider_specific_fields": {"x": SIGNED}}},
        {"type": "tool_use", "id": "c", "name": "f", "input": {}, "signature": SIGNED},
        {"type": "tool_use", "id": "c", "name": "f", "input": {}, "caller": {"type": "x", "tool_id": SIGNED}},
        {"type": "text", "text": "Done.", "citations": [{"encrypted_index": SIGNED}]},
    ],
)  # fmt: skip
def test_signatures_of_parts(call: Any) -> None:
    for key in ("content", "parts", "tool_calls"):
        left = portable_message({"role": "assistant", key: [call]})
        assert left is not None
        assert SIGNED not in str(left)
        assert left[key][0].keys() >= call.keys() - {
            "thoughtSignature", "extra_content", "signature", "caller", "citations"
        }  # fmt: skip


def test_portable_messages_are_the_same_objects() -> None:
    document = {"type": "document", "source": {}, "citations": {"enabled": True}}
    for message in (
        {"role": "user", "content": [document, TEXT]},
        {"role": "tool", "tool_call_id": "c", "content": ""},
        {"role": "function", "name": "f", "content": ""},
        {"type": "local_shell_call", "call_id": "c", "status": "completed", "action": {}},
    ):
        assert portable_message(message) is message


def test_ids_of_items_and_marks_go() -> None:
    item = {"type": "message", "role": "assistant", "content": [TEXT]}
    assert portable_message({**item, "id": SIGNED}) == item
    mark = {"cache_control": {"type": "ephemeral"}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": [TEXT]}
    marked = {**result, **mark, "content": [{**TEXT, **mark}]}
    assert portable_message({"role": "user", "content": [marked]}) == {
        "role": "user",
        "content": [result],
    }
    assert (
        portable_message({"role": "user", "content": [{"cachePoint": {"type": "default"}}]}) is None
    )


# What ran at the old backend's, or is kept there

SEARCH = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tea"}},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
        {"type": "web_search_result", "url": "https://tea.example", "title": "Tea", "encrypted_content": SIGNED}]},
]  # fmt: skip


def switched(messages: list[Message], provider: str) -> list[Message]:
    made = SummarizeTransformer()
    made.answered("c", "a")
    sent = made.transform(messages, **WHERE).messages
    assert problems(provider, sent) == []
    assert SIGNED not in str(sent)
    return sent


def test_a_search_of_the_servers_next_to_the_open_call_is_carried() -> None:
    call, result = ANTHROPIC.turn("call_1", "Bash", {"command": "ls"}, "a.py")
    call["content"][1:1] = [*SEARCH, {"type": "text", "text": "Now the files."}]
    first, second, third = switched([ANTHROPIC.user("Look."), call, result], "anthropic")
    assert "web_search" in first["content"][0]["text"]
    assert "https://tea.example" in first["content"][0]["text"]
    assert [part["type"] for part in second["content"]] == ["text", "tool_use"]
    assert third == result


def test_items_that_only_their_provider_knows() -> None:
    thought, call, result = RESPONSES.turn("call_1", "Bash", {"command": "ls"}, "a.py")
    items = [
        RESPONSES.user("Look."),
        {"type": "compaction", "id": "cmp_1", "encrypted_content": SIGNED},
        thought,
        {"type": "item_reference", "id": f"msg_{SIGNED}"},
        {"type": "web_search_call", "id": f"ws_{SIGNED}", "status": "completed",
         "action": {"type": "search", "query": "tea"}},
        call,
        result,
    ]  # fmt: skip
    first, second, third = switched(items, "responses")
    assert "tea" in first["content"][0]["text"]
    assert second["type"] == "function_call"
    assert third == result


def test_a_summary_of_the_providers_is_said() -> None:
    summary = {"type": "compaction", "content": "The build is red."}
    messages = [
        {"role": "assistant", "content": [summary, TEXT]},
        ANTHROPIC.user("Go on."),
    ]
    (first,) = switched(messages, "anthropic")
    assert "The build is red." in first["content"][0]["text"]


def test_an_open_call_that_misses_a_result_is_carried() -> None:
    calls = [*OPENAI.calls("call_1", "Bash", {"command": "ls"})]
    calls[0]["tool_calls"] += OPENAI.calls("call_2", "Bash", {"command": "make"})[0]["tool_calls"]
    sent = switched([OPENAI.user("Look."), *calls, OPENAI.gives("call_1", "", "a.py")], "openai")
    assert len(sent) == 1
    assert "a.py" in sent[0]["content"]
    assert "make" in sent[0]["content"]


@pytest.mark.parametrize(
    "said",
    [
        {"role": "user", "content": "", "images": ["iVBORw0KGgo="]},
        {"role": "user", "content": [{"guardContent": {"text": {"text": "Go on."}}}]},
        {"role": "user", "parts": [{"fileData": {"fileUri": "gs://a/b.png"}}]},
        {"role": "user", "content": [{"type": "input_image", "image_url": "https://a.example/b.png"}]},
    ],
)  # fmt: skip
def test_a_request_without_a_word(said: Any) -> None:
    messages = [OPENAI.user("Look."), OPENAI.says("Looked."), said]
    made = SummarizeTransformer()
    made.answered("c", "a")
    (first,) = made.transform(messages, **WHERE).messages
    if isinstance(said.get("content"), str):
        assert first["images"] == said["images"]
        return
    context, part = first.get("content") or first["parts"]
    assert part in (said.get("content") or said["parts"])
    assert context.get("type") == (None if "type" not in part else "input_text" if "image_url" in part else "text")  # fmt: skip


def test_arguments_that_are_cut_are_json_elsewhere() -> None:
    """Servers that render a history refuse any other arguments."""
    call = {"id": "c1", "type": "function", "function": {"name": "dig", "arguments": '{"depth'}}
    sent = portable_message({"role": "assistant", "content": None, "tool_calls": [call]})
    assert sent is not None
    (made,) = sent["tool_calls"]
    assert json.loads(made["function"]["arguments"]) == {"INVALID_JSON": '{"depth'}
    whole = {**call, "function": {"name": "dig", "arguments": '{"depth": 2}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [whole]}
    assert portable_message(message) is message
