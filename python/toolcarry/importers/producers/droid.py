"""Factory's droid: ``droid exec --output-format stream-json``."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_object, first_given, text_or_empty
from toolcarry.importers.producers.base import About, Imported, ToolCall, ToolResult, kind_of

NAME = "droid"
ABOUT = About(
    "Factory droid, stream-json",
    "type `tool_call` with a `toolName` and `parameters`; type `tool_result` with a `toolId`",
    "BloopAI/vibe-kanban, crates/executors/src/executors/droid/normalize_logs.rs",
)


def claims(message: JsonObject) -> bool:
    return call(message) is not None or result(message) is not None


def read(message: JsonObject) -> Imported | None:
    made, seen = call(message), result(message)
    if made is not None:
        return Imported(NAME, "assistant", None, [made])
    if seen is not None:
        return Imported(NAME, results=[seen])
    if kind_of(message) == "message" and isinstance(message.get("text"), str):
        return Imported(NAME, text_or_empty(message.get("role")), message["text"])
    return Imported(NAME) if kind_of(message) in ("system", "completion", "reasoning") else None


def call(wire: JsonObject) -> ToolCall | None:
    if kind_of(wire) != "tool_call" or "parameters" not in wire:
        return None
    name = text_or_empty(first_given(wire, "toolName", "toolId"))
    return ToolCall(wire, text_or_empty(wire.get("id")), name, wire["parameters"])


def result(wire: JsonObject) -> ToolResult | None:
    if kind_of(wire) != "tool_result" or "toolId" not in wire:
        return None
    error = as_object(wire.get("error")) or {}
    has_failed = wire.get("isError") is True
    content = error.get("message") if has_failed and error else wire.get("value")
    # Some versions leave the id out: then the order decides.
    return ToolResult(wire, text_or_empty(wire.get("id")), "", content, has_failed)
