"""pi and OpenClaw: a tree of entries; the last entry and its ancestors are the conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    CLIENT,
    SUMMARY,
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
    marked,
    objects,
    records,
    shown_parts,
)

NAME = "pi"
ABOUT = About(
    "pi and OpenClaw, ~/.pi/agent/sessions/*/*.jsonl",
    "role `toolResult` with a `toolCallId`; parts of the type `toolCall`; entries with `parentId` and a `message`",
    "version 3: badlogic/pi-mono, packages/coding-agent/docs/session.md",
)
SIGNS = Signs(("message", "toolCallId", "toolCall", "parentId"), ("session", "message"))
ASIDE = frozenset(("details", "diagnostics", "errorMessage", "fullOutputPath"))
SILENT = frozenset(
    [
        "session",
        "model_change",
        "thinking_level_change",
        "session_info",
        "label",
        "custom",
        "thinking",
    ]
)
SUMMARIES = frozenset(("compaction", "branch_summary"))
SHELL = "bash"


def claims(message: JsonObject) -> bool:
    inner = inner_of(message)
    is_entry = inner is not message and "parentId" in message and "role" in inner
    return is_entry or result(inner) is not None or any(map(call, objects(inner.get("content"))))


def inner_of(entry: JsonObject) -> JsonObject:
    inner = as_object(entry.get("message")) if kind_of(entry) == "message" else None
    return entry if inner is None else inner


def read(message: JsonObject) -> Imported | None:
    kind = kind_of(message)
    if kind in SUMMARIES and isinstance(message.get("summary"), str):
        return Imported(NAME, SUMMARY, message["summary"])
    if kind == "custom_message":
        return Imported(NAME, CLIENT, shown_parts(message.get("content")))  # of an extension
    if kind in SILENT:
        return Imported(NAME)
    inner = inner_of(message)
    role = kind_of(inner, "role")
    if role == "bashExecution":  # a command of the user
        is_sent = inner.get("excludeFromContext") is not True
        ran, seen = call(inner), result(inner)
        return (
            Imported(NAME, "", None, [ran], [seen]) if is_sent and ran and seen else Imported(NAME)
        )
    answer = result(inner)
    if answer is not None:
        return Imported(NAME, results=[answer])
    parts = objects(inner.get("content"))
    # Droid's entries have the same members, and parts of Anthropic, which the backends read.
    is_other = any(kind_of(part) in ("tool_use", "tool_result") for part in parts)
    if role not in ("user", "assistant") or is_other:
        return None
    calls = [made for part in parts if (made := call(part))]
    content = shown_parts(inner.get("content"), (*SILENT, "toolCall"))
    return Imported(NAME, role, content, calls)


def call(wire: JsonObject) -> ToolCall | None:
    if wire.get("role") == "bashExecution":
        return ToolCall(wire, "", SHELL, {"command": wire.get("command")})
    if kind_of(wire) != "toolCall" or "arguments" not in wire:
        return None
    call_id, name = text_or_empty(wire.get("id")), text_or_empty(wire.get("name"))
    return ToolCall(wire, call_id, name, wire["arguments"])


def result(wire: JsonObject) -> ToolResult | None:
    if wire.get("role") == "bashExecution":
        return ToolResult(
            wire, "", SHELL, wire.get("output"), wire.get("exitCode") not in (0, None)
        )
    if wire.get("role") != "toolResult" or "toolCallId" not in wire:
        return None
    call_id, name = text_or_empty(wire["toolCallId"]), text_or_empty(wire.get("toolName"))
    return ToolResult(wire, call_id, name, wire.get("content"), wire.get("isError") is True)


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Mark the entries that are not on the way from the last one to the root. A missing parent ends the way: then all is kept."""
    parents: dict[str, str] = {}
    session = name = ""
    for record in filter(None, records(items)):
        name = text_or_empty(record.get("id"))
        if name:
            parents[name] = text_or_empty(record.get("parentId"))
        session = name if kind_of(record) == "session" else session
    active: set[str] = set()
    while name in parents and name not in active:
        active.add(name)
        name = parents[name]
    is_whole = name in ("", session)
    on_way = {
        position
        for position, record in enumerate(records(items))
        if not is_whole or "parentId" not in record or text_or_empty(record.get("id")) in active
    }
    return marked(items, read, on_way)
