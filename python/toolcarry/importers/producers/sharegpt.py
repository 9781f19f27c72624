"""ShareGPT and Hermes: ``from`` and ``value``, with calls as JSON between tags in the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from toolcarry._input.json import loads_any_depth
from toolcarry._input.objects import JsonObject, as_object, first_given, text_or_empty
from toolcarry.errors import InputError
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    between,
    each_object,
    kind_of,
    nothing,
    without,
)

NAME = "sharegpt"
ABOUT = About(
    "ShareGPT and Hermes function calling, one conversation",
    "`conversations` whose items have `from` and `value`",
    "NousResearch/Hermes-Function-Calling, README.md",
)
SIGNS = Signs(("conversations",), ("human",))
ASIDE = frozenset(("system", "category", "subcategory", "task"))
SPEAKERS = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "system": "system",
}
TOOLS = frozenset(("tool", "observation", "function_response"))
CALL: Final = (re.compile("<tool_call>"), "</tool_call>")
RESULT: Final = (re.compile("<tool_response>"), "</tool_response>")


def claims(message: JsonObject) -> bool:
    return is_turn(message) or any(map(is_turn, each_object(message.get("conversations"))))


def is_turn(message: JsonObject) -> bool:
    is_named = isinstance(message.get("from"), str) and isinstance(message.get("value"), str)
    return is_named and "role" not in message


def read(message: JsonObject) -> Imported | None:
    if not is_turn(message):
        return None
    speaker, text = kind_of(message, "from"), message["value"]
    if speaker in TOOLS:
        parts = [part for _, part, _ in between(text, *RESULT)] or [text]
        results = [to_result(message, part) for part in parts]
        return Imported(NAME, results=results, sources=[text])
    if speaker == "function_call":
        return Imported(NAME, "assistant", None, [to_call(message, text)], sources=[text])
    found = list(between(text, *CALL)) if speaker in ("gpt", "assistant") else []
    said = without(text, [(start, end) for start, _, end in found]) if found else text
    calls = [to_call(message, part) for _, part, _ in found]
    return Imported(NAME, SPEAKERS.get(speaker, ""), said, calls, sources=[text])


def to_call(message: JsonObject, text: str) -> ToolCall:
    found = decoded(text) or {}
    given = first_given(found, "arguments", "parameters")
    return ToolCall(message, "", text_or_empty(found.get("name")), text if not found else given)


def to_result(message: JsonObject, text: str) -> ToolResult:
    found = decoded(text)
    if found is None or "content" not in found:
        return ToolResult(message, "", "", text.strip(), False)
    return ToolResult(message, "", text_or_empty(found.get("name")), found["content"], False)


def decoded(text: str) -> JsonObject | None:
    """Return the object in a JSON text; ``None`` if the text is not one."""
    try:
        return as_object(loads_any_depth(text.strip().encode("utf-8", "surrogatepass")))
    except (InputError, json.JSONDecodeError):
        return None


call = result = nothing


def fold(items: Sequence[Any]) -> Iterable[Any]:
    """Return the turns of a document."""
    only = as_object(items[0]) if len(items) == 1 else None
    held = (only or {}).get("conversations")
    return each_object(held) if any(each_object(held)) else items
