"""opencode: messages of ``info`` and ``parts``; a part of the type ``tool`` is a call, and its result when it has ended."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_list, as_object, first_given, text_or_empty
from toolcarry.importers.producers.ai_sdk import shown
from toolcarry.importers.producers.base import (
    SUMMARY,
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    as_text,
    kind_of,
    objects,
    shown_parts,
)

NAME = "opencode"
ABOUT = About(
    "opencode export, the rows of its storage, and `run --format json`",
    "`info` with a `role` next to `parts`; a part of the type `tool` with a `callID`; a `part` next to a `sessionID`",
    "anomalyco/opencode, packages/opencode/src: session/message-v2.ts, cli/cmd/run.ts",
)
SIGNS = Signs(("info", "part"), ("tool", "text", "reasoning"))
ASIDE = frozenset(("metadata", "raw", "system", "summary", "source", "snapshot", "error"))
EVENTS = frozenset(("text", "tool_use", "step_start", "step_finish", "reasoning"))
SILENT = frozenset(
    [
        "reasoning",
        "step-finish",
        "snapshot",
        "patch",
        "agent",
        "retry",
        "compaction",
        "subtask",
    ]
)


def event_of(message: JsonObject) -> JsonObject | None:
    """Return the part in an event of ``opencode run --format json``; ``None`` for anything else."""
    is_event = kind_of(message) in EVENTS and isinstance(message.get("sessionID"), str)
    return as_object(message.get("part")) if is_event else None


def claims(message: JsonObject) -> bool:
    if event_of(message) is not None:
        return True
    info = as_object(message.get("info")) or {}
    return info.get("role") in ("user", "assistant") and as_list(message.get("parts")) is not None


def read(message: JsonObject) -> Imported | None:
    event = event_of(message)
    if event is not None:
        made, seen = call(event), result(event)
        text = event.get("text") if kind_of(event) == "text" else None
        return Imported(NAME, "assistant", text, [made] if made else [], [seen] if seen else [])
    if not claims(message):
        return None
    info, parts = as_object(message["info"]) or {}, objects(message["parts"])
    # The client writes synthetic texts, such as the content of a file that the user names.
    said = [shown(part) for part in parts if part.get("synthetic") is not True]
    speaker = SUMMARY if info.get("summary") is True else text_or_empty(info["role"])
    calls = [made for part in parts if (made := call(part))]
    results = [seen for part in parts if (seen := result(part))]
    return Imported(NAME, speaker, shown_parts(said, SILENT), calls, results)


def call(wire: JsonObject) -> ToolCall | None:
    if kind_of(wire) != "tool" or "callID" not in wire:
        return None
    state = as_object(wire.get("state")) or {}
    name = text_or_empty(wire.get("tool"))
    return ToolCall(wire, text_or_empty(wire["callID"]), name, state.get("input"))


def result(wire: JsonObject) -> ToolResult | None:
    state = as_object(wire.get("state")) or {}
    status = kind_of(state, "status")
    if kind_of(wire) != "tool" or "callID" not in wire or status not in ("completed", "error"):
        return None
    content = first_given(state, "output") if status == "completed" else state.get("error")
    attached = [shown(part) for part in objects(state.get("attachments"))]
    if attached:
        content = [{"type": "text", "text": as_text(content)}, *attached]
    return ToolResult(wire, text_or_empty(wire["callID"]), "", content, status == "error")
