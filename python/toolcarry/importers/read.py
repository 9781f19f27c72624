"""Read single messages of any producer, outside of the backends."""

from __future__ import annotations

from typing import Any

from toolcarry._input.json import loads_arguments
from toolcarry._input.objects import JsonObject, as_object
from toolcarry.importers.messages import Import, find, read_foreign
from toolcarry.importers.producers import IMPORTERS
from toolcarry.model import formats as read
from toolcarry.model.content import result_text
from toolcarry.model.formats import chat
from toolcarry.model.formats.message import MessageParts, Spoken, ToolCall, ToolResult
from toolcarry.types.values import ToolBlock

__all__ = [
    "arguments_of",
    "read_call",
    "read_message",
    "read_result",
    "read_spoken",
    "text_of_result",
]


def read_message(message: JsonObject, role: object, message_parts: MessageParts) -> str:
    """Collect the content of a message with this role, and return the name of its format; empty if it fits any."""
    shape = read.read_message(message, role, message_parts)
    if shape is not None:
        return shape
    found = read_foreign(message)
    given = Import()
    written = given.write(message, found)
    shape = read.read_message(written, written.get("role"), message_parts)
    message_parts.calls[:] = [
        call._replace(wire=given.original(call.wire)) for call in message_parts.calls
    ]
    message_parts.results[:] = [
        result._replace(wire=given.original(result.wire)) for result in message_parts.results
    ]
    return found.name or (shape or "" if found.rewritten is not None else "")


def read_spoken(message: JsonObject) -> Spoken:
    """Return the speaker and the spoken content of a message."""
    role = message.get("role")
    is_plain = role is not None and message.get("content") is not None
    found = None if is_plain else find(message, role)
    if found is None:
        return read.read_spoken(message)
    if found.rewritten is not None:
        return read.read_spoken(found.rewritten)
    return Spoken(found.speaker, found.content)


def read_call(wire: JsonObject) -> ToolCall:
    """Read a call without its message."""
    call = read.read_call(wire)
    if call is None:
        found = (importer.call(wire) for importer in IMPORTERS)
        call = next((call for call in found if call is not None), None)
    return chat.to_call(wire) if call is None else call


def read_result(wire: JsonObject) -> ToolResult:
    """Read a result without its message."""
    result = read.read_result(wire)
    if result is None:
        found = (importer.result(wire) for importer in IMPORTERS)
        result = next((result for result in found if result is not None), None)
    return chat.to_result(wire) if result is None else result


def arguments_of(block: ToolBlock) -> dict[str, Any]:
    """Return the arguments of a block's call in any format; empty without a call.

    >>> call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
    >>> arguments_of(ToolBlock(call, None, "Bash"))
    {'command': 'make'}
    """
    wire = as_object(block.tool_use)
    return {} if wire is None else loads_arguments(read_call(wire).arguments)


def text_of_result(block: ToolBlock) -> str:
    """Return the text of a block's result in any format; empty without a result."""
    wire = as_object(block.tool_result)
    return "" if wire is None else result_text(read_result(wire).content)
