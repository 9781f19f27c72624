"""Invalid messages, host calls and settings, and the errors that report them."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders.text_histories import asks, says
from support.builders.wire import assistant, user

DEEP: Any = "x"
for _ in range(200):
    DEEP = [DEEP]


@pytest.mark.parametrize("wrong", ["text", b"[]", {"name": "f"}, None, 7, iter(())])
def test_calls_that_are_no_list(rust: ModuleType, wrong: Any) -> None:
    kind = type(wrong).__name__
    with pytest.raises(rust.InputError, match=f"tool_calls must be a list of objects, not {kind}"):
        rust.recount([], tool_calls=wrong)


@pytest.mark.parametrize("wrong", ["text", None, 7, [], True])
def test_a_call_that_is_no_object(rust: ModuleType, wrong: Any) -> None:
    with pytest.raises(rust.InputError) as caught:
        rust.recount([], tool_calls=[{"name": "f"}, wrong])
    assert str(caught.value) == f"tool call 1 is not an object, but {type(wrong).__name__}"
    assert caught.value.position == 1


@pytest.mark.parametrize("member", ["arguments", "result", "error"])
@pytest.mark.parametrize("messages", [[says("Hm.")], b'[{"role":"assistant","content":"Hm."}]'])
def test_a_call_that_is_nested_too_deep(rust: ModuleType, messages: Any, member: str) -> None:
    calls = [{"name": "f"}, {"name": "g", member: {"a": DEEP}}]
    with pytest.raises(rust.InputError, match="nested deeper than 128") as caught:
        rust.recount(messages, tool_calls=calls)
    assert caught.value.position == 1


def test_a_message_that_is_nested_too_deep(rust: ModuleType) -> None:
    wrong = assistant({"type": "tool_use", "id": "t", "name": "f", "input": {"a": DEEP}})
    with pytest.raises(rust.InputError, match="message 1 is nested deeper than 128") as caught:
        rust.recount([user({"type": "text", "text": "?"}), wrong])
    assert caught.value.position == 1


@pytest.mark.parametrize("wrong", [7, "text", [], 1.5, True, None])
def test_a_message_that_is_no_object(rust: ModuleType, wrong: Any) -> None:
    for messages in ([asks("?"), wrong], json.dumps([asks("?"), wrong]).encode()):
        for calls in ([], [{"name": "f"}]):
            with pytest.raises(rust.InputError) as caught:
                rust.recount(messages, tool_calls=calls)
            kind = type(wrong).__name__
            assert str(caught.value) == f"message 1 is not an object, but {kind}"
            assert caught.value.position == 1


@pytest.mark.parametrize("wrong", [7, None, {"messages": []}, {1, 2}])
def test_input_without_conversation_is_refused(rust: ModuleType, wrong: Any) -> None:
    with pytest.raises(
        rust.InputError, match="messages must be a list of objects, bytes, text or a Path"
    ):
        rust.recount(wrong)


@pytest.mark.parametrize("body", [b"", b"{", b"7", b'{"messages":7}', b"[\xff]"])
@pytest.mark.parametrize("calls", [(), ({"name": "f"},)])
def test_bytes_that_are_no_conversation(rust: ModuleType, body: bytes, calls: Any) -> None:
    with pytest.raises(rust.InputError) as caught:
        rust.recount(body, tool_calls=calls)
    with pytest.raises(rust.InputError) as expected:
        rust.carry(body)
    assert str(caught.value) == str(expected.value)
    assert caught.value.position == expected.value.position


SETTINGS: tuple[tuple[str, Any], ...] = (
    ("max_result_length", -1), ("max_result_length", True), ("max_result_length", 1.5),
    ("max_chars", -1), ("max_chars", "9"), ("max_chars", False), ("max_tokens", -1), ("max_tokens", 1.5),
    ("encoding", "p50k_base"), ("encoding", None), ("turn_id", 7), ("turn_id", None), ("turn_id", b"id"),
)  # fmt: skip


@pytest.mark.parametrize(("key", "value"), SETTINGS)
def test_a_setting_that_is_wrong(rust: ModuleType, key: str, value: Any) -> None:
    with pytest.raises(rust.ConfigError, match=f"^{key}: "):
        rust.recount([], **{key: value})


def test_both_totals_are_one_too_many(rust: ModuleType) -> None:
    with pytest.raises(
        rust.ConfigError, match=r"^max_tokens: is not allowed together with max_chars"
    ):
        rust.recount([], max_chars=5, max_tokens=5)
