"""Clients of the other providers that send their tools once, in front of the proxy."""

from __future__ import annotations

from typing import Any

import pytest
from support.builders.ollama_talks import (
    ALWAYS,
    CONFIG,
    GO_ON,
    HELLO,
    TOOLS,
    WORDS,
    function,
    names_in,
    parameters,
    tools_in,
)
from support.providers.fakes import AnthropicFake, OpenAIFake, ScriptedTurn

pytestmark = pytest.mark.sdk


@pytest.mark.parametrize("stream", [False, True])
def test_chat_completions(start: Any, clients: Any, stream: bool) -> None:
    fake = OpenAIFake([ScriptedTurn("Read.")])
    client = clients("openai", start({"a": fake}, config=CONFIG))
    tools = [
        {"type": "function", "function": {**function(word), "strict": False}} for word in WORDS
    ]
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages: list[Any] = [
        *HELLO,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "x = 1"},
    ]

    def say(messages: list[Any], **options: Any) -> None:
        given = {"model": "gpt-a", "messages": messages, **options}
        answer = client.chat.completions.create(**given, stream=stream)
        list(answer) if stream else None

    say(HELLO, tools=tools)
    say(messages)
    assert tools_in(fake, 1) == tools_in(fake, 0)
    assert fake.recorded[1].json["tools"] == tools
    say(messages, tool_choice="none")
    say(messages, model="gpt-b")
    say([*HELLO, {"role": "assistant", "content": "Hi."}, GO_ON])
    assert [names_in(fake, at) for at in (2, 3, 4)] == [[], [], []]
    say(messages, tools=[])
    assert names_in(fake) == WORDS
    assert fake.refusals == []


@pytest.mark.parametrize("stream", [False, True])
def test_responses(start: Any, clients: Any, stream: bool) -> None:
    fake = OpenAIFake([ScriptedTurn("Read.")])
    client = clients("openai", start({"a": fake}, config=CONFIG))
    tools: list[Any] = [{"type": "function", "strict": False, **function(word)} for word in WORDS]
    tools.append({"type": "web_search", "search_context_size": "low"})
    items: list[Any] = [
        *HELLO,
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "x = 1"},
    ]

    def say(items: list[Any], **options: Any) -> None:
        given = {"model": "gpt-a", "input": items, "store": False, **options}
        answer = client.responses.create(**given, stream=stream)
        list(answer) if stream else None

    say(HELLO, tools=tools)
    say(items)
    assert tools_in(fake, 1) == tools_in(fake, 0)
    assert fake.recorded[1].json["tools"] == tools
    say(items, tool_choice="none")
    say(items, model="gpt-b")
    say([*HELLO, {"role": "assistant", "content": "Hi."}, GO_ON])
    assert [tools_in(fake, at) for at in (2, 3, 4)] == [None, None, None]
    assert fake.refusals == []


@pytest.mark.parametrize("stream", [False, True])
def test_messages(start: Any, clients: Any, stream: bool) -> None:
    fake = AnthropicFake([ScriptedTurn("Read.")])
    client = clients("anthropic", start({"a": fake}, config=CONFIG))
    tools: list[Any] = [
        {"name": word, "description": f"To {word}.", "input_schema": parameters(word)}
        for word in WORDS
    ]
    tools[-1]["cache_control"] = {"type": "ephemeral"}
    tools.append({"type": "web_search_20250305", "name": "web_search", "max_uses": 5})
    called = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x = 1"}
    messages: list[Any] = [
        *HELLO,
        {"role": "assistant", "content": [called]},
        {"role": "user", "content": [result]},
    ]

    def say(messages: list[Any], **options: Any) -> None:
        given = {"model": "claude-a", "max_tokens": 100, "messages": messages, **options}
        answer = client.messages.create(**given, stream=stream)
        list(answer) if stream else None

    say(HELLO, tools=tools)
    say(messages)
    assert tools_in(fake, 1) == tools_in(fake, 0)
    assert fake.recorded[1].json["tools"] == tools
    say(messages, model="claude-b")
    say([*HELLO, {"role": "assistant", "content": "Hi."}, GO_ON])
    assert [tools_in(fake, at) for at in (2, 3)] == [None, None]
    client.messages.count_tokens(model="claude-a", messages=messages)
    assert names_in(fake) == [*WORDS, "web_search"]  # so that what is counted is what is sent
    assert fake.refusals == []


def test_the_tools_of_one_api_are_written_as_another_one_does(start: Any, clients: Any) -> None:
    """One client, which asks the same model by two APIs."""
    fake = OpenAIFake([ScriptedTurn("Read.")])
    client = clients("openai", start({"a": fake}, config=ALWAYS))
    client.chat.completions.create(model="gpt-a", messages=HELLO, tools=TOOLS)
    client.responses.create(model="gpt-a", input=HELLO, store=False)
    assert fake.recorded[-1].json["tools"] == [
        {"type": "function", **function(word), "strict": False} for word in WORDS
    ]
    assert fake.refusals == []
