"""pydantic-ai: requests and responses whose parts have a ``part_kind``."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
    medium,
    objects,
    shown_parts,
    texts_of,
)

NAME = "pydantic-ai"
ABOUT = About(
    "pydantic-ai, ModelMessagesTypeAdapter and all_messages_json()",
    "`kind` `request` or `response`, and `parts` with a `part_kind`",
    "pydantic-ai 2.68.0, real dumps",
)
SIGNS = Signs(("kind", "part_kind", "args"))
ASIDE = frozenset(("metadata", "provider_details", "state"))
SPEAKERS = {"request": "user", "response": "assistant"}
ON_SERVER = frozenset(("builtin-tool-call", "builtin-tool-return"))
CALLS = frozenset(("tool-call", "builtin-tool-call"))
RESULTS = frozenset(("tool-return", "builtin-tool-return", "retry-prompt"))
SILENT = frozenset(
    (
        "thinking",
        "system-prompt",
        "retry-feedback",
        "instruction",
        "instruction-delta",
        "instruction-digest",
        "instruction-baseline",
        "tool-availability-delta",
        "capability-load-delta",
        "model-settings-delta",
    )
)
"""The parts without conversation: messages from the framework to the model."""
FAILURES = ("failed", "denied", "retried", "interrupted")
"""The outcomes of a tool that gave no answer."""
ADDRESSES = {"image-url": "image/", "audio-url": "audio/", "video-url": "video/"}
URLS = frozenset((*ADDRESSES, "document-url"))
"""The kinds of content with a URL."""
FILES = URLS | {"binary", "uploaded-file"}


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
        if kind in ("text", "user-prompt", "file", "speech", "compaction"):
            content = part.get("transcript" if kind == "speech" else "content")
            said += as_list(content) or ([] if content is None else [content])
        elif (
            kind in ON_SERVER or kind not in SILENT | CALLS | RESULTS
        ):  # those answer between two texts
            said.append(part)
    calls = [made for part in parts if (made := call(part))]
    results = [seen for part in parts if (seen := result(part))]
    content = shown_parts(list(map(shown, said)), ("cache-point",), kind="kind")
    retries = [part for part in parts if is_retry(part) and result(part) is None]
    return Imported(NAME, speaker, content, calls, results, sources=list(texts_of(retries)))


def shown(item: object) -> object:
    """Return an item of a content as a part that both backends read."""
    part = as_object(item) or {}
    kind = kind_of(part, "kind")
    if kind == "text-content":
        return part.get("content")
    if kind in URLS:
        return medium(ADDRESSES.get(kind, ""), url=part.get("url"))
    if kind == "binary":
        return medium(part.get("media_type") or part.get("_media_type"), part.get("data"))
    if kind == "uploaded-file":
        return {"type": "file", "file_id": part.get("file_id")}
    return item


def call(wire: JsonObject) -> ToolCall | None:
    if kind_of(wire, "part_kind") not in CALLS:
        return None
    name = text_or_empty(wire.get("tool_name"))
    return ToolCall(wire, text_or_empty(wire.get("tool_call_id")), name, wire.get("args"))


def is_retry(part: JsonObject) -> bool:
    """Return true if the framework asks once more: for another call, or for another text."""
    return kind_of(part, "part_kind") == "retry-prompt"


def result(wire: JsonObject) -> ToolResult | None:
    kind, name = kind_of(wire, "part_kind"), text_or_empty(wire.get("tool_name"))
    # A retry without a tool asks for another text; it answers no call.
    if kind not in RESULTS or (is_retry(wire) and not name):
        return None
    has_failed = is_retry(wire) or kind_of(wire, "outcome") in FAILURES
    call_id, content = text_or_empty(wire.get("tool_call_id")), wire.get("content")
    items = as_list(content)
    # A tool that returns files returns a list of texts and files; any other list is a value.
    if any(kind_of(as_object(item) or {}, "kind") in FILES for item in items or (content,)):
        content = shown_parts(list(map(shown, items or (content,))))
    return ToolResult(wire, call_id, name, content, has_failed)
