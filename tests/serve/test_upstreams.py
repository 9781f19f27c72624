"""The fake providers are as strict as the real ones: what those refuse, they refuse, and say why."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from support.providers.fakes import AnthropicFake, Call, OllamaFake, OpenAIFake, ScriptedTurn

pytestmark = pytest.mark.sdk

HEADERS = {
    "x-api-key": "test-key",
    "authorization": "Bearer test-key",
    "anthropic-version": "2023-06-01",
}
USER = {"role": "user", "content": "Hi"}
MARK = {"cache_control": {"type": "ephemeral"}}
TEXT = {"type": "text", "text": "x"}
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1_024}, "max_tokens": 4_000}


def use(number, name="Read"):
    return {"type": "tool_use", "id": number, "name": name, "input": {}}


def answer(number, **more):
    return {"type": "tool_result", "tool_use_id": number, "content": "y", **more}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def call(number, name="Read"):
    return {"id": number, "type": "function", "function": {"name": name, "arguments": "{}"}}


def status(fake, path, request):
    """Return the status of a fake's answer, and its error message if it refuses."""
    found = TestClient(fake).post(path, json=request, headers=HEADERS)
    error = found.json().get("error") if found.status_code != 200 else ""
    return found.status_code, error["message"] if isinstance(error, dict) else error


FINE = [USER, assistant(use("a"), use("b")), user(answer("b"), answer("a"), TEXT)]


@pytest.mark.parametrize(
    ("messages", "more", "told"),
    [
        (FINE, {}, ""),
        ([USER, assistant(TEXT, use("a")), USER], {}, "call 'a' has no result"),
        ([USER, assistant(use("a")), user(TEXT, answer("a"))], {}, "behind something else"),
        ([USER, assistant(use("a")), user(answer("a"), answer("a"))], {}, "2 results"),
        ([USER, user(answer("a"))], {}, "no call in the turn before"),
        ([USER, assistant(use("a")), user(answer("a")), assistant(use("a")), user(answer("a"))], {}, "not unique"),
        ([USER, assistant(use("a b")), user(answer("a b"))], {}, "wrong form"),
        ([USER, assistant({"type": "thinking", "thinking": "x", "signature": "y"}, TEXT), USER], {}, "Invalid `signature`"),
        ([USER, assistant({"type": "redacted_thinking", "data": "y"}, TEXT), USER], {}, "Invalid `data`"),
        ([USER, assistant({"type": "reasoning", "text": "x"}), USER], {}, "'reasoning' found is not expected"),
        ([USER, {"role": "assistant", "content": "x", "reasoning_content": "y"}, USER], {}, "reasoning_content: Extra"),
        ([USER, assistant({**TEXT, "extra": 1}), USER], {}, "extra: Extra inputs"),
        ([assistant(TEXT), USER], {}, 'must use the "user" role'),
        ([{"role": "tool", "content": "x"}], {}, "role 'tool'"),
        ([], {}, "at least one message"),
        (FINE, THINKING, "Expected `thinking` or `redacted_thinking`, but found `tool_use`"),
        ([USER, assistant(TEXT), USER], THINKING, ""),
        ([USER], {"thinking": {"type": "enabled", "budget_tokens": 9}}, ">= 1024"),
        ([user({**TEXT, **MARK})], {"system": [{**TEXT, **MARK}] * 3}, ""),
        ([user({**TEXT, **MARK})], {"system": [{**TEXT, **MARK}] * 4}, "A maximum of 4 blocks"),
        ([USER], {"tool_choice": {"type": "auto"}}, "tool_choice may only"),
        ([USER], {"tools": [{"name": "a"}, {"name": "a"}]}, "must be unique"),
        ([USER], {"tools": [{"name": "a"}], "tool_choice": {"type": "tool", "name": "b"}}, "'b' not found"),
        ([USER], {"tool_calls": []}, "tool_calls: Extra"),
        ([USER], {"model": 5}, "model: Field required"),
        ([USER], {"max_tokens": None}, "max_tokens"),
    ],
)  # fmt: skip
def test_anthropic(messages, more, told):
    request = {"model": "m", "max_tokens": 9, "messages": messages, **more}
    code, message = status(AnthropicFake(), "/v1/messages", request)
    assert (code, told in message) == (400 if told else 200, True), message


