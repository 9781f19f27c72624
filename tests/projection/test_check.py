"""``check`` lists what the destination of a request would refuse."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders.wire import bash

from toolcarry import ProjectPolicy
from toolcarry.errors import ConfigError, InputError
from toolcarry.types.mends import MENDS, PROBLEMS

ASK = {"role": "user", "content": "Go."}


def call(name: str = "ls", call_id: str = "call_1") -> dict[str, Any]:
    function = {"name": name, "arguments": "{}"}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": call_id, "type": "function", "function": function}]}  # fmt: skip


def answer(call_id: str = "call_1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "a.py"}


def test_each_correction_has_a_problem() -> None:
    assert PROBLEMS.keys() == MENDS.keys() | {"not_repaired"}


def test_problems_of_a_request(api: ModuleType) -> None:
    messages = [ASK, call("list files"), answer(), answer("gone")]
    found = api.check(messages)
    assert [(each.rule, each.position, each.call_id, each.detail) for each in found] == [
        ("refused_name", 1, "call_1", "list_files"),
        ("orphan_result", 3, "gone", ""),
    ]
    assert all(each.text == PROBLEMS[each.rule] for each in found)
    assert found == api.check(json.dumps({"messages": messages}).encode())


def test_a_repaired_request_has_no_problems(api: ModuleType) -> None:
    messages = [ASK, call("list files"), answer("gone")]
    repaired = api.project(messages, policy=ProjectPolicy(repair=True)).messages
    assert api.check(messages)
    assert api.check(repaired) == ()


def test_a_request_is_checked_for_its_destination(api: ModuleType) -> None:
    messages = [ASK, call(), answer()]
    assert api.check(messages) == ()
    assert [each.rule for each in api.check(messages, destination="mistral")] == ["renamed_id"]


def test_the_model_of_a_body_tells_the_destination(api: ModuleType) -> None:
    words = {"role": "assistant", "content": [{"type": "text", "text": "Well,"}]}
    body = {"model": "claude-opus-4-7", "messages": [ASK, words]}
    assert [each.rule for each in api.check(json.dumps(body).encode())] == ["missing_user"]


def test_what_cannot_be_checked_is_told(api: ModuleType) -> None:
    mixed = [ASK, call(), answer(), {"role": "model", "parts": [{"functionCall": {"name": "f"}}]}]
    (found,) = api.check(mixed)
    assert (found.rule, found.position, found.detail) == (
        "not_repaired",
        None,
        "gemini, openai-chat",
    )


def test_messages_of_another_format_are_told(api: ModuleType) -> None:
    """Words alone tell of no format, and the types of their parts do, and the member that holds them."""
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A."}]}  # fmt: skip
    responses = json.dumps({"input": [ASK, said, ASK]}).encode()
    (found,) = api.check(responses, destination="mistral")
    assert (found.rule, found.detail) == (
        "not_repaired",
        "openai-responses: mistral takes openai-chat",
    )
    assert api.check(responses, destination="openai-responses") == ()
    (found,) = api.check(json.dumps({"input": [ASK]}).encode(), destination="mistral")
    assert (found.rule, found.detail) == ("not_repaired", "input: mistral takes messages")
    assert api.check(json.dumps([ASK, said]).encode(), destination="openai-responses") == ()
    chat = json.dumps({"messages": [ASK]}).encode()
    assert api.check(chat, destination="mistral") == api.check(chat) == ()
    (found,) = api.check(chat, destination="openai-responses")
    assert found.detail == "messages: openai-responses takes input"


def test_bad_input_is_an_error(api: ModuleType) -> None:
    with pytest.raises(InputError, match="is not a request: not JSON: byte 1"):
        api.check(b"{")
    with pytest.raises(
        ConfigError, match=r"^destination: 'x' is not allowed; allowed: 'anthropic'"
    ):
        api.check([ASK], destination="x")


def test_a_fault_in_a_result_that_is_superseded(api: ModuleType) -> None:
    """Found by the injected faults: a repair would replace the result with a marker, so that nothing was wrong with it."""
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    broken = [{"type": "image", "source": source}]
    messages = [ASK, *bash("ls", broken), *bash("ls", "ok", "t2")]
    assert [problem.rule for problem in api.check(messages)] == ["unreadable_media"]
