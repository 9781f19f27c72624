"""OpenHands before version 1: actions and observations with ``tool_call_metadata``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    SUMMARY,
    About,
    Folded,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
    records,
)

NAME = "openhands-v0"
ABOUT = About(
    "OpenHands 0.x, trajectory.json",
    "`action` or `observation` next to a `source`, with `args`, `extras` or `tool_call_metadata`",
    "All-Hands-AI/OpenHands 0.x, openhands/events/serialization/event.py",
)
SIGNS = Signs(("args", "observation", "source"))
ASIDE = frozenset(("message", "extras", "tool_call_metadata"))
STATES = frozenset(
    (
        "agent_state_changed",
        "change_agent_state",
        "condensation",
        "condensation_request",
        "null",
        "recall",
        "system",
    )
)
"""The actions and observations between the client and itself."""
SPEAKERS = {"user": "user", "agent": "assistant"}


def claims(message: JsonObject) -> bool:
    is_event = message.get("source") in ("user", "agent", "environment") and "role" not in message
    has_own = not {"args", "extras", "tool_call_metadata"}.isdisjoint(message)
    is_named = isinstance(message.get("action"), str) or isinstance(message.get("observation"), str)
    return is_event and is_named and has_own


def read(message: JsonObject) -> Imported | None:
    if not claims(message):
        return None
    args = as_object(message.get("args")) or {}
    made, seen = call(message), result(message)
    if seen is not None:
        return Imported(NAME, results=[seen])
    speaker = SPEAKERS.get(kind_of(message, "source"), "")
    if made is not None:
        return Imported(NAME, speaker, args.get("thought"), [made])
    action = kind_of(message, "action")
    if action == "message":
        return Imported(NAME, speaker, args.get("content", message.get("message")))
    if action == "finish":
        return Imported(NAME, speaker, args.get("final_thought") or message.get("message"))
    if action == "condensation" and isinstance(args.get("summary"), str):
        return Imported(NAME, SUMMARY, args["summary"])
    return Imported(NAME if action in STATES or kind_of(message, "observation") in STATES else "")


def metadata_of(wire: JsonObject) -> JsonObject | None:
    return as_object(wire.get("tool_call_metadata"))


def call(wire: JsonObject) -> ToolCall | None:
    metadata = metadata_of(wire)
    if metadata is None or not isinstance(wire.get("action"), str) or "observation" in wire:
        return None
    args = {
        key: value for key, value in (as_object(wire.get("args")) or {}).items() if key != "thought"
    }
    call_id, name = text_or_empty(metadata.get("tool_call_id")), metadata.get("function_name")
    return ToolCall(wire, call_id, text_or_empty(name), args)


def result(wire: JsonObject) -> ToolResult | None:
    metadata, seen = metadata_of(wire), wire.get("observation")
    if metadata is None or not isinstance(seen, str):
        return None
    about = as_object((as_object(wire.get("extras")) or {}).get("metadata")) or {}
    code = about.get("exit_code")
    has_failed = seen == "error" or (type(code) is int and code > 0)
    call_id, name = text_or_empty(metadata.get("tool_call_id")), metadata.get("function_name")
    return ToolResult(wire, call_id, text_or_empty(name), wire.get("content"), has_failed)


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Mark the events that a condensation took out of what the model sees: those of some ids, or between two."""
    folded = Folded(items)
    places: dict[int, int] = {}
    for position, event in enumerate(records(items)):
        if kind_of(event, "action") == "condensation":
            args = as_object(event.get("args")) or {}
            ids = as_list(args.get("forgotten_event_ids")) or ()
            start, end = (args.get(f"forgotten_events_{name}_id") for name in ("start", "end"))
            if isinstance(start, int) and isinstance(end, int):
                ids = [each for each in places if start <= each <= end]
            forgotten = [places[each] for each in ids if isinstance(each, int) and each in places]
            folded.cover(sorted(forgotten), position)
        elif type(event.get("id")) is int:
            places[event["id"]] = position
    return folded.marked(read)
