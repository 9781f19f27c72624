"""Bedrock Converse: blocks of the content that hold ``toolUse`` or ``toolResult``."""

from __future__ import annotations

from toolcarry._input.objects import Wire, as_list, as_object, text_or_empty
from toolcarry._pure.formats.message import Said, Spoken, ToolCall, ToolResult

NAME = "bedrock"


def read(message: Wire, _role: object, said: Said) -> str:
    for item in as_list(message.get("content")) or ():
        block = as_object(item)
        if block is None or "type" in block:
            continue
        found = call(block)
        if found is not None:
            said.calls.append(found)
        answer = result(block)
        if answer is not None:
            said.results.append(answer)
    return NAME if said.calls or said.results else ""


def call(wire: Wire) -> ToolCall | None:
    used = as_object(wire.get("toolUse"))
    if used is None:
        return None
    call_id, name = used.get("toolUseId"), used.get("name")
    return ToolCall(wire, text_or_empty(call_id), text_or_empty(name), used.get("input"))


def result(wire: Wire) -> ToolResult | None:
    given = as_object(wire.get("toolResult"))
    if given is None:
        return None
    call_id = text_or_empty(given.get("toolUseId"))
    return ToolResult(wire, call_id, "", given.get("content"), given.get("status") == "error")


def spoken(_message: Wire) -> Spoken | None:
    return None
