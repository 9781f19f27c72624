"""Cline, whose results may be texts: a text part of the user begins with the call's name, ``[NAME for ...] Result:``.

The calls are Anthropic's with a ``call_id``. A result is in the part of its header, or in the parts after it; then come
what the user adds and what the client says about the environment.
"""

from __future__ import annotations

import re
from typing import Final

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry.importers.producers.base import About, Imported, Signs, ToolResult, nothing
from toolcarry.model.formats.foreign import has_foreign_call

NAME = "cline"
ABOUT = About(
    "Cline, api_conversation_history.json with results as text",
    "calls of Anthropic with a `call_id`; texts of the user that begin with `[NAME for ...] Result:`",
    "cline/cline, src/core/task/tools/utils/ToolResultUtils.ts",
)
SIGNS = Signs(types=("text",))
HEADER: Final = re.compile(r"\[(\w+)(?: (?:for|in) .*?)?\] Result:(?:\n|\Z)", re.DOTALL)
# cline/cline, src/core/prompts/responses.ts
FAILED: Final = "The tool execution failed with the following error:"
DENIED: Final = "The user denied this operation."
NO_RESULT: Final = (
    "<environment_details>",
    "<feedback>",
    "The user provided the following feedback:",
)
"""The beginnings of texts after a result that are no part of it."""


def claims(message: JsonObject) -> bool:
    return message.get("role") == "assistant" and has_foreign_call(message.get("content"))


def read(message: JsonObject) -> Imported | None:
    parts = as_list(message.get("content")) or ()
    found: list[ToolResult] = []
    said: list[object] = []
    headers: list[str] = []
    held: list[JsonObject] | None = None
    for item in parts if message.get("role") == "user" else ():
        part = as_object(item) or {}
        text = text_or_empty(part.get("text")) if part.get("type") == "text" else ""
        header = HEADER.match(text)
        if header is not None:
            rest = text[header.end() :]
            held = None if rest else []
            headers.append(text)
            found.append(result_of(part, header[1], rest))
        elif held is None or text.startswith(NO_RESULT):
            said.append(item)
            held = None
        else:
            held.append(part)
            content = text if len(held) == 1 and text else held
            wire = part if len(held) == 1 else found[-1].wire
            found[-1] = result_of(wire, found[-1].name, content)
    if found:
        return Imported(NAME, "user", said, results=found, sources=headers)
    return Imported("", rewritten=message) if claims(message) else None


def result_of(wire: JsonObject, name: str, content: object) -> ToolResult:
    """Return a result. It has no id: the results of a message answer the calls before it by their names and order."""
    is_error = isinstance(content, str) and content.startswith((FAILED, DENIED))
    return ToolResult(wire, "", name, content, is_error)


call = nothing


def result(wire: JsonObject) -> ToolResult | None:
    text = text_or_empty(wire.get("text")) if wire.get("type") == "text" else ""
    header = HEADER.match(text)
    return None if header is None else result_of(wire, header[1], text[header.end() :])
