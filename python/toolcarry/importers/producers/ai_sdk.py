"""Vercel AI SDK, model messages: parts ``tool-call`` and ``tool-result``. Cursor's command line stores them too."""

from __future__ import annotations

from typing import Any

from toolcarry._input.objects import (
    JsonObject,
    as_list,
    as_object,
    each_object,
    first_given,
    text_or_empty,
)
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    as_text,
    kind_of,
    medium,
    objects,
    shown_parts,
)

NAME = "ai-sdk"
ABOUT = About(
    "Vercel AI SDK, ModelMessage[] and CoreMessage[]",
    "parts of the type `tool-call` or `tool-result` with a `toolCallId`",
    "versions 4 to 6: vercel/ai, packages/provider-utils/src/types/content-part.ts",
)
SIGNS = Signs(("toolCallId", "output", "args"))
SILENT = frozenset(
    (
        "reasoning",
        "redacted-reasoning",
        "tool-approval-request",
        "tool-approval-response",
    )
)
TYPES = ("mediaType", "mimeType", "mime", "contentType")
"""The members with a medium's type: of version 5, of version 4, of opencode, and of an attachment."""
IMAGES = frozenset(("image", "image-data", "image-url", "image-file-id", "image-file-reference"))
FILES = frozenset(("file", "media", "file-data", "file-url", "file-id", "file-reference"))
MAX_SCHEME = 8
"""The longest scheme of a URL with its colon; base64 has none."""
ERRORS = frozenset(("error-text", "error-json", "execution-denied"))


def claims(message: JsonObject) -> bool:
    return any(call(part) or result(part) for part in objects(message.get("content")))


def read(message: JsonObject) -> Imported | None:
    parts = objects(message.get("content"))  # once: a large file is decoded at each access
    calls = [made for part in parts if (made := call(part))]
    results = [seen for part in parts if (seen := result(part))]
    if not calls and not results:
        return None
    content = shown_parts(list(map(shown, parts)), SILENT)
    role = text_or_empty(message.get("role"))
    return Imported(NAME, "" if role == "tool" else role, content, calls, results)


def call(wire: JsonObject) -> ToolCall | None:
    if kind_of(wire) != "tool-call" or "toolCallId" not in wire:
        return None
    given = first_given(wire, "input", "args")
    return ToolCall(
        wire, text_or_empty(wire["toolCallId"]), text_or_empty(wire.get("toolName")), given
    )


def result(wire: JsonObject) -> ToolResult | None:
    if kind_of(wire) != "tool-result" or "toolCallId" not in wire:
        return None
    call_id, name = text_or_empty(wire["toolCallId"]), text_or_empty(wire.get("toolName"))
    output = as_object(wire.get("output"))
    if output is not None and isinstance(output.get("type"), str):
        content = shown_answer(first_given(output, "value", "reason"))
        return ToolResult(wire, call_id, name, content, output["type"] in ERRORS)
    # Version 4, and versions whose output is the value itself.
    content = first_given(wire, "output", "experimental_content", "result", "content")
    return ToolResult(wire, call_id, name, shown_answer(content), wire.get("isError") is True)


def shown_answer(content: object) -> object:
    """Return the content of a result with its media as parts that both backends read."""
    items = as_list(content)
    if not any(medium_of(part) for part in each_object(items)):
        return content
    return [shown(item) for item in items or ()]


def shown(part: Any) -> Any:
    """Return a part, a medium as one that both backends read."""
    return medium_of(as_object(part) or {}) or part


def medium_of(part: JsonObject) -> JsonObject | None:
    """Return the image or the file of a part in any version of the SDK; ``None`` for other parts.

    Its data are base64, bytes, a URL, or an object that says which of them it holds.

    >>> medium_of({"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,aGk="})
    {'type': 'image', 'source': {'type': 'base64', 'media_type': 'image/png', 'data': 'aGk='}}
    """
    kind = kind_of(part)
    if kind not in IMAGES and kind not in FILES:
        return None
    given = first_given(part, "data", "image", "url", "fileId", "providerReference")
    named = text_or_empty(first_given(part, *TYPES))
    if given is None or "source" in part or not (named or "-" in kind or "image" in part):
        return None  # of another format
    if kind in IMAGES and "/" not in named:
        named = "image/"
    tagged = as_object(given) or {}
    if tagged.get("type") == "text":
        return {"type": "document", "source": {"type": "text", "media_type": named, "data": tagged.get("text")}}  # fmt: skip
    if "fileId" in part or "providerReference" in part or tagged.get("type") == "reference":
        return {"type": "file", "file_id": as_text(given)}
    data = bytes_of(first_given(tagged, "data", "url") or given)
    if not isinstance(data, (str, bytes)):
        return None
    url = data if isinstance(data, str) and ":" in data[:MAX_SCHEME] else None
    name = first_given(part, "filename", "name")
    return medium(named, None if url else data, url, name)


def bytes_of(value: object) -> object:
    """Return bytes for a JavaScript array of bytes, as JSON writes its kinds; any other value as it is."""
    wire = as_object(value)
    items = as_list(value) or (as_list(wire.get("data")) if wire else None)
    if items is None and wire and "0" in wire:
        items = [wire.get(str(index)) for index in range(len(wire))]
    if items and all(type(item) is int and 0 <= item < 256 for item in items):
        return bytes(items)
    return value
