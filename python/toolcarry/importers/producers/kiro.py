"""Kiro's command line: a log of changes to a conversation, whose parts have a ``kind`` and ``data``, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry.importers.producers.base import (
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

NAME = "kiro"
ABOUT = About(
    "Kiro CLI, ~/.kiro/sessions/cli/*.jsonl",
    "`kind` `Prompt`, `AssistantMessage` or `ToolResults`, and `data` with a `content`",
    "aws/amazon-q-developer-cli, crates/agent/src/agent/event_log.rs",
)
SIGNS = Signs(("data", "kind"))
SPEAKERS = {
    "Prompt": "user",
    "AssistantMessage": "assistant",
    "ToolResults": "",
}
CHANGES = frozenset(("ResetTo", "CancelledPrompt", "Clear"))
"""The kinds of lines that take messages back."""
USERS = ("Prompt", "ToolResults")
SILENT = frozenset(("thinking",))
CALLS = ("toolUse", "toolResult")


def claims(message: JsonObject) -> bool:
    data = as_object(message.get("data")) or {}
    parts = objects(data.get("content"))
    return kind_of(message, "kind") in SPEAKERS and any("kind" in part for part in parts)


def read(message: JsonObject) -> Imported | None:
    data = as_object(message.get("data")) or {}
    if message.get("kind") == "Compaction" and isinstance(data.get("summary"), str):
        return Imported(NAME, SUMMARY, data["summary"])
    if not claims(message):
        return Imported(NAME) if kind_of(message, "kind") in CHANGES else None
    parts = objects(data["content"])
    calls = [made for part in parts if (made := call(part))]
    results = [seen for part in parts if (seen := result(part))]
    content = shown_parts(parts, (*SILENT, *CALLS), kind="kind", text="data")
    return Imported(NAME, SPEAKERS[message["kind"]], content, calls, results)


def call(wire: JsonObject) -> ToolCall | None:
    data = as_object(wire.get("data"))
    if data is None or wire.get("kind") != "toolUse":
        return None
    call_id, name = text_or_empty(data.get("toolUseId")), text_or_empty(data.get("name"))
    return ToolCall(wire, call_id, name, data.get("input"))


def result(wire: JsonObject) -> ToolResult | None:
    data = as_object(wire.get("data"))
    if data is None or wire.get("kind") != "toolResult":
        return None
    parts = [
        {"type": "text", "text": part["data"]}
        if isinstance(part.get("data"), str)
        else part.get("data")
        for part in objects(data.get("content"))
    ]
    call_id = text_or_empty(data.get("toolUseId"))
    return ToolResult(wire, call_id, "", parts, data.get("status") == "error")


Kept = tuple[int, Any]
"""The position of a message, and the messages before it."""


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Mark what later lines take back: everything, the last prompt, or all from a line on."""
    kinds: list[str] = []
    kept: Kept | None = None
    before: list[Kept | None] = []
    for position, record in enumerate(records(items)):
        before.append(kept)
        kind = kind_of(record, "kind")
        kinds.append(kind)
        target = (as_object(record.get("data")) or {}).get("target_index")
        if kind == "Clear":
            kept = None
        elif kind == "CancelledPrompt":
            is_prompt = kept is not None and kinds[kept[0]] in USERS
            kept = kept[1] if kept is not None and is_prompt else kept
        elif kind == "ResetTo" and isinstance(target, int) and 0 <= target < position:
            kept = before[target]
        elif kind not in CHANGES:
            kept = position, kept
    active: set[int] = set()
    while kept is not None:
        active.add(kept[0])
        kept = kept[1]
    return marked(items, read, active)
