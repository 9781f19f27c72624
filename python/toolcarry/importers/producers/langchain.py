"""LangChain: ``messages_to_dict``, whose ``data`` holds everything but the type; ``model_dump``; and ``dumps`` (``lc: 1``)."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry.importers.producers.base import About, Imported, Signs, ToolCall, ToolResult
from toolcarry.model.formats import anthropic, chat
from toolcarry.model.formats.message import MessageParts

NAME = "langchain"
ABOUT = About(
    "LangChain: messages_to_dict, model_dump, dumps",
    "a `type` such as `human` or `ai` next to `data`, or next to `additional_kwargs`; `lc` with `kwargs`",
    "langchain-core 1.8.3, real dumps",
)
SIGNS = Signs(
    ("data", "args", "additional_kwargs", "lc"),
    ("ai", "human", "tool", "system", "tool_call", "invalid_tool_call", "function"),
)
ASIDE = frozenset(
    ("response_metadata", "additional_kwargs", "usage_metadata", "artifact", "tool_call_chunks")
)
CLASSES = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "AIMessageChunk": "ai",
    "ToolMessage": "tool",
    "SystemMessage": "system",
    "FunctionMessage": "function",
    "ChatMessage": "chat",
}
"""The kinds, by the names of the classes, which older dumps have instead."""
KINDS = frozenset(("ai", "human", "tool", "system", "function", "chat", "AIMessageChunk"))


def read(message: JsonObject) -> Imported | None:
    data = data_of(message)
    if data is None:
        return None
    answer, kind = result(message), kind_in(message)
    if answer is not None:
        return Imported(NAME, kind, results=[answer])
    message_parts = MessageParts()
    for key in ("tool_calls", "invalid_tool_calls"):
        entries = map(as_object, as_list(data.get(key)) or ())
        message_parts.calls.extend(to_call(entry) for entry in entries if entry is not None)
    if not message_parts.calls:  # older versions keep the calls as the provider wrote them
        anthropic.read(data, None, message_parts)
        chat.read_calls(as_object(data.get("additional_kwargs")) or {}, message_parts)
    speaker = text_or_empty(data.get("role")) if kind == "chat" else kind
    return Imported(NAME, speaker, data.get("content"), message_parts.calls, message_parts.results)


def call(wire: JsonObject) -> ToolCall | None:
    is_call = wire.get("type") in (None, "tool_call", "invalid_tool_call") and "args" in wire
    is_call = is_call and "part_kind" not in wire
    return to_call(wire) if is_call else None


def result(wire: JsonObject) -> ToolResult | None:
    data = data_of(wire)
    if data is None or kind_in(wire) not in ("tool", "function"):
        return None
    call_id, name = text_or_empty(data.get("tool_call_id")), text_or_empty(data.get("name"))
    return ToolResult(wire, call_id, name, data.get("content"), data.get("status") == "error")


def data_of(message: JsonObject) -> JsonObject | None:
    """Return the content of a LangChain message."""
    kwargs = as_object(message.get("kwargs"))
    if kwargs is not None and "lc" in message:
        return kwargs if kind_in(message) in KINDS else None
    if text_or_empty(message.get("type")) not in KINDS:
        return None
    is_dump = "content" in message and "additional_kwargs" in message and "role" not in message
    return message if is_dump else as_object(message.get("data"))


def kind_in(message: JsonObject) -> str:
    """Return the kind of a message; empty for anything else."""
    kwargs = as_object(message.get("kwargs"))
    if kwargs is None or "lc" not in message:
        return text_or_empty(message.get("type"))
    path = as_list(message.get("id")) or ("",)
    return text_or_empty(kwargs.get("type")) or CLASSES.get(str(path[-1]), "")


def to_call(entry: JsonObject) -> ToolCall:
    call_id, name = entry.get("id"), entry.get("name")
    return ToolCall(entry, text_or_empty(call_id), text_or_empty(name), entry.get("args"))
