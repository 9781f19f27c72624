"""The switch for the bytes of a request."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.wire_talks import ANTHROPIC, SHAPES, SIGNED, Shape
from support.rows import for_each

from toolcarry.switch import SummarizeTransformer

WHERE = {"conversation": "c", "backend": "b"}
KEYS = {"gemini": "contents", "responses": "input"}


def history(shape: Shape) -> list[dict[str, Any]]:
    return [
        shape.user("Read it."),
        *shape.turn("call_1", "Read", {"file_path": "a.py"}, "x = 1"),
        shape.says("Read."),
    ]


def transformer() -> SummarizeTransformer:
    made = SummarizeTransformer()
    made.answered("c", "a")
    return made


@for_each("shape", SHAPES, ids=lambda shape: shape.name)
def test_the_messages_equal_those_of_objects_and_everything_else_stays(shape: Shape) -> None:
    messages = [*history(shape), shape.user("Go on.")]
    beside = {"model": "m", "tools": [{"name": "Read"}], "tool_choice": {"type": "auto"}}
    key = KEYS.get(shape.name, "messages")
    body = json.dumps({**beside, key: messages, "stream": True}).encode()
    switched = transformer().transform_body(body, **WHERE)
    document = json.loads(switched.body)
    assert document.pop(key) == transformer().transform(messages, **WHERE).messages
    assert document == {**beside, "stream": True}
    assert switched.is_switched


def test_a_body_that_stays_is_the_same_object() -> None:
    body = json.dumps({"messages": [*history(ANTHROPIC), ANTHROPIC.user("Go on.")]}).encode()
    same = transformer().transform_body(body, conversation="c", backend="a")
    assert same.body is body
    assert same.report.reason == "same_backend"


words = st.sampled_from([
    "user", "assistant", "system", "tool", "model", "text", "thinking", "reasoning", "message",
    "tool_use", "tool_result", "function_call", "function_call_output", "web_search_call",
    "item_reference", "compaction", "enabled",
])  # fmt: skip
keys = words | st.sampled_from([
    "role", "type", "content", "parts", "tool_calls", "function", "id", "call_id", "name", "arguments",
    "input", "output", "tool_use_id", "toolUse", "toolResult", "functionCall", "functionResponse",
    "payload", "kind", "thought", "images", "source", "action",
])  # fmt: skip
values = st.recursive(
    words | st.none() | st.booleans() | st.integers(-5, 1 << 70) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=10,
)
messages = values | st.fixed_dictionaries(
    {"role": words}, optional={"content": values, "parts": values, "type": words}
)
lists = st.lists(messages, max_size=6)
requests = st.fixed_dictionaries(
    {"messages": lists | values},
    optional={"contents": lists, "input": lists, "thinking": st.just({"type": "enabled"})},
)


def bodies() -> list[Any]:
    deep = [
        b'{"messages": [{"role": "user", "content": ' + b"[" * depth + b"]" * depth + b"}]}"
        for depth in (1_000, 10_000)
    ]
    return [
        (b"", "not JSON at byte 0"),
        (b"\x1f\x8b\x08", "not UTF-8 at byte 1"),
        (b"{", "not JSON at byte 1"),
        (b"7", "no request"),
        (b"[]", "no request"),
        (b'{"input": "Hello."}', "no request"),
        (b'{"messages": {}}', "no request"),
        (b'{"messages": [7]}', "message 0 is not an object, but int"),
        (b'{"messages": [null, {}]}', "message 0 is not an object, but NoneType"),
        *((body, "nested deeper than 128") for body in deep),
    ]


@for_each(("body", "why"), bodies())
def test_other_bodies_pass_unchanged(body: bytes, why: str) -> None:
    same = transformer().transform_body(body, **WHERE)
    assert same.body is body
    assert why in same.untouched


def test_odd_values_survive() -> None:
    """A lone surrogate, a float of an integer's value, a large integer."""
    messages = json.dumps([*history(ANTHROPIC), ANTHROPIC.user("\ud800 Go on.")])
    body = f'{{"temperature": 1.0, "seed": 18446744073709551615, "messages": {messages}}}'.encode()
    switched = transformer().transform_body(body, **WHERE)
    document = json.loads(switched.body)
    assert document["messages"][0]["content"][1]["text"] == "\ud800 Go on."
    assert '"temperature":1.0' in switched.body.decode()
    assert document["seed"] == 18446744073709551615


