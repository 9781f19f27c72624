"""LangChain's ``messages_to_dict``: ``type`` is the kind of a message, and ``data`` holds everything else."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry._pure.formats import anthropic, chat
from toolcarry._pure.formats.message import MessageParts
from toolcarry.importers.producers.base import Imported, ToolCall, ToolResult

NAME = "langchain"
KINDS = frozenset(("ai", "human", "tool", "system", "function", "chat", "AIMessageChunk"))


def read(message: JsonObject) -> Imported | None:
    data = data_of(message)
    if data is None:
        return None
    answer = result(message)
    if answer is not None:
        return Imported(NAME, message["type"], results=[answer])
    message_parts = MessageParts()
    for key in ("tool_calls", "invalid_tool_calls"):
        entries = map(as_object, as_list(data.get(key)) or ())
        message_parts.calls.extend(to_call(entry) for entry in entries if entry is not None)
    if not message_parts.calls:  # older versions keep the calls as the provider wrote them
        anthropic.read(data, None, message_parts)
        chat.read_calls(as_object(data.get("additional_kwargs")) or {}, message_parts)
    kind = message["type"]
    speaker = text_or_empty(data.get("role")) if kind == "chat" else kind
    return Imported(NAME, speaker, data.get("content"), message_parts.calls, message_parts.results)


def call(wire: JsonObject) -> ToolCall | None:
    is_call = wire.get("type") in (None, "tool_call", "invalid_tool_call") and "args" in wire
    return to_call(wire) if is_call else None


def result(wire: JsonObject) -> ToolResult | None:
    data = data_of(wire)
    if data is None or wire.get("type") not in ("tool", "function"):
        return None
    call_id, name = text_or_empty(data.get("tool_call_id")), text_or_empty(data.get("name"))
    return ToolResult(wire, call_id, name, data.get("content"), data.get("status") == "error")


def data_of(message: JsonObject) -> JsonObject | None:
    """Return the content of a LangChain message."""
    return as_object(message.get("data")) if text_or_empty(message.get("type")) in KINDS else None


def to_call(entry: JsonObject) -> ToolCall:
    call_id, name = entry.get("id"), entry.get("name")
    return ToolCall(entry, text_or_empty(call_id), text_or_empty(name), entry.get("args"))
