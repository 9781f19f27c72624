"""Redaction of messages in every format; members without content stay unchanged."""

import copy
import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each

from toolcarry.errors import RedactionError
from toolcarry.redact import Redactor, redact_messages

SECRET = "s3cret"


def redact(text: str) -> str:
    return text.replace(SECRET, "[gone]")


def clean(message: Any) -> Any:
    before = copy.deepcopy(message)
    (cleaned,) = redact_messages([message], redact)
    assert message == before
    return cleaned


CONTENT = [
    {"role": "user", "content": SECRET},
    {"role": "user", "content": [{"type": "text", "text": SECRET}]},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": SECRET, "signature": "x"}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": {"c": [SECRET]}}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": {"id": SECRET}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": SECRET}]}]},
    {"role": "user", "content": [{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": SECRET}}]},
    {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "b", "arguments": f'{{"c": "{SECRET}"}}'}}]},
    {"role": "assistant", "tool_calls": [{"function": {"name": "b", "arguments": {"type": SECRET}}}]},
    {"role": "assistant", "tool_calls": [{"function": {"name": "b", "arguments": f'{{"c": "{SECRET}'}}]},
    {"role": "tool", "tool_call_id": "a", "content": SECRET},
    {"type": "function_call", "call_id": "a", "name": "b", "arguments": f'{{"c": "{SECRET}"}}'},
    {"type": "function_call_output", "call_id": "a", "output": SECRET},
    {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": SECRET}]},
    {"type": "custom_tool_call", "call_id": "a", "name": "b", "input": SECRET},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": SECRET}], "encrypted_content": "x"},
    {"role": "tool", "tool_name": "b", "content": SECRET},
    {"role": "user", "parts": [{"text": SECRET}]},
    {"role": "model", "parts": [{"functionCall": {"name": "b", "args": {"name": SECRET}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "b", "response": {"result": SECRET}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"json": {"id": SECRET}}]}}]},
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "b", "input": {"c": SECRET}}}]},
    {"anything": {"else": [{"said": SECRET}]}},
    {"type": "input_json_delta", "partial_json": f'{{"c": "{SECRET}'},
    SECRET,
]  # fmt: skip


@for_each("message", CONTENT, ids=str)
def test_content_is_redacted(message: Any) -> None:
    cleaned = clean(message)
    assert SECRET not in json.dumps(cleaned)
    assert json.dumps(cleaned).replace("[gone]", SECRET) == json.dumps(message)


DATA = f"data:image/png;base64,{SECRET}"
NO_CONTENT = [
    {"role": SECRET, "content": "a"},
    {"id": SECRET, "type": SECRET},
    {"role": "tool", "tool_call_id": SECRET, "content": ""},
    {"content": [{"type": "tool_result", "tool_use_id": SECRET}]},
    {"content": [{"toolUse": {"toolUseId": SECRET}}]},
    {"type": "function_call", "call_id": SECRET},
    {"content": [{"type": "thinking", "thinking": "a", "signature": SECRET}]},
    {"parts": [{"text": "a", "thoughtSignature": SECRET}]},
    {"type": "reasoning", "encrypted_content": SECRET},
    {"content": [{"type": "redacted_thinking", "data": SECRET}]},
    {"content": [{"type": "image", "source": {"type": "base64", "media_type": SECRET, "data": SECRET}}]},
    {"content": [{"type": "image_url", "image_url": {"url": DATA}}]},
    {"content": [{"type": "input_image", "image_url": DATA}]},
    {"content": [{"type": "input_audio", "input_audio": {"data": SECRET, "format": "mp3"}}]},
    {"parts": [{"inlineData": {"mimeType": SECRET, "data": SECRET}}]},
    {"role": "user", "content": "a", "images": [SECRET]},
    {"content": [{"image": {"format": "png", "source": {"bytes": SECRET.encode()}}}]},
    {"arguments": '{ "a" : 1,  "b": [1.50, null, 1e400] }'},
]  # fmt: skip


