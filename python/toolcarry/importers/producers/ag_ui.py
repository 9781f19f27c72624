"""AG-UI and Continue: OpenAI Chat with its members in camel case, and AG-UI's events, which are combined into
messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
    objects,
    records,
    shown_parts,
)

NAME = "ag-ui"
ABOUT = About(
    "AG-UI messages and events; Continue, ~/.continue/sessions/*.json",
    "`toolCalls` with a `function`; role `tool` with a `toolCallId`; types `TOOL_CALL_START`, `RUN_STARTED` and others",
    "ag-ui-protocol 1.0.0 (docs.ag-ui.com/sdk/python/core/events); continuedev/continue, core/index.d.ts",
)
SIGNS = Signs(("toolCallId", "toolCalls"), ("RUN_", "TEXT_MESSAGE_", "TOOL_CALL_"))
ASIDE = frozenset(
    (
        "metadata",
        "editorState",
        "promptLogs",
        "appliedRules",
        "toolCallStates",
        "conversationSummary",
        "workspaceDirectory",
    )
)
RUNS = ("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR")
EVENTS = (*RUNS, "STEP_", "TEXT_MESSAGE_", "TOOL_CALL_", "REASONING_", "THINKING_", "STATE_")
OTHERS = frozenset(("MESSAGES_SNAPSHOT", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "RAW", "CUSTOM"))
SILENT = frozenset(("activity", "reasoning", "thinking"))
"""The roles of messages that nobody says."""
FAILED = frozenset(("errored", "canceled"))
"""The states of a call in Continue without an output."""


def claims(message: JsonObject) -> bool:
    if is_event(message):
        return kind_of(message).startswith((*RUNS, "TEXT_MESSAGE_", "TOOL_CALL_"))
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
    inner = inner_of(message)
    answer, role = result(inner), kind_of(inner, "role")
    if answer is not None:
        return Imported(NAME, results=[answer])
    if is_event(message) or role in SILENT:
        return Imported(NAME)
    calls = [made for entry in objects(inner.get("toolCalls")) if (made := call(entry))]
    if not calls and inner is message:
        return None
    return Imported(NAME, role, shown_parts(inner.get("content")), calls)


def call(wire: JsonObject) -> ToolCall | None:
    if kind_of(wire) in ("TOOL_CALL_START", "TOOL_CALL_CHUNK"):
        call_id, name = wire.get("toolCallId"), wire.get("toolCallName")
        return ToolCall(wire, text_or_empty(call_id), text_or_empty(name), None)
    function = as_object(wire.get("function"))
    if function is None:
        return None
    name = text_or_empty(function.get("name"))
    return ToolCall(wire, text_or_empty(wire.get("id")), name, function.get("arguments"))


def result(wire: JsonObject) -> ToolResult | None:
    is_result = wire.get("role") == "tool" or kind_of(wire) == "TOOL_CALL_RESULT"
    call_id, error = wire.get("toolCallId"), wire.get("error")
    if not is_result or not isinstance(call_id, str):
        return None
    is_error = isinstance(error, str) and error != ""
    return ToolResult(wire, call_id, "", wire.get("content") or error, is_error)


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Put the pieces of a text, or of a call's arguments, into the event that begins it."""
    pieces: dict[str, list[str]] = {}
    for record in records(items):
        pieces.setdefault(key_of(record), []).append(text_or_empty(record.get("delta")))
    for item in items:
        record = as_object(item) or {}
        key = key_of(record)
        if not key:
            yield item
        elif kind_of(record).endswith(("_START", "_CHUNK")) and key in pieces:
            sources, made = pieces.pop(key), call(record)
            text, speaker = "".join(sources), text_or_empty(record.get("role")) or "assistant"
            if made is None:
                yield Imported(NAME, speaker, text, sources=sources)
            else:
                calls = [made._replace(arguments=text)]
                yield Imported(NAME, "assistant", calls=calls, sources=sources)
        else:
            yield Imported("")


def key_of(record: JsonObject) -> str:
    """Return the name of what an event is a piece of; empty for anything else."""
    kind = kind_of(record)
    if kind.startswith("TEXT_MESSAGE_"):
        return f"text {text_or_empty(record.get('messageId'))}"
    is_piece = kind.startswith("TOOL_CALL_") and kind != "TOOL_CALL_RESULT"
    return f"call {text_or_empty(record.get('toolCallId'))}" if is_piece else ""
