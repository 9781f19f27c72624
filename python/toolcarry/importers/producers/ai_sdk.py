"""Vercel AI SDK, model messages: parts ``tool-call`` and ``tool-result``. Cursor's command line stores them too."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_object, first_given, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    ToolCall,
    ToolResult,
    kind_of,
    objects,
    shown_parts,
)

NAME = "ai-sdk"
ABOUT = About(
    "Vercel AI SDK, ModelMessage[] and CoreMessage[]",
    "parts of the type `tool-call` or `tool-result` with a `toolCallId`",
    "versions 4 to 6: vercel/ai, packages/provider-utils/src/types/content-part.ts",
)
SILENT = frozenset(
    (
        "reasoning",
        "redacted-reasoning",
        "tool-call",
        "tool-result",
        "tool-approval-request",
        "tool-approval-response",
    )
)
ERRORS = frozenset(("error-text", "error-json", "execution-denied"))


def claims(message: JsonObject) -> bool:
    return any(call(part) or result(part) for part in objects(message.get("content")))


def read(message: JsonObject) -> Imported | None:
    parts = objects(message.get("content"))
    calls = [made for part in parts if (made := call(part))]
    results = [seen for part in parts if (seen := result(part))]
    if not calls and not results:
        return None
    content = shown_parts(message.get("content"), SILENT)
    role = text_or_empty(message.get("role"))
    return Imported(NAME, "" if role == "tool" else role, content, calls, results)


def call(wire: JsonObject) -> ToolCall | None:
    if kind_of(wire) != "tool-call" or "toolCallId" not in wire:
        return None
    given = first_given(wire, "input", "args")
    return ToolCall(
        wire, text_or_empty(wire["toolCallId"]), text_or_empty(wire.get("toolName")), given
    )


def result(wire: JsonObject) -> ToolResult | None:
    if kind_of(wire) != "tool-result" or "toolCallId" not in wire:
        return None
    call_id, name = text_or_empty(wire["toolCallId"]), text_or_empty(wire.get("toolName"))
    output = as_object(wire.get("output"))
    if output is not None and isinstance(output.get("type"), str):
        content = first_given(output, "value", "reason")
        return ToolResult(wire, call_id, name, content, output["type"] in ERRORS)
    # Version 4, and versions whose output is the value itself.
    content = first_given(wire, "output", "result", "experimental_content", "content")
    return ToolResult(wire, call_id, name, content, wire.get("isError") is True)
