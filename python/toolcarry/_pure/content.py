"""The text of a result, whatever kind of thing came back."""

from __future__ import annotations

from toolcarry._pure.media import (
    MEDIA,
    UNTYPED_MEDIA,
    blob_line,
    found_line,
    is_opaque,
    media_line,
)
from toolcarry.decode import compact_json
from toolcarry.wire import Wire, as_list, as_object, text_or_empty

STAND_INS = (
    "[Request interrupted by user",
    "[Tool result missing",
    "[Tool use interrupted",
    "[Old tool result content cleared",
    "Wasted call",
    "File unchanged since",
)
"""How texts begin that stand for a result: for one that never came, was cleared, or was given before."""
INITIALS = frozenset(text[0] for text in STAND_INS)

MAX_PARTS = 8
"""How deep parts may stand in parts: deeper ones are shown as JSON."""


def is_stand_in(content: object) -> bool:
    """Whether the content of a result only stands for one that is not here."""
    text = content if type(content) is str else result_text(content) if content else ""
    return text[:1] in INITIALS and text.startswith(STAND_INS)


def result_text(content: object, depth: int = 0) -> str:
    """The text of a result: parts on lines of their own; what is no text becomes a line that names it."""
    if type(content) is not list:
        if isinstance(content, str):
            return content
        if content is None:
            return ""
        if not isinstance(content, (list, tuple)):
            return object_text(content, depth)
    if len(content) == 1:
        part = content[0]
        text = part.get("text") if type(part) is dict else None  # nearly always: spares a call
        return text if isinstance(text, str) else part_text(part, depth)
    return "\n".join([part_text(part, depth) for part in content])


def object_text(content: object, depth: int) -> str:
    """The text of what is no list of parts: a part by itself, or any other value, which is JSON."""
    part = as_object(content)
    if part is not None and "type" not in part and len(part) > 1 and "text" in part:
        return compact_json(content)
    return part_text(content, depth)


def part_text(item: object, depth: int) -> str:
    """The text of one part of a result; parts may hold parts."""
    if isinstance(item, dict):
        part: Wire = item
    elif isinstance(item, str):
        return item
    else:
        found = as_object(item)
        if found is None:
            return compact_json(item)
        part = found
    text = part.get("text")
    if isinstance(text, str):
        return text
    kind = part.get("type")
    if not isinstance(kind, str):
        return untyped_text(part, depth)
    if kind == "blob" and isinstance(part.get("content"), str):  # OpenTelemetry
        return blob_line(part, part["content"])
    inner = as_object(part.get("source" if kind == "document" else kind)) or part
    text = inner.get("text")
    if isinstance(text, str):
        return text
    printed = part.get("stdout")
    if isinstance(printed, str) and depth < MAX_PARTS:  # code that ran on the server
        errors = [part["stderr"]] if text_or_empty(part.get("stderr")) else []
        files = as_list(part.get("content")) or ()
        return "\n".join([part_text(each, depth + 1) for each in (printed, *errors, *files)])
    content = inner.get("content") or part.get("content")
    is_typed = "type" in (as_object(content) or {})  # what was fetched, for one
    if (isinstance(content, (str, list, tuple)) or is_typed) and depth < MAX_PARTS:
        text = result_text(content, depth + 1)
        return f"{found_line(part)}\n{text}" if kind == "search_result" else text
    if kind in MEDIA or is_opaque(part) or is_opaque(inner):
        return media_line(kind, part)
    named = part.get(kind)
    return named if isinstance(named, str) else compact_json(part)


def untyped_text(part: Wire, depth: int) -> str:
    """The text of a part that doesn't say its type: of Gemini's and Bedrock's the only key tells it."""
    for kind in UNTYPED_MEDIA:
        if kind in part and as_object(part[kind]) is not None:
            return untyped_media(kind, part, depth)
    if len(part) == 1 and "json" in part:
        return compact_json(part["json"])
    answer = as_object(part.get("functionResponse")) if len(part) == 1 else None
    if answer is not None and depth < MAX_PARTS:  # Gemini: media, and an answer beside them
        response = [] if answer.get("response") is None else [answer["response"]]
        parts = as_list(answer.get("parts")) or ()
        return "\n".join([part_text(each, depth + 1) for each in (*response, *parts)])
    content = as_list(part.get("content"))
    first = as_object(content[0]) if content else None
    if first is not None and isinstance(first.get("type"), str) and depth < MAX_PARTS:
        return result_text(content, depth + 1)  # an answer as the Model Context Protocol has it
    return compact_json(part)


def untyped_media(kind: str, part: Wire, depth: int) -> str:
    """A part that holds media under their kind: a document may be text all the same."""
    holder = as_object(part[kind]) or part
    source = as_object(holder.get("source")) or holder
    if kind == "document":
        text = source.get("text")
        if isinstance(text, str):
            return text
        content = as_list(source.get("content"))
        if content and depth < MAX_PARTS:
            return result_text(content, depth + 1)
    return media_line(kind, part)
