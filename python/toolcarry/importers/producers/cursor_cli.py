"""Cursor's command line: ``cursor-agent --output-format stream-json``, with an event for each start and end of a call."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_object, first_given, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
)

NAME = "cursor-cli"
ABOUT = About(
    "Cursor CLI, stream-json",
    "type `tool_call` with a `subtype` and a `tool_call` that has a member such as `readToolCall`",
    "cursor.com/docs/cli/reference/output-format",
)
SIGNS = Signs(("tool_call", "message"), ("tool_call", "assistant", "system"))
ENDING = "ToolCall"
SILENT = frozenset(("system", "thinking", "result"))


def claims(message: JsonObject) -> bool:
    return call(message) is not None or result(message) is not None


def read(message: JsonObject) -> Imported | None:
    made, seen = call(message), result(message)
    if made is not None:
        return Imported(NAME, "assistant", None, [made])
    if seen is not None:
        return Imported(NAME, results=[seen])
    inner = as_object(message.get("message"))
    if inner is not None and kind_of(message) == inner.get("role"):
        return Imported(NAME, rewritten=inner)
    return Imported(NAME) if kind_of(message) in SILENT else None


def tool_of(event: JsonObject, subtype: str) -> tuple[str, JsonObject] | None:
    """Return the name of the tool, and the call, in an event; ``None`` for anything else."""
    if kind_of(event) != "tool_call" or event.get("subtype") != subtype:
        return None
    held = as_object(event.get("tool_call")) or {}
    for key, value in held.items():
        inner = as_object(value)
        if inner is not None and (key.endswith(ENDING) or key == "function"):
            name = text_or_empty(inner.get("name")) if key == "function" else key.removesuffix(ENDING)  # fmt: skip
            return name, inner
    return None


def call(wire: JsonObject) -> ToolCall | None:
    found = tool_of(wire, "started")
    if found is None:
        return None
    name, held = found
    return ToolCall(wire, text_or_empty(wire.get("call_id")), name, first_given(held, "args", "arguments"))  # fmt: skip


def result(wire: JsonObject) -> ToolResult | None:
    found = tool_of(wire, "completed") or tool_of(wire, "failed")
    if found is None:
        return None
    name, held = found
    ended = as_object(held.get("result")) or {}
    outcome = next(iter(ended), "")
    content = ended.get(outcome, held.get("result"))
    parts = as_object(content) or {}
    is_failed = outcome not in ("success", "") or parts.get("exitCode") not in (0, None)
    content = first_given(parts, "content", "output", "errorMessage", "error") or content
    return ToolResult(wire, text_or_empty(wire.get("call_id")), name, content, is_failed)
