"""pydantic-ai: requests and responses whose parts have a ``part_kind``."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    ToolCall,
    ToolResult,
    kind_of,
    objects,
    shown_parts,
)

NAME = "pydantic-ai"
ABOUT = About(
    "pydantic-ai, ModelMessagesTypeAdapter and all_messages_json()",
    "`kind` `request` or `response`, and `parts` with a `part_kind`",
    "pydantic-ai 2.68.0, real dumps",
)
SPEAKERS = {"request": "user", "response": "assistant"}
CALLS = frozenset(("tool-call", "builtin-tool-call"))
RESULTS = frozenset(("tool-return", "builtin-tool-return", "retry-prompt"))
SILENT = CALLS | RESULTS | {"thinking", "file"}


def claims(message: JsonObject) -> bool:
    is_own = any("part_kind" in part for part in objects(message.get("parts")))
    return kind_of(message, "kind") in SPEAKERS and is_own


def read(message: JsonObject) -> Imported | None:
    speaker = SPEAKERS.get(kind_of(message, "kind"))
    if speaker is None:
        return None
    parts = objects(message.get("parts"))
    said: list[object] = []
    for part in parts:
        kind = kind_of(part, "part_kind")
        if kind in ("text", "user-prompt"):
            found = shown_parts(part.get("content"))
            said += found if isinstance(found, list) else [found]
        elif kind == "system-prompt" or kind in SILENT:
            continue
        else:
            said.append(part)
    calls = [made for part in parts if (made := call(part))]
    results = [seen for part in parts if (seen := result(part))]
    return Imported(NAME, speaker, shown_parts(said), calls, results)


def call(wire: JsonObject) -> ToolCall | None:
    if kind_of(wire, "part_kind") not in CALLS:
        return None
    name = text_or_empty(wire.get("tool_name"))
    return ToolCall(wire, text_or_empty(wire.get("tool_call_id")), name, wire.get("args"))


def result(wire: JsonObject) -> ToolResult | None:
    kind, name = kind_of(wire, "part_kind"), text_or_empty(wire.get("tool_name"))
    is_retry = kind == "retry-prompt"
    # A retry without a tool asks for another text; it answers no call.
    if kind not in RESULTS or (is_retry and not name):
        return None
    has_failed = is_retry or kind_of(wire, "outcome") in ("failed", "denied")
    call_id = text_or_empty(wire.get("tool_call_id"))
    return ToolResult(wire, call_id, name, wire.get("content"), has_failed)
