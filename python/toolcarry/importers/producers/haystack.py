"""Haystack: chat messages whose parts are named by their only member."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    objects,
    shown_parts,
)

NAME = "haystack"
ABOUT = About(
    "Haystack, ChatMessage",
    "parts with a `tool_call` or a `tool_call_result`",
    "haystack-ai 3.4.1, real dumps",
)
SIGNS = Signs(("tool_call", "tool_call_result"))
ASIDE = frozenset(("metadata",))


def claims(message: JsonObject) -> bool:
    return any(call(part) or result(part) for part in objects(message.get("content")))


def read(message: JsonObject) -> Imported | None:
    parts = objects(message.get("content"))
    calls = [made for part in parts if (made := call(part))]
    results = [seen for part in parts if (seen := result(part))]
    if not calls and not results:
        return None
    own = {id(each.wire) for each in calls} | {id(each.wire) for each in results}
    said = [part for part in parts if id(part) not in own and "reasoning" not in part]
    role = text_or_empty(message.get("role"))
    return Imported(NAME, "" if results else role, shown_parts(said), calls, results)


def call(wire: JsonObject) -> ToolCall | None:
    made = as_object(wire.get("tool_call"))
    if made is None or "tool_name" not in made:
        return None
    call_id, name = text_or_empty(made.get("id")), text_or_empty(made["tool_name"])
    return ToolCall(wire, call_id, name, made.get("arguments"))


def result(wire: JsonObject) -> ToolResult | None:
    answer = as_object(wire.get("tool_call_result"))
    origin = as_object(answer.get("origin")) if answer is not None else None
    if answer is None or origin is None:
        return None
    call_id, name = text_or_empty(origin.get("id")), text_or_empty(origin.get("tool_name"))
    content = shown_parts(answer.get("result"))
    return ToolResult(wire, call_id, name, content, answer.get("error") is True)
