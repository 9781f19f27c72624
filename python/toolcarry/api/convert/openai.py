"""Write OpenAI Chat: calls are in the assistant message, and each result is a message of its own after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from toolcarry._input.json import compact_json
from toolcarry.api.convert.adapt import arguments_of
from toolcarry.api.convert.losses import Losses
from toolcarry.api.convert.media import data_url, file_name
from toolcarry.api.convert.model import (
    Call,
    Media,
    Orphan,
    Part,
    PortableTurn,
    Text,
    Thought,
    results_of,
)
from toolcarry.api.convert.native import is_own_call, is_own_result, own_text

Message = dict[str, Any]


def write(turns: Sequence[PortableTurn], _losses: Losses) -> tuple[str, list[Message]]:
    """Return the messages; the first one is the system prompt."""
    messages: list[Message] = []
    for turn in turns:
        if turn.role != "tool":
            messages.append({**message_of(turn), **turn.members})
        messages += [message for part in turn.parts for message in result_messages(part)]
    return "", messages


def message_of(turn: PortableTurn) -> Message:
    """Return the message for the content of a turn without results."""
    parts = [part_of(part) for part in turn.parts if isinstance(part, (Text, Media))]
    calls = [call_of(part) for part in turn.parts if isinstance(part, Call)]
    thoughts = [part.text for part in turn.parts if isinstance(part, Thought)]
    message: Message = {
        "role": turn.role,
        "content": simple(parts) if parts else None if calls or turn.members else "",
    }
    if thoughts:
        message["reasoning_content"] = "\n".join(thoughts)
    if calls:
        message["tool_calls"] = calls
    return message


def simple(parts: list[Message]) -> str | list[Message]:
    """Return a single text as a string, which needs no part."""
    is_text = len(parts) == 1 and parts[0].keys() == {"type", "text"}
    return parts[0]["text"] if is_text else parts


def part_of(part: Text | Media) -> Message:
    """Return a text, an image, a document or a sound as a part; an OpenAI part is unchanged."""
    if isinstance(part, Text):
        text = {"type": "text", "text": part.text, **own_text(part.wire, "openai")}
        return refusal_of(part) or text
    if part.family == "openai":
        return dict(part.wire)
    if part.kind == "image":
        return {"type": "image_url", "image_url": {"url": data_url(part)}}
    if part.kind == "audio":
        sound = {"data": part.data, "format": part.media_type.partition("/")[2]}
        return {"type": "input_audio", "input_audio": sound}
    return {"type": "file", "file": {"filename": file_name(part), "file_data": data_url(part)}}


def refusal_of(text: Text) -> Message | None:
    """Return a refusal, which Chat and Responses write in the same way."""
    is_refusal = text.wire.get("type") == "refusal"
    return {"type": "refusal", "refusal": text.text} if is_refusal else None


def call_of(call: Call) -> Message:
    """Return a call; one that is in OpenAI's format, with free text or not, stays unchanged."""
    if is_own_call(call.wire, "openai"):
        return {"type": "function", **call.wire, "id": call.call_id}
    function = {"name": call.name, "arguments": arguments_text(call)}
    return {"id": call.call_id, "type": "function", "function": function}


def arguments_text(call: Call) -> str:
    """Return the arguments as JSON; arguments that were text stay unchanged."""
    given = call.arguments
    return given if isinstance(given, str) and given else compact_json(arguments_of(call))


def result_messages(part: Part) -> Iterable[Message]:
    """Return the messages of the results."""
    if isinstance(part, (Call, Orphan)):
        for result in results_of(part):
            named = {"role": "tool", "tool_call_id": part.call_id}
            is_own = is_own_result(result.wire, "openai")
            yield {**result.wire, **named} if is_own else {**named, "content": result.content}
