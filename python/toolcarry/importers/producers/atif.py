"""ATIF, the Agent Trajectory Interchange Format: steps that hold their calls and the observations."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry.importers.producers.base import About, Imported, Signs, ToolCall, ToolResult

NAME = "atif"
ABOUT = About(
    "ATIF trajectories (Harbor)",
    "`step_id` and `source`",
    "ATIF 1.8",
)
SIGNS = Signs(("step_id", "source_call_id", "function_name", "observation"))


def read(message: JsonObject) -> Imported | None:
    if "step_id" not in message or "source" not in message:
        return None
    entries = map(as_object, as_list(message.get("tool_calls")) or ())
    calls = [to_call(entry) for entry in entries if entry is not None]
    observed = as_object(message.get("observation")) or {}
    found = map(as_object, as_list(observed.get("results")) or ())
    results = [to_result(entry) for entry in found if entry is not None]
    return Imported(NAME, text_or_empty(message["source"]), message.get("message"), calls, results)


def call(wire: JsonObject) -> ToolCall | None:
    return to_call(wire) if "function_name" in wire else None


def result(wire: JsonObject) -> ToolResult | None:
    return to_result(wire) if "source_call_id" in wire else None


def to_call(entry: JsonObject) -> ToolCall:
    call_id, name = entry.get("tool_call_id"), entry.get("function_name")
    return ToolCall(entry, text_or_empty(call_id), text_or_empty(name), entry.get("arguments"))


def to_result(entry: JsonObject) -> ToolResult:
    call_id = text_or_empty(entry.get("source_call_id"))
    return ToolResult(entry, call_id, "", entry.get("content"), False)
