"""goose: parts ``toolRequest`` and ``toolResponse``, each with a status."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_object, first_given, text_or_empty
from toolcarry.importers.producers.base import (
    CLIENT,
    COVERING,
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
    objects,
    shown_parts,
)

NAME = "goose"
ABOUT = About(
    "goose: an exported session, the rows of sessions.db, goose run --output-format json",
    "parts of the type `toolRequest` with a `toolCall`, or `toolResponse` with a `toolResult`",
    "block/goose, crates/goose/src/conversation/message.rs",
)
SIGNS = Signs(("toolCall",))
ASIDE = frozenset(("metadata", "structuredContent", "extension_data"))
REQUESTS = frozenset(("toolRequest", "frontendToolRequest"))
SILENT = frozenset(
    (
        "toolConfirmationRequest",
        "actionRequired",
        "thinking",
        "redactedThinking",
        "systemNotification",
        "conversationCompacted",
    )
)


def claims(message: JsonObject) -> bool:
    return any(call(part) or result(part) for part in objects(message.get("content")))


def read(message: JsonObject) -> Imported | None:
    parts = objects(message.get("content"))
    if message.get("role") not in ("user", "assistant") or not parts:
        return None
    calls = [made for part in parts if (made := call(part))]
    results = [seen for part in parts if (seen := result(part))]
    visible = as_object(message.get("metadata")) or {}
    speaker, is_active = message["role"], visible.get("agentVisible") is not False
    if is_active and visible.get("userVisible") is False and not calls and not results:
        # A compaction: the summary, and a note to the model that it was made (`context_mgmt/mod.rs`).
        speaker = COVERING if speaker == "user" else CLIENT
    content = shown_parts(parts, SILENT | REQUESTS | {"toolResponse"})
    return Imported(NAME, speaker, content, calls, results, is_active=is_active)


def call(wire: JsonObject) -> ToolCall | None:
    asked = as_object(wire.get("toolCall"))
    if kind_of(wire) not in REQUESTS or asked is None:
        return None
    value = as_object(asked.get("value")) or asked
    name = text_or_empty(value.get("name"))
    return ToolCall(wire, text_or_empty(wire.get("id")), name, value.get("arguments"))


def result(wire: JsonObject) -> ToolResult | None:
    answer = as_object(wire.get("toolResult"))
    if kind_of(wire) != "toolResponse" or answer is None:
        return None
    call_id, value = text_or_empty(wire.get("id")), answer.get("value")
    if answer.get("status") == "error":
        return ToolResult(wire, call_id, "", answer.get("error"), True)
    held = as_object(value)
    if held is None:
        return ToolResult(wire, call_id, "", value, False)
    content = first_given(held, "content", "structuredContent")
    return ToolResult(wire, call_id, "", content, held.get("isError") is True)