def test_anthropics_own_thinking():
    fake = AnthropicFake([ScriptedTurn(thinking="Hm.", calls=[Call("Read")])])
    request = {"model": "m", "messages": [USER], **THINKING}
    content = TestClient(fake).post("/v1/messages", json=request, headers=HEADERS).json()["content"]
    assert [block["type"] for block in content] == ["thinking", "tool_use"]
    request["messages"] = [USER, assistant(*content), user(answer(content[1]["id"]))]
    assert status(fake, "/v1/messages", request)[0] == 200
    content[0]["thinking"] = "Hm!"
    assert status(fake, "/v1/messages", request)[0] == 400


@pytest.mark.parametrize(
    ("messages", "more", "told"),
    [
        ([USER, {"role": "assistant", "content": None, "tool_calls": [call("a")]}, {"role": "tool", "tool_call_id": "a", "content": "y"}], {}, ""),
        ([USER, {"role": "assistant", "content": "x", "tool_calls": [call("a")]}, USER], {}, "no result directly behind"),
        ([USER, {"role": "tool", "tool_call_id": "a", "content": "y"}], {}, "no call that waits"),
        ([USER, {"role": "assistant", "content": "x", "reasoning_content": "y"}], {}, "reasoning_content"),
        ([USER, {"role": "assistant", "content": "x", "reasoning": "y"}], {}, "reasoning"),
        ([USER, {"role": "assistant", "content": "x", "thinking_blocks": []}], {}, "thinking_blocks"),
        ([user({**TEXT, **MARK})], {}, "cache_control"),
        ([user({"type": "thinking", "thinking": "x"})], {}, "'thinking'"),
        ([user(answer("a"))], {}, "'tool_result'"),
        ([USER], {"thinking": {}}, "Unrecognized request argument supplied: thinking"),
        ([USER], {"tool_choice": "auto"}, "only allowed when 'tools'"),
        ([USER, {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": {}}}]}], {}, "Invalid type"),
        ([], {}, "Missing required parameter"),
    ],
)  # fmt: skip
def test_chat(messages, more, told):
    request = {"model": "m", "messages": messages, **more}
    code, message = status(OpenAIFake(), "/v1/chat/completions", request)
    assert (code, told in message) == (400 if told else 200, True), message


FUNCTION = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "a", "output": "y"}


@pytest.mark.parametrize(
    ("items", "code", "told"),
    [
        ("Hi", 200, ""),
        ([USER, FUNCTION, OUTPUT], 200, ""),
        ([USER, FUNCTION], 400, "no output"),
        ([USER, OUTPUT], 400, "no call before it"),
        ([USER, {**FUNCTION, "id": "call_1"}, OUTPUT], 400, "begins with 'fc'"),
        ([USER, {"type": "reasoning", "id": "rs_1", "summary": []}, FUNCTION, OUTPUT], 404, "not found"),
        ([USER, {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}, FUNCTION, OUTPUT], 400, "could not be verified"),
        ([user(TEXT)], 400, "Invalid value"),
        ([{"role": "user", "content": "x", "thinking": "y"}], 400, "thinking"),
    ],
)  # fmt: skip
def test_responses(items, code, told):
    found, message = status(OpenAIFake(), "/v1/responses", {"model": "m", "input": items})
    assert (found, told in message) == (code, True), message


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([USER, {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}, {"role": "tool", "content": "y"}], ""),
        ([user(TEXT)], "cannot unmarshal array"),
        ([USER, {"role": "tool", "content": "y"}], "0 calls with 1 results"),
        ([USER, {"role": "assistant", "tool_calls": [call("a")]}, {"role": "tool", "content": "y"}], "arguments that are no object"),
        ([USER, {"role": "assistant", "content": "x", "thinking": "y"}], "thinking of another"),
        ([{"role": "robot", "content": "y"}], "invalid role"),
    ],
)  # fmt: skip
def test_ollama(messages, told):
    code, message = status(OllamaFake(), "/api/chat", {"model": "m", "messages": messages})
    assert (code, told in message) == (400 if told else 200, True), message
