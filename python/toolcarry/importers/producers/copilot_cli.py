"""GitHub Copilot CLI: events whose ``data`` holds a message, the calls in it, and later their results."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_object, first_given, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
    objects,
    shown_parts,
)

NAME = "copilot-cli"
ABOUT = About(
    "GitHub Copilot CLI, ~/.copilot/session-state/*/events.jsonl",
    "types `assistant.message`, `user.message`, `tool.execution_complete` with `data`",
    "files of 2026; github/copilot-sdk, nodejs/src/generated/session-events.ts",
)
SIGNS = Signs(("data", "parentId"), ("assistant", "session", "tool", "user", "system"))
ASIDE = frozenset(
    (
        "detailedContent",
        "reasoningText",
        "transformedContent",
        "intentionSummary",
        "toolTitle",
        "toolTelemetry",
        "attachments",
    )
)
EVENTS = (
    "session.",
    "assistant.",
    "user.",
    "tool.",
    "system.",
    "subagent.",
    "skill.",
    "hook.",
    "permission.",
    "external_tool.",
    "command.",
    "pending_messages.",
)


def claims(message: JsonObject) -> bool:
    is_event = kind_of(message).startswith(("assistant.", "user.message", "tool.execution_"))
    return is_event and as_object(message.get("data")) is not None


def read(message: JsonObject) -> Imported | None:
    kind, data = kind_of(message), as_object(message.get("data"))
    if data is None or not (kind.startswith(EVENTS) or kind == "abort"):
        return None
    agent = first_given(data, "parentToolCallId") or message.get("agentId")
    scope = text_or_empty(agent)
    answer = result(message)
    if answer is not None:
        return Imported(NAME, results=[answer], scope=scope)
    if kind == "user.message":
        speaker = "system" if data.get("source") == "system" else "user"
        return Imported(NAME, speaker, shown_parts(data.get("content")), scope=scope)
    if kind != "assistant.message":
        return Imported(NAME)
    calls = [made for entry in objects(data.get("toolRequests")) if (made := call(entry))]
    return Imported(NAME, "assistant", shown_parts(data.get("content")), calls, scope=scope)


def call(wire: JsonObject) -> ToolCall | None:
    if "toolCallId" not in wire or "name" not in wire:
        return None
    call_id, name = text_or_empty(wire["toolCallId"]), text_or_empty(wire["name"])
    return ToolCall(wire, call_id, name, first_given(wire, "arguments", "input"))


def result(wire: JsonObject) -> ToolResult | None:
    data = as_object(wire.get("data"))
    if data is None or kind_of(wire) != "tool.execution_complete":
        return None
    ended, error = as_object(data.get("result")) or {}, as_object(data.get("error")) or {}
    has_failed = data.get("success") is False
    content = (
        error.get("message") if has_failed else first_given(ended, "content", "detailedContent")
    )
    call_id = text_or_empty(data.get("toolCallId"))
    return ToolResult(wire, call_id, text_or_empty(data.get("toolName")), content, has_failed)
