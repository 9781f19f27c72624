"""ATIF, the Agent Trajectory Interchange Format: steps that hold their calls and what was observed."""

from __future__ import annotations

from toolcarry._input.objects import Wire, as_list, as_object, text_or_empty
from toolcarry._pure.formats.message import Said, Spoken, ToolCall, ToolResult

NAME = "atif"


def read(message: Wire, role: object, said: Said) -> str:
    if role is not None or "step_id" not in message or "source" not in message:
        return ""
    entries = map(as_object, as_list(message.get("tool_calls")) or ())
    said.calls.extend(to_call(entry) for entry in entries if entry is not None)
    observed = as_object(message.get("observation")) or {}
    found = map(as_object, as_list(observed.get("results")) or ())
    said.results.extend(to_result(entry) for entry in found if entry is not None)
    return NAME


def call(wire: Wire) -> ToolCall | None:
    return to_call(wire) if "function_name" in wire else None


def result(wire: Wire) -> ToolResult | None:
    return to_result(wire) if "source_call_id" in wire else None


def spoken(message: Wire) -> Spoken | None:
    is_step = "step_id" in message and "source" in message
    return Spoken(text_or_empty(message["source"]), message.get("message")) if is_step else None


def to_call(entry: Wire) -> ToolCall:
    call_id, name = entry.get("tool_call_id"), entry.get("function_name")
    return ToolCall(entry, text_or_empty(call_id), text_or_empty(name), entry.get("arguments"))


def to_result(entry: Wire) -> ToolResult:
    return ToolResult(
        entry, text_or_empty(entry.get("source_call_id")), "", entry.get("content"), False
    )
