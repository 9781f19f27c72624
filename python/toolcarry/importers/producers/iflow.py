"""iFlow: sessions like those of Claude Code, except that a call is in two records, and records are in file order.

All answers of the model have the user message as their parent, so they are not branches. A record begins with the last
call of the record before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolcarry._input.document import held_message
from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    CLIENT,
    SUMMARY,
    About,
    Imported,
    Signs,
    kind_of,
    nothing,
)
from toolcarry.model.session import is_repeating

NAME = "iflow"
ABOUT = About(
    "iFlow CLI, session-*.jsonl",
    "`uuid` next to a `message` whose `id` begins with `response-`",
    "a real session, kenn-io/agentsview, internal/parser/testdata/iflow",
    is_documented=False,
)
SIGNS = Signs()
"""None: the readers of sessions know it by ``is_repeating``."""


def claims(message: JsonObject) -> bool:
    return is_repeating(message)


read = call = result = nothing


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Return the messages of the records in their order, each call once."""
    calls: dict[str, JsonObject] = {}
    for item in items:
        record = as_object(item) or {}
        message = held_message(record) if record.get("role") is None else None
        if message is None:
            yield item
            continue
        content = message.get("content")
        parts = as_list(content)
        if parts is not None:
            content = [part for part in parts if not is_repeated(part, calls)]
        yield Imported(NAME, speaker_of(record, message), content or None, scope=scope_of(record))


def is_repeated(item: Any, calls: dict[str, JsonObject]) -> bool:
    """Return true for a call that stands in a record before, and keep a new one."""
    part = as_object(item) or {}
    call_id = text_or_empty(part.get("id"))
    if kind_of(part) != "tool_use" or not call_id:
        return False
    if call_id in calls:
        return calls[call_id] == part
    calls[call_id] = part
    return False


def speaker_of(record: JsonObject, message: JsonObject) -> str:
    if record.get("isCompactSummary") is True:
        return SUMMARY
    return CLIENT if record.get("isMeta") is True else text_or_empty(message.get("role"))


def scope_of(record: JsonObject) -> str:
    """Return the sub-agent that a record belongs to."""
    if record.get("isSidechain") is not True:
        return ""
    return text_or_empty(record.get("agentId")) or "side"
