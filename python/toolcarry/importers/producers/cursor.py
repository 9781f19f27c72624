"""Cursor's agent transcripts: the role is next to a ``message`` whose content has Anthropic's blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_object
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    kind_of,
    nothing,
    objects,
    records,
)
from toolcarry.model.formats import anthropic

NAME = "cursor"
ABOUT = About(
    "Cursor, ~/.cursor/projects/*/agent-transcripts/*.jsonl",
    "a `role` next to a `message` that has none",
    "files of 2026",
    is_documented=False,
)
SIGNS = Signs(("message",))


def claims(message: JsonObject) -> bool:
    inner = as_object(message.get("message"))
    has_role = message.get("role") in ("user", "assistant") and "content" not in message
    return has_role and inner is not None and "content" in inner and "role" not in inner


def read(message: JsonObject) -> Imported | None:
    if not claims(message):
        return Imported(NAME) if kind_of(message) == "turn_ended" else None
    content = (as_object(message["message"]) or {})["content"]
    calls = [made for part in objects(content) if (made := anthropic.call(part))]
    results = [seen for part in objects(content) if (seen := anthropic.result(part))]
    return Imported(NAME, message["role"], content, calls, results)


call = result = nothing


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Take the ids from results whose call has none: they answer the calls in their order."""
    found = (each for each in map(read, records(items)) if each is not None)
    ids = {call.call_id for each in found for call in each.calls}
    for item in items:
        each = read(as_object(item) or {})
        if each is None:
            yield item
        else:
            results = [
                seen if seen.call_id in ids else seen._replace(call_id="") for seen in each.results
            ]
            yield each._replace(results=results)
