"""Kimi Code: the wire log of an agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_object, first_given, text_or_empty
from toolcarry.importers.producers.base import (
    COVERING,
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
    marked,
    records,
    shown_parts,
)

NAME = "kimi"
ABOUT = About(
    "Kimi Code CLI, ~/.kimi-code/sessions/*/*/agents/*/wire.jsonl",
    "types `context.append_message` and `context.append_loop_event`",
    "wire protocol 1.5: skillsynchq/txcript, docs/formats/kimi.md",
)
SIGNS = Signs(("event", "message", "kind"), ("context.", "turn."))
ASIDE = frozenset(("metadata", "display", "brief"))
MESSAGE, LOOP = "context.append_message", "context.append_loop_event"
COMPACTION = "context.apply_compaction"


def claims(message: JsonObject) -> bool:
    kind = kind_of(message)
    held = message.get("message") if kind == MESSAGE else message.get("event")
    return kind in (MESSAGE, LOOP) and as_object(held) is not None


def read(message: JsonObject) -> Imported | None:
    kind = kind_of(message)
    if kind == MESSAGE:
        held = as_object(message.get("message")) or {}
        origin = as_object(held.get("origin")) or {}
        # The client adds messages of its own, such as reminders.
        is_said = kind_of(origin, "kind") in ("", "user") or held.get("role") != "user"
        speaker = (text_or_empty(held.get("role")) or "user") if is_said else "system"
        return Imported(NAME, speaker, shown_parts(held.get("content"), SILENT))
    if kind == COMPACTION and isinstance(message.get("summary"), str):
        return Imported(NAME, COVERING, message["summary"])
    if kind != LOOP:
        is_record = kind.partition(".")[0] in KINDS or "protocol_version" in message
        return Imported(NAME) if is_record else None
    event = as_object(message.get("event")) or {}
    made, seen = call(event), result(event)
    if made is not None:
        return Imported(NAME, "assistant", None, [made])
    if seen is not None:
        return Imported(NAME, results=[seen])
    part = as_object(event.get("part"))
    if kind_of(event) == "content.part" and part is not None:
        return Imported(NAME, "assistant", shown_parts([part], SILENT))
    return Imported(NAME) if kind_of(event).partition(".")[0] in KINDS else None


SILENT = frozenset(("think",))
KINDS = frozenset(
    [
        "metadata",
        "context",
        "turn",
        "usage",
        "permission",
        "mcp",
        "step",
        "tools",
        "config",
        "plan",
        "plan_mode",
        "llm",
        "full_compaction",
        "profile",
        "runtime",
        "token_counting",
        "session",
    ]
)
"""The beginnings of the types of other events."""


def call(wire: JsonObject) -> ToolCall | None:
    if kind_of(wire) != "tool.call":
        return None
    call_id, name = text_or_empty(wire.get("toolCallId")), text_or_empty(wire.get("name"))
    return ToolCall(wire, call_id, name, first_given(wire, "args", "arguments"))


def result(wire: JsonObject) -> ToolResult | None:
    if kind_of(wire) != "tool.result":
        return None
    held = as_object(wire.get("result")) or {}
    call_id, is_error = text_or_empty(wire.get("toolCallId")), held.get("isError") is True
    return ToolResult(wire, call_id, "", held.get("output"), is_error)


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Mark what ``context.undo`` takes back: the last turns, each from its prompt on, and what a summary covers: the first
    ``compactedCount`` messages, or all.
    """
    active: list[int] = []
    starts: list[int] = []
    for position, record in enumerate(records(items)):
        kind, count = kind_of(record), record.get("count", 1)
        if kind == COMPACTION and isinstance(record.get("summary"), str):
            most = record.get("compactedCount")
            kept = counted(items, active)
            active = [at for at, number in kept if isinstance(most, int) and number >= most]
        if kind == "context.undo" and isinstance(count, int) and count > 0:
            first = starts[-count:][0] if starts else position
            del starts[-count:]
            active = [at for at in active if at < first]
        elif kind == "turn.prompt":
            starts.append(position)
        active.append(position)
    return marked(items, read, frozenset(active))


def counted(items: Sequence[Any], active: Sequence[int]) -> list[tuple[int, int]]:
    """Return the positions of records, each with the number of its message: what the model says up to a result is one."""
    found: list[tuple[int, int]] = []
    number, is_open = -1, False
    for position in active:
        record = as_object(items[position]) or {}
        event = as_object(record.get("event")) or {}
        is_models = kind_of(record) == LOOP and kind_of(event) in ("content.part", "tool.call")
        is_own = kind_of(record) in (MESSAGE, COMPACTION) or result(event) is not None
        if is_own or (is_models and not is_open):
            number += 1
        is_open = is_models or (is_open and not is_own)
        found.append((position, number))
    return found
