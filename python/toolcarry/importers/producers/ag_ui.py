"""AG-UI and Continue: OpenAI Chat with its members in camel case, and AG-UI's events, of which messages are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    ToolCall,
    ToolResult,
    kind_of,
    objects,
    shown_parts,
)

NAME = "ag-ui"
ABOUT = About(
    "AG-UI messages and events; Continue, ~/.continue/sessions/*.json",
    "`toolCalls` with a `function`; role `tool` with a `toolCallId`; types `TOOL_CALL_START`, `RUN_STARTED` and others",
    "ag-ui-protocol 1.0.0 (docs.ag-ui.com/sdk/python/core/events); continuedev/continue, core/index.d.ts",
)
EVENTS = ("RUN_", "STEP_", "TEXT_MESSAGE_", "TOOL_CALL_", "REASONING_", "THINKING_", "STATE_")
OTHERS = frozenset(("MESSAGES_SNAPSHOT", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "RAW", "CUSTOM"))
SILENT = frozenset(("activity", "reasoning", "thinking"))
"""The roles of messages that nobody says."""
FAILED = frozenset(("errored", "canceled"))
"""The states of a call in Continue without an output."""


def claims(message: JsonObject) -> bool:
    if is_event(message):
        return kind_of(message).startswith(("RUN_", "TEXT_MESSAGE_", "TOOL_CALL_"))
    inner = inner_of(message)
    return result(inner) is not None or any(map(call, objects(inner.get("toolCalls"))))


def is_event(message: JsonObject) -> bool:
    kind = kind_of(message)
    return kind.startswith(EVENTS) or kind in OTHERS


def inner_of(message: JsonObject) -> JsonObject:
    """Return the message in an item of Continue's history; any other object itself."""
    inner = as_object(message.get("message")) if message.get("role") is None else None
    return message if inner is None else inner


def read(message: JsonObject) -> Imported | None:
    if is_event(message):
        return Imported(NAME)
    inner = inner_of(message)
    role = kind_of(inner, "role")
    answer = result(inner)
    if answer is not None:
        return Imported(NAME, results=[answer])
    if role in SILENT:
        return Imported(NAME)
    calls = [made for entry in objects(inner.get("toolCalls")) if (made := call(entry))]
    if not calls and inner is message:
        return None
    return Imported(NAME, role, shown_parts(inner.get("content")), calls)


def call(wire: JsonObject) -> ToolCall | None:
    if kind_of(wire) == "TOOL_CALL_START":
        name = text_or_empty(wire.get("toolCallName"))
        return ToolCall(wire, text_or_empty(wire.get("toolCallId")), name, None)
    function = as_object(wire.get("function"))
    if function is None:
        return None
    name = text_or_empty(function.get("name"))
    return ToolCall(wire, text_or_empty(wire.get("id")), name, function.get("arguments"))


def result(wire: JsonObject) -> ToolResult | None:
    call_id = wire.get("toolCallId")
    if not isinstance(call_id, str) or not (
        wire.get("role") == "tool" or kind_of(wire) == "TOOL_CALL_RESULT"
    ):
        return None
    content, error = wire.get("content"), wire.get("error")
    is_error = isinstance(error, str) and error != ""
    return ToolResult(wire, call_id, "", content or error, is_error)


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Put the pieces of a text, or of a call's arguments, into the event that begins it."""
    records = [as_object(item) or {} for item in items]
    pieces: dict[tuple[bool, str], list[str]] = {}
    for record in records:
        kind, delta = kind_of(record), record.get("delta")
        if kind.startswith(("TEXT_MESSAGE_", "TOOL_CALL_")) and isinstance(delta, str):
            pieces.setdefault(key_of(record), []).append(delta)
    begun: set[tuple[bool, str]] = set()
    for item, record in zip(items, records, strict=True):
        kind, key = kind_of(record), key_of(record)
        if not kind.startswith(("TEXT_MESSAGE_", "TOOL_CALL_")):
            yield item
        elif kind == "TOOL_CALL_RESULT":
            answer = result(record)
            yield Imported(NAME, results=[] if answer is None else [answer])
        elif key in begun or not kind.endswith(("_START", "_CHUNK")):
            yield Imported(NAME)
        else:
            begun.add(key)
            whole = "".join(pieces.get(key, ()))
            if key[0]:
                name = text_or_empty(record.get("toolCallName"))
                yield Imported(NAME, "assistant", calls=[ToolCall(record, key[1], name, whole)])
            else:
                yield Imported(NAME, text_or_empty(record.get("role")) or "assistant", whole)


def key_of(record: JsonObject) -> tuple[bool, str]:
    is_call = kind_of(record).startswith("TOOL_CALL_")
    return is_call, text_or_empty(record.get("toolCallId" if is_call else "messageId"))
