"""Google's Agent Development Kit: events that hold a content of Gemini."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from toolcarry._input.objects import JsonObject, as_list, as_object, first_given, text_or_empty
from toolcarry.importers.producers.base import (
    SUMMARY,
    About,
    Folded,
    Imported,
    Signs,
    each_object,
    nothing,
    records,
    shown_parts,
    texts_of,
)

NAME = "google-adk"
ABOUT = About(
    "Google ADK, sessions and events",
    "`invocationId` or `invocation_id`, and an `author`",
    "google-adk 2.13.0, real dumps",
)
SIGNS = Signs(("invocationId", "invocation_id", "events"))
ASIDE = frozenset(("actions", "state", "longRunningToolIds", "groundingMetadata", "customMetadata"))


def claims(message: JsonObject) -> bool:
    return is_event(message) or any(map(is_event, each_object(message.get("events"))))


def is_event(message: JsonObject) -> bool:
    is_named = "invocationId" in message or "invocation_id" in message
    return is_named and isinstance(message.get("author"), str)


def read(message: JsonObject) -> Imported | None:
    if not is_event(message):
        return None
    if (summary := summary_of(message)) is not None:
        return Imported(NAME, SUMMARY, shown_parts(summary.parts))
    content = as_object(message.get("content"))
    parts = as_list(content.get("parts")) if content is not None else None
    if message.get("partial") is True:
        return Imported(NAME, sources=list(texts_of(content)))
    if content is None or not parts:
        return Imported("")
    speaker = "user" if message["author"] == "user" else "model"
    role = text_or_empty(content.get("role")) or speaker
    return Imported(NAME, rewritten={"role": role, "parts": list(map(without_nulls, parts))})


def without_nulls(part: Any) -> Any:
    """Return a part without the members that are null, as a dump of the Python package has them."""
    found = as_object(part)
    if found is None or None not in found.values():
        return part
    return {key: value for key, value in found.items() if value is not None}


call = result = nothing


class Summary(NamedTuple):
    """A summary of the events between two times, which the model gets in their place."""

    start: float
    end: float
    parts: object


def summary_of(event: JsonObject) -> Summary | None:
    actions = as_object(event.get("actions")) or {}
    made = as_object(actions.get("compaction")) or {}
    start = first_given(made, "startTimestamp", "start_timestamp")
    end = first_given(made, "endTimestamp", "end_timestamp")
    content = as_object(first_given(made, "compactedContent", "compacted_content"))
    if not isinstance(start, int | float) or not isinstance(end, int | float) or content is None:
        return None
    return Summary(start, end, content.get("parts"))


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Return the events of a session. A rewind takes back all events from the invocation that it names up to itself.

    Events that a summary covers are taken back, too. The summary replaces the last of them, since other events, which
    it does not cover, may come earlier.
    """
    only = as_object(items[0]) if len(items) == 1 else None
    if only is not None and not is_event(only):
        items = as_list(only.get("events")) or ()
    started: dict[str, int] = {}
    folded = Folded(items)
    times: dict[int, float] = {}
    for position, event in enumerate(records(items)):
        started.setdefault(
            text_or_empty(first_given(event, "invocationId", "invocation_id")), position
        )
        actions = as_object(event.get("actions")) or {}
        name = first_given(actions, "rewindBeforeInvocationId", "rewind_before_invocation_id")
        if isinstance(name, str) and name in started:
            folded.active.difference_update(range(started[name], position))
        summary = summary_of(event)
        if summary is not None:
            covered = [at for at, time in times.items() if summary.start <= time <= summary.end]
            is_moved = bool(covered) and not calls_in(items[covered[-1]])
            folded.cover(covered, position, is_moved=is_moved)
        time = event.get("timestamp")
        if isinstance(time, int | float):
            times[position] = time
    return folded.marked(read)


def calls_in(event: object) -> bool:
    content = as_object((as_object(event) or {}).get("content")) or {}
    return any(
        "functionCall" in part or "function_call" in part
        for part in each_object(content.get("parts"))
    )
