"""Grok's command line: OpenAI Chat with ``type`` in place of the role."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, text_or_empty
from toolcarry.importers.producers.base import (
    CLIENT,
    SUMMARY,
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
    objects,
    shown_parts,
)

NAME = "grok"
ABOUT = About(
    "Grok CLI, chat_history.jsonl",
    "type `tool_result` with a `tool_call_id`; type `assistant` with `tool_calls`, no role",
    "xai-org/grok-build; skillsynchq/txcript, docs/formats/grok.md",
)
SIGNS = Signs(types=("reasoning", "tool", "assistant", "user"))
SPEAKERS = frozenset(("system", "user", "assistant"))


def claims(message: JsonObject) -> bool:
    if "role" in message or "uuid" in message:
        return False
    is_call = kind_of(message) == "assistant" and any(map(call, objects(message.get("tool_calls"))))
    return result(message) is not None or is_call


def read(message: JsonObject) -> Imported | None:
    kind, answer = kind_of(message), result(message)
    if answer is not None:
        return Imported(NAME, results=[answer])
    if kind not in SPEAKERS:
        return Imported(NAME) if kind == "reasoning" else None
    calls = [made for entry in objects(message.get("tool_calls")) if (made := call(entry))]
    reason = message.get("synthetic_reason")
    if kind == "user" and isinstance(reason, str):
        kind = SUMMARY if "compact" in reason.lower() else CLIENT
    return Imported(NAME, kind, shown_parts(message.get("content")), calls)


def call(wire: JsonObject) -> ToolCall | None:
    if not isinstance(wire.get("name"), str) or "arguments" not in wire or "type" in wire:
        return None
    return ToolCall(wire, text_or_empty(wire.get("id")), wire["name"], wire["arguments"])


def result(wire: JsonObject) -> ToolResult | None:
    if kind_of(wire) != "tool_result" or "tool_call_id" not in wire or "role" in wire:
        return None
    is_error = wire.get("is_error") is True
    return ToolResult(wire, text_or_empty(wire["tool_call_id"]), "", wire.get("content"), is_error)
