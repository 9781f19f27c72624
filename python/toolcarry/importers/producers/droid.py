"""Factory's droid: ``droid exec --output-format stream-json``, and its session files, whose messages are Anthropic's."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_object, first_given, text_or_empty
from toolcarry.importers.producers.base import About, Imported, Signs, ToolCall, ToolResult, kind_of

NAME = "droid"
ABOUT = About(
    "Factory droid, stream-json, ~/.factory/sessions/*/*.jsonl",
    "type `tool_call` with a `toolName` and `parameters`; type `tool_result` with a `toolId`; type `session_start` with an `id`",
    "BloopAI/vibe-kanban, crates/executors/src/executors/droid/normalize_logs.rs; jazzyalex/agent-sessions, Resources/Fixtures/stage0/agents/droid",
)
SIGNS = Signs(("message",), ("tool_call", "message", "session", "reasoning"))
SILENT = frozenset(("system", "completion", "reasoning", "session_start"))


def claims(message: JsonObject) -> bool:
    is_start = kind_of(message) == "session_start" and isinstance(message.get("id"), str)
    return is_start or call(message) is not None or result(message) is not None


def read(message: JsonObject) -> Imported | None:
    made, seen = call(message), result(message)
    if made is not None:
        return Imported(NAME, "assistant", None, [made])
    if seen is not None:
        return Imported(NAME, results=[seen])
    inner = as_object(message.get("message")) if kind_of(message) == "message" else None
    if inner is not None and isinstance(inner.get("role"), str):
        return Imported(NAME, rewritten=inner)
    if kind_of(message) == "message" and isinstance(message.get("text"), str):
        return Imported(NAME, text_or_empty(message.get("role")), message["text"])
    return Imported(NAME) if kind_of(message) in SILENT else None


def call(wire: JsonObject) -> ToolCall | None:
    if kind_of(wire) != "tool_call" or "parameters" not in wire:
        return None
    name = text_or_empty(first_given(wire, "toolName", "toolId"))
    call_id = text_or_empty(first_given(wire, "toolCallId", "id"))
    return ToolCall(wire, call_id, name, wire["parameters"])


def result(wire: JsonObject) -> ToolResult | None:
    has_id = "toolId" in wire or ("toolCallId" in wire and "value" in wire)
    if kind_of(wire) != "tool_result" or not has_id:
        return None
    error = as_object(wire.get("error")) or {}
    has_failed = wire.get("isError") is True
    content = error.get("message") if has_failed and error else wire.get("value")
    # Some versions leave the id out: then the order decides.
    call_id = text_or_empty(first_given(wire, "toolCallId", "id"))
    return ToolResult(wire, call_id, "", content, has_failed)
