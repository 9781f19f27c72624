"""crush: messages whose parts are wrapped, each in a ``type`` and ``data``."""

from __future__ import annotations

from typing import Final

from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
    objects,
)

NAME = "crush"
ABOUT = About(
    "crush, the rows of crush.db",
    "`parts` of the types `tool_call`, `tool_result` or `finish`, each with its `data`",
    "charmbracelet/crush, internal/message/content.go",
)
SIGNS = Signs(("data",), ("tool_call",))
OWN: Final = frozenset(("tool_call", "tool_result", "finish"))
SILENT: Final = frozenset(("reasoning", "finish"))


def claims(message: JsonObject) -> bool:
    return any(kind_of(part) in OWN and as_object(part.get("data")) for part in parts_of(message))


def parts_of(message: JsonObject) -> list[JsonObject]:
    return objects(message.get("parts")) if "role" in message else []


def read(message: JsonObject) -> Imported | None:
    parts = parts_of(message)
    if not parts or "role" not in message:
        return None
    calls = [made for part in parts if (made := call(part))]
    results = [seen for part in parts if (seen := result(part))]
    said = [shown(part) for part in parts if kind_of(part) not in SILENT | OWN]
    role = text_or_empty(message["role"])
    return Imported(NAME, "" if role == "tool" else role, said, calls, results)


def shown(part: JsonObject) -> JsonObject:
    """Return a text part; any other part, such as an image, stays what it is, and is reported."""
    data = as_object(part.get("data")) or {}
    is_text = kind_of(part) == "text" and isinstance(data.get("text"), str)
    return {"type": "text", "text": data["text"]} if is_text else part


def call(wire: JsonObject) -> ToolCall | None:
    data = as_object(wire.get("data"))
    if kind_of(wire) != "tool_call" or data is None:
        return None
    call_id, name = text_or_empty(data.get("id")), text_or_empty(data.get("name"))
    return ToolCall(wire, call_id, name, data.get("input"))


def result(wire: JsonObject) -> ToolResult | None:
    data = as_object(wire.get("data"))
    if kind_of(wire) != "tool_result" or data is None:
        return None
    call_id, name = text_or_empty(data.get("tool_call_id")), text_or_empty(data.get("name"))
    return ToolResult(wire, call_id, name, data.get("content"), data.get("is_error") is True)
