"""Reading a body's fields without its messages gives the same values as reading the whole body."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each

from toolcarry.switch.request_fields import LazyMessages, RequestFields, read_fields

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
MEMBERS = st.sampled_from(
    [
        "model",
        "metadata",
        "conversation",
        "prompt_cache_key",
        "messages",
        "contents",
        "input",
        "tools",
    ]
)


def expected(document: dict[str, Any]) -> tuple[str, list[Any]]:
    for key in ("messages", "contents", "input"):
        if isinstance(document.get(key), list):
            return key, document[key]
    said = document.get("input")
    return "", [{"role": "user", "content": said}] if isinstance(said, str) else []


@given(st.dictionaries(MEMBERS, JSON | st.lists(JSON, max_size=4), max_size=6))
def test_fields_are_those_of_the_whole_document(document: dict[str, Any]) -> None:
    fields = read_fields(json.dumps(document).encode())
    for name in ("model", "metadata", "conversation", "prompt_cache_key"):
        assert getattr(fields, name) == document.get(name)
    assert (fields.key, list(fields.messages)) == expected(document)


def test_a_message_is_read_once() -> None:
    messages = read_fields(b'{"messages": [{"a": 1}, {"b": [2]}, 3]}').messages
    assert isinstance(messages, LazyMessages)
    assert messages[1] is messages[1] is messages[-2]
    assert messages[-1:] == [3]
    assert messages[::2] == [{"a": 1}, 3]
    assert [len(messages), *messages] == [3, {"a": 1}, {"b": [2]}, 3]
    with pytest.raises(IndexError):
        messages[3]


def test_the_last_of_two_equal_keys_counts() -> None:
    fields = read_fields(b'{"model": "a", "messages": [1], "model": "b", "messages": [2]}')
    assert (fields.model, list(fields.messages)) == ("b", [2])


@for_each(
    "body",
    [b'{"messages": [{}, {"content": "\xff"}]}', b'{"messages": [{}', b"[{}]", b"1", b""],
    ids=["not UTF-8", "cut", "a list", "a number", "nothing"],
)
def test_of_anything_but_an_object_nothing_is_read(body: bytes) -> None:
    assert read_fields(body) == RequestFields()


def test_half_of_a_surrogate_pair_is_read() -> None:
    fields = read_fields(b'{"model": "m", "messages": [{"content": "\\ud83d"}]}')
    assert fields.messages[0] == {"content": "\ud83d"}
