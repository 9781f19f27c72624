"""Write Ollama messages: arguments are objects, results name their tool, and pairs are recognised by order.

Order does not suffice for an open call, a second result or a result without a call. These have ids, in the fields that
the server accepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from toolcarry.api.convert.adapt import arguments_of
from toolcarry.api.convert.losses import Losses
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
from toolcarry.api.convert.native import is_own_call, is_own_result, with_id

Message = dict[str, Any]


def write(turns: Sequence[PortableTurn], _losses: Losses) -> tuple[str, list[Message]]:
    """Return the messages; the first one is the system prompt."""
    messages: list[Message] = []
    for turn in turns:
        if turn.role != "tool":
            messages.append(message_of(turn))
        messages += [message for part in turn.parts for message in result_messages(part)]
    return "", messages


def message_of(turn: PortableTurn) -> Message:
    """Return the message for the content of a turn without results, its texts joined."""
    texts = [part.text for part in turn.parts if isinstance(part, Text)]
    thoughts = [part.text for part in turn.parts if isinstance(part, Thought)]
    images = [part.data for part in turn.parts if isinstance(part, Media)]
    calls = [call_of(part) for part in turn.parts if isinstance(part, Call)]
    message: Message = {"role": turn.role, "content": "\n".join(texts)}
    for key, value in (
        ("thinking", "\n".join(thoughts)),
        ("images", images),
        ("tool_calls", calls),
    ):
        if value:
            message[key] = value
    return message


def call_of(call: Call) -> Message:
    named = {"id": call.call_id} if call.call_id else {}
    if is_own_call(call.wire, "ollama"):
        return with_id(call.wire, "id", call.call_id)
    return {**named, "function": {"name": call.name, "arguments": arguments_of(call)}}


def result_messages(part: Part) -> Iterable[Message]:
    """Return the messages of the results."""
    if isinstance(part, (Call, Orphan)):
        ids = {"tool_call_id": part.call_id} if part.call_id else {}
        named = {"role": "tool", "tool_name": part.name, **ids}
        for result in results_of(part):
            if is_own_result(result.wire, "ollama"):
                yield {**with_id(result.wire, "tool_call_id", part.call_id), **named}
            else:
                yield {**named, "content": result.content}
