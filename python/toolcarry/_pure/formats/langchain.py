"""LangChain's ``messages_to_dict``: the kind of a message as its ``type``, all else as its ``data``."""

from __future__ import annotations

from toolcarry._input.objects import Wire, as_list, as_object, text_or_empty
from toolcarry._pure.formats import anthropic, chat
from toolcarry._pure.formats.message import Said, Spoken, ToolCall, ToolResult

NAME = "langchain"
KINDS = frozenset(("ai", "human", "tool", "system", "function", "chat", "AIMessageChunk"))


def read(message: Wire, role: object, said: Said) -> str:
    data = data_of(message)
    if data is None or role is not None:
        return ""
    answer = result(message)
    if answer is not None:
        said.results.append(answer)
        return NAME
    for key in ("tool_calls", "invalid_tool_calls"):
        entries = map(as_object, as_list(data.get(key)) or ())
        said.calls.extend(to_call(entry) for entry in entries if entry is not None)
    if not said.calls:  # an older version, which kept what the provider had written
        anthropic.read(data, role, said)
        chat.read_calls(as_object(data.get("additional_kwargs")) or {}, said)
    return NAME


def call(wire: Wire) -> ToolCall | None:
    is_call = wire.get("type") in (None, "tool_call", "invalid_tool_call") and "args" in wire
    return to_call(wire) if is_call else None


def result(wire: Wire) -> ToolResult | None:
    data = data_of(wire)
    if data is None or wire.get("type") not in ("tool", "function"):
        return None
    call_id, name = data.get("tool_call_id"), data.get("name")
    is_error = data.get("status") == "error"
    return ToolResult(
        wire, text_or_empty(call_id), text_or_empty(name), data.get("content"), is_error
    )


def spoken(message: Wire) -> Spoken | None:
    data = data_of(message)
    if data is None:
        return None
    kind = message["type"]
    speaker = text_or_empty(data.get("role")) if kind == "chat" else kind
    return Spoken(speaker, data.get("content"))


def data_of(message: Wire) -> Wire | None:
    """What a message of LangChain's holds."""
    return as_object(message.get("data")) if text_or_empty(message.get("type")) in KINDS else None


def to_call(entry: Wire) -> ToolCall:
    call_id, name = entry.get("id"), entry.get("name")
    return ToolCall(entry, text_or_empty(call_id), text_or_empty(name), entry.get("args"))
