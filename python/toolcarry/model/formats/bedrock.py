"""Bedrock Converse: blocks of the content that hold ``toolUse`` or ``toolResult``."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry.model.formats.message import MessageParts, Spoken, ToolCall, ToolResult

NAME = "bedrock"


def read(message: JsonObject, _role: object, message_parts: MessageParts) -> str:
    for item in as_list(message.get("content")) or ():
        block = as_object(item)
        if block is None or block.get("type") is not None:
            continue
        found = call(block)
        if found is not None:
            message_parts.calls.append(found)
        answer = result(block)
        if answer is not None:
            message_parts.results.append(answer)
    return NAME if message_parts.calls or message_parts.results else ""


def call(wire: JsonObject) -> ToolCall | None:
    used = as_object(wire.get("toolUse"))
    if used is None:
        return None
    call_id, name = used.get("toolUseId"), used.get("name")
    return ToolCall(wire, text_or_empty(call_id), text_or_empty(name), used.get("input"))


def result(wire: JsonObject) -> ToolResult | None:
    given = as_object(wire.get("toolResult"))
    if given is None:
        return None
    call_id = text_or_empty(given.get("toolUseId"))
    return ToolResult(wire, call_id, "", given.get("content"), given.get("status") == "error")


def spoken(_message: JsonObject) -> Spoken | None:
    return None
