"""One turn with each SDK, streaming and not: what goes in is the SDK's, and so is what comes out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

READ = {"file_path": {"type": "string"}}
SCHEMA = {"type": "object", "properties": READ, "required": ["file_path"]}

Reply = tuple[str, list[tuple[str, str, dict[str, Any]]], list[Any]]
"""The text; the calls (id, name, input); and the messages to send back."""


def say_anthropic(client: Any, messages: list[Any], *, stream: bool, **options: Any) -> Reply:
    tools = [{"name": "Read", "input_schema": SCHEMA}]
    given = {"model": "claude-a", "max_tokens": 4_000, "tools": tools, **options}
    if stream:
        with client.messages.stream(messages=messages, **given) as events:
            message = events.get_final_message()
    else:
        message = client.messages.create(messages=messages, **given)
    calls = [(b.id, b.name, dict(b.input)) for b in message.content if b.type == "tool_use"]
    text = "".join(block.text for block in message.content if block.type == "text")
    content = [block.model_dump(exclude_none=True) for block in message.content]
    return text, calls, [{"role": "assistant", "content": content}]


def say_chat(client: Any, messages: list[Any], *, stream: bool, **options: Any) -> Reply:
    function = {"name": "Read", "parameters": SCHEMA}
    tools = [{"type": "function", "function": function}]
    given = {"model": "gpt-a", "tools": tools, **options}
    if stream:
        with client.chat.completions.stream(messages=messages, **given) as events:
            message = events.get_final_completion().choices[0].message
    else:
        message = client.chat.completions.create(messages=messages, **given).choices[0].message
    calls = [
        (call.id, call.function.name, json.loads(call.function.arguments))
        for call in message.tool_calls or ()
    ]
    sent = {"role": "assistant", "content": message.content}
    if calls:
        sent["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in message.tool_calls
        ]
    return message.content or "", calls, [sent]


def say_responses(client: Any, messages: list[Any], *, stream: bool, **options: Any) -> Reply:
    tools = [{"type": "function", "name": "Read", "parameters": SCHEMA, "strict": False}]
    given = {"model": "gpt-a", "tools": tools, "store": False, **options}
    given["include"] = ["reasoning.encrypted_content"]
    if stream:
        with client.responses.stream(input=messages, **given) as events:
            response = events.get_final_response()
    else:
        response = client.responses.create(input=messages, **given)
    calls = [
        (item.call_id, item.name, json.loads(item.arguments))
        for item in response.output
        if item.type == "function_call"
    ]
    sent = [item.model_dump(exclude_none=True) for item in response.output]
    for item in sent:
        item.pop("parsed_arguments", None)
        for part in item.get("content") or ():
            part.pop("parsed", None)
    return response.output_text, calls, sent


def say_ollama(client: Any, messages: list[Any], *, stream: bool, **options: Any) -> Reply:
    function = {"name": "Read", "description": "Reads.", "parameters": SCHEMA}
    tools = [{"type": "function", "function": function}]
    given = {"model": "llama-a", "tools": tools, **options}
    answer = client.chat(messages=messages, stream=stream, **given)
    found = [part.message for part in answer] if stream else [answer.message]
    text = "".join(message.content or "" for message in found)
    thinking = "".join(message.thinking or "" for message in found)
    called = [call.model_dump() for message in found for call in message.tool_calls or ()]
    calls = [("", call["function"]["name"], dict(call["function"]["arguments"])) for call in called]
    sent: dict[str, Any] = {"role": "assistant", "content": text}
    if thinking:
        sent["thinking"] = thinking
    if called:
        sent["tool_calls"] = called
    return text, calls, [sent]


def result(api: str, call: tuple[str, str, dict[str, Any]], text: str) -> dict[str, Any]:
    """Return the message that a client sends with the result of a call."""
    number, name, _ = call
    if api == "anthropic":
        block = {"type": "tool_result", "tool_use_id": number, "content": text}
        return {"role": "user", "content": [block]}
    if api == "responses":
        return {"type": "function_call_output", "call_id": number, "output": text}
    if api == "ollama":
        return {"role": "tool", "tool_name": name, "content": text}
    return {"role": "tool", "tool_call_id": number, "content": text}


SAY: dict[str, Callable[..., Reply]] = {
    "anthropic": say_anthropic,
    "chat": say_chat,
    "responses": say_responses,
    "ollama": say_ollama,
}

PROVIDERS = {
    "anthropic": "anthropic",
    "chat": "openai",
    "responses": "openai",
    "ollama": "ollama",
}