# Thinking: the turn with the open calls has to begin with a thought of the backend's own


def open_turn(**beside: Any) -> bytes:
    messages = [
        *history(ANTHROPIC),
        ANTHROPIC.user("Fix it."),
        *ANTHROPIC.turn("call_2", "Bash", {"command": "make"}, "built"),
    ]
    return json.dumps({"messages": messages, **beside}).encode()


def test_thinking_is_off_until_the_open_turn_ends() -> None:
    made = transformer()
    thinking = {"type": "enabled", "budget_tokens": 2_000}
    edits = [{"type": "clear_thinking_20251015"}, {"type": "clear_tool_uses_20250919"}]
    body = open_turn(thinking=thinking, context_management={"edits": edits})
    switched = made.transform_body(body, **WHERE)
    document = json.loads(switched.body)
    assert "thinking" not in document
    assert document["context_management"] == {"edits": edits[1:]}
    assert switched.is_thinking_off
    assert SIGNED not in switched.body.decode()
    made.answered("c", "b")
    later = json.loads(body)
    later["messages"] += [ANTHROPIC.says("Fixed."), ANTHROPIC.user("Thanks.")]
    again = made.transform_body(json.dumps(later).encode(), **WHERE)
    assert json.loads(again.body)["thinking"] == thinking
    assert not again.is_thinking_off


@pytest.mark.parametrize("thinking", [{"type": "adaptive"}, {"type": "disabled"}, None])
def test_thinking_of_another_kind_stays(thinking: Any) -> None:
    switched = transformer().transform_body(open_turn(thinking=thinking), **WHERE)
    assert json.loads(switched.body)["thinking"] == thinking
    assert switched.is_switched


def test_thinking_continues_in_a_turn_that_the_backend_began() -> None:
    """Only the beginning of a turn has to be a thought; clients may write it as a message of its own."""
    made = transformer()
    made.transform_body(open_turn(), **WHERE)
    made.answered("c", "b")
    thought = {"type": "thinking", "thinking": "hm", "signature": "b"}
    (use,) = ANTHROPIC.calls("call_8", "Bash", {"command": "ls"})
    messages = [
        *json.loads(open_turn())["messages"],
        ANTHROPIC.says("Fixed."),
        ANTHROPIC.user("More."),
        {"role": "assistant", "content": [thought]},
        {"role": "assistant", "content": use["content"][1:]},
        ANTHROPIC.gives("call_8", "Bash", "a.py"),
        {"role": "assistant", "content": [{**use["content"][1], "id": "call_9"}]},
        ANTHROPIC.gives("call_9", "Bash", "a.py"),
    ]
    thinking = {"type": "enabled", "budget_tokens": 2_000}
    body = json.dumps({"messages": messages, "thinking": thinking}).encode()
    switched = made.transform_body(body, **WHERE)
    assert switched.report.is_sticky
    assert json.loads(switched.body)["thinking"] == thinking
    first = json.loads(body)
    del first["messages"][-5]
    again = made.transform_body(json.dumps(first).encode(), **WHERE)
    assert again.is_thinking_off


@for_each("key", ["messages", "contents"])
@for_each("content", [{"text": "Go on."}, 7, [7, "Go on."]])
def test_odd_contents_never_raise(key: str, content: Any) -> None:
    odd = {"role": "user", "content": content}
    document = {"messages": 7, "thinking": {"type": "enabled"}, key: [*history(ANTHROPIC), odd]}
    body = json.dumps(document).encode()
    made = transformer()
    switched = made.transform_body(body, **WHERE)
    assert switched.body is body or switched.is_switched
    assert asyncio.run(made.atransform_body(body, **WHERE)).body == switched.body


@given(document=requests)
def test_no_body_raises(document: Any) -> None:
    made = transformer()
    body = json.dumps(document).encode()
    switched = made.transform_body(body, **WHERE)
    assert made.transform_body(body, **WHERE).body == switched.body
    json.loads(switched.body)
