"""Genkit: parts with a ``toolRequest``, and with a ``toolResponse`` in messages of a tool."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    medium,
    objects,
    shown_parts,
)

NAME = "genkit"
ABOUT = About(
    "Genkit, MessageData[]",
    "parts with a `toolRequest` or a `toolResponse` that has a `ref` or a `name`",
    "versions 1: firebase/genkit, js/ai/src/model-types.ts",
)
SIGNS = Signs(("toolRequest", "toolResponse"))
ASIDE = frozenset(("metadata",))


def claims(message: JsonObject) -> bool:
    return any(call(part) or result(part) for part in objects(message.get("content")))


def read(message: JsonObject) -> Imported | None:
    parts = objects(message.get("content"))
    calls = [made for part in parts if (made := call(part))]
    results = [seen for part in parts if (seen := result(part))]
    role = text_or_empty(message.get("role"))
    if not role or not parts:
        return None
    said = [
        spoken(part) for part in parts if not (call(part) or result(part) or "reasoning" in part)
    ]
    return Imported(NAME, "" if role == "tool" else role, shown_parts(said), calls, results)


def spoken(part: JsonObject) -> JsonObject:
    if "toolRequest" in part or "toolResponse" in part:  # without a name
        return {"type": "tool", **part}
    held = as_object(part.get("media"))
    return part if held is None else medium(held.get("contentType"), url=held.get("url"))


def call(wire: JsonObject) -> ToolCall | None:
    asked = as_object(wire.get("toolRequest"))
    if asked is None or not isinstance(asked.get("name"), str):
        return None
    return ToolCall(wire, text_or_empty(asked.get("ref")), asked["name"], asked.get("input"))


def result(wire: JsonObject) -> ToolResult | None:
    # Gemini's toolResponse, of a tool that ran on the server, has a toolType in place of a name.
    answer = as_object(wire.get("toolResponse"))
    if answer is None or not isinstance(answer.get("name"), str):
        return None
    call_id, name = text_or_empty(answer.get("ref")), answer["name"]
    return ToolResult(wire, call_id, name, answer.get("output"), False)
