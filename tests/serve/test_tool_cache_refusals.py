"""Restored tools never make the provider refuse the request."""

from __future__ import annotations

from typing import Any

import pytest
from support.providers.fakes import AnthropicFake, OpenAIFake, ScriptedTurn

from toolcarry.config import parse_config

pytestmark = pytest.mark.sdk

CONFIG = parse_config("[tool_cache]\nttl = 60.0\n")
MARK = {"cache_control": {"type": "ephemeral"}}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


def test_cache_marks_of_tools_and_messages_stay_within_the_limit(start: Any, clients: Any) -> None:
    """Anthropic takes four of them. Without tools, the client may put all four into its messages."""
    fake = AnthropicFake([ScriptedTurn("Read.")])
    client = clients("anthropic", start({"a": fake}, config=CONFIG))
    tools = [{"name": "read", "input_schema": SCHEMA, **MARK}]
    given = {"model": "claude-a", "max_tokens": 100}
    called = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}, **MARK}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x = 1", **MARK}
    messages: list[Any] = [
        {"role": "user", "content": [{"type": "text", "text": "What is in a.py?", **MARK}]},
        {"role": "assistant", "content": [called]},
        {"role": "user", "content": [result, {"type": "text", "text": "Go on.", **MARK}]},
    ]
    client.messages.create(messages=messages[:1], tools=tools, **given)
    client.messages.create(messages=messages, **given)
    assert fake.refusals == []
    assert [tool["name"] for tool in fake.recorded[1].json["tools"]] == ["read"]


def test_legacy_functions_count_as_tools(start: Any, clients: Any) -> None:
    """``functions`` is what Chat Completions had before; a request has these or ``tools``."""
    fake = OpenAIFake([ScriptedTurn("Read.")])
    client = clients("openai", start({"a": fake}, config=CONFIG))
    hello: list[Any] = [{"role": "user", "content": "What is in a.py?"}]
    tools: list[Any] = [{"type": "function", "function": {"name": "read", "parameters": SCHEMA}}]
    functions: list[Any] = [{"name": "write", "parameters": SCHEMA}]
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages: list[Any] = [
        *hello,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "x = 1"},
    ]
    client.chat.completions.create(model="gpt-a", messages=hello, tools=tools)
    client.chat.completions.create(model="gpt-a", messages=messages, functions=functions)
    assert fake.recorded[1].json["functions"] == functions
    assert "tools" not in fake.recorded[1].json