@for_each("message", NO_CONTENT, ids=str)
def test_other_members_stay_the_same_objects(message: Any) -> None:
    assert clean(message) is message


def test_text_after_a_data_url_is_content() -> None:
    assert clean({"content": f"{DATA} {SECRET}"}) != {"content": f"{DATA} {SECRET}"}
    assert clean({"content": f"data: {SECRET}"}) == {"content": "data: [gone]"}


def test_arguments_stay_json() -> None:
    text = json.dumps({"a": f'"{SECRET}"\n', "b": [1, "ö\ud800"]})
    cleaned = clean({"arguments": text})["arguments"]
    assert json.loads(cleaned) == {"a": '"[gone]"\n', "b": [1, "ö\ud800"]}


@pytest.mark.parametrize("arguments", [{"env": {"DB_PASSWORD": "correcthorse", "A": "b"}}, None])
def test_a_name_marks_a_value_of_a_tool_as_secret(arguments: Any) -> None:
    arguments = arguments or {"password": "correcthorse"}
    redactor = Redactor()
    for given_as in (arguments, json.dumps(arguments)):
        (message,) = redact_messages([{"function": {"arguments": given_as}}], redactor)
        assert "correcthorse" not in str(message)
        assert "[redacted: quoted-password]" in str(message)


def test_only_changed_objects_are_new() -> None:
    messages = [
        {"role": "user", "content": "a"},
        {"role": "user", "content": [{"type": "text", "text": SECRET}, {"type": "text"}]},
    ]
    first, second = redact_messages(messages, redact)
    assert first is messages[0]
    assert second["content"][1] is messages[1]["content"][1]  # type: ignore[index]


def test_tuples_and_other_mappings() -> None:
    inner = MappingProxyType({"type": "text", "text": SECRET})
    assert redact_messages(({"content": (inner,)},), redact) == [
        {"content": [{"type": "text", "text": "[gone]"}]}
    ]
    assert redact_messages((inner,), str) == [inner]


def nested(depth: int) -> Any:
    value: Any = SECRET
    for _ in range(depth):
        value = [value]
    return value


def test_nesting_has_a_limit() -> None:
    assert SECRET not in str(clean({"content": nested(127)}))
    for message in (
        {"content": nested(128)},
        {"content": nested(50_000)},
        {"arguments": "[" * 100_000 + "]" * 100_000},
        {"arguments": "[" * 200 + "]" * 200},
    ):
        with pytest.raises(RedactionError, match="nested deeper than 128"):
            redact_messages([message], redact)


def broken(text: str) -> str:
    raise RuntimeError(text)


@pytest.mark.parametrize(
    ("hook", "told"),
    [
        (broken, "RuntimeError"),
        (lambda _text: None, "the function returned NoneType, not a string"),
    ],
)
def test_it_fails_closed(hook: Any, told: str) -> None:
    with pytest.raises(RedactionError, match=rf"\Aredaction failed: {told}\Z") as error:
        redact_messages([{"content": SECRET}], hook)
    assert error.value.__context__ is None or error.value.__suppress_context__


NAMES = st.sampled_from(["content", "text", "input", "arguments", "id", "data", "password", "x"])
STRINGS = st.sampled_from([SECRET, f"a {SECRET}", "clean", "", f'["{SECRET}"]', "{", "1"])
VALUES = st.recursive(
    st.one_of(STRINGS, st.none(), st.integers(), st.booleans()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(NAMES, inner, max_size=3),
    ),
    max_leaves=12,
)


@given(st.lists(VALUES, max_size=4))
def test_copy_on_write(messages: list[Any]) -> None:
    before = copy.deepcopy(messages)
    cleaned = redact_messages(messages, redact)
    assert messages == before
    assert len(cleaned) == len(messages)
    for new, old in zip(cleaned, messages, strict=True):
        assert (new is old) or new != old
    again = redact_messages(cleaned, redact)
    assert all(new is old for new, old in zip(again, cleaned, strict=True))
