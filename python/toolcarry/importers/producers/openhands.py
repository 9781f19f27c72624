"""OpenHands events: actions are calls; observations, rejections and errors are results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_list, as_object, first_given, text_or_empty
from toolcarry.importers.producers.base import (
    SUMMARY,
    About,
    Folded,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    records,
)

NAME = "openhands"
ABOUT = About(
    "OpenHands events",
    "`kind` `ActionEvent`, `ObservationEvent` and others",
    "OpenHands/software-agent-sdk, openhands/sdk/event",
)
SIGNS = Signs(("kind", "observation", "tool_call"))
ASIDE = frozenset(
    ("metadata", "action", "command", "summary", "critic_result", "old_content", "new_content")
)
ACTION = "ActionEvent"
FAILURES = {"UserRejectObservation": "rejection_reason", "AgentErrorEvent": "error"}
"""The events that say why there is no observation, and the member that holds the reason."""
CONDENSATION = "Condensation"
SILENT = frozenset(
    (
        "SystemPromptEvent",
        CONDENSATION,
        "CondensationRequest",
        "PauseEvent",
        "InterruptEvent",
        "TokenEvent",
        "StreamingDeltaEvent",
        "ConversationStateUpdateEvent",
        "ConversationErrorEvent",
        "HookExecutionEvent",
        "LLMCompletionLogEvent",
    )
)
"""The events that hold no message (OpenHands/software-agent-sdk, ``openhands/sdk/event``)."""


def folds(message: JsonObject) -> bool:
    is_own = message.get("kind") == CONDENSATION
    return is_own and as_list(message.get("forgotten_event_ids")) is not None


def read(message: JsonObject) -> Imported | None:
    action, answer = call(message), result(message)
    if action is not None:
        return Imported(NAME, "assistant", message.get("thought"), calls=[action])
    if answer is not None:
        return Imported(NAME, results=[answer])
    if message.get("kind") == CONDENSATION and isinstance(message.get("summary"), str):
        return Imported(NAME, SUMMARY, message["summary"])
    if message.get("kind") != "MessageEvent" or "llm_message" not in message:
        kind = text_or_empty(message.get("kind"))
        return Imported(NAME) if kind in SILENT or kind in FAILURES else None
    message_parts = as_object(message["llm_message"]) or {}
    speaker = first_given(message_parts, "role") or message.get("source")
    return Imported(NAME, text_or_empty(speaker), message_parts.get("content"))


def call(wire: JsonObject) -> ToolCall | None:
    if wire.get("kind") != ACTION:
        return None
    asked = as_object(wire.get("tool_call")) or {}
    function = as_object(asked.get("function")) or asked
    given = function.get("arguments")
    if given is None:
        given = wire.get("action")
    name = text_or_empty(first_given(wire, "tool_name")) or text_or_empty(function.get("name"))
    call_id = text_or_empty(wire.get("tool_call_id")) or text_or_empty(asked.get("id"))
    return ToolCall(wire, call_id, name, given)


def result(wire: JsonObject) -> ToolResult | None:
    kind = wire.get("kind")
    call_id, name = text_or_empty(wire.get("tool_call_id")), text_or_empty(wire.get("tool_name"))
    if isinstance(kind, str) and kind in FAILURES:
        if not call_id and not name:  # an error of the agent itself
            return None
        return ToolResult(wire, call_id, name, wire.get(FAILURES[kind]), True)
    if kind != "ObservationEvent":
        return None
    seen = wire.get("observation")
    held = as_object(seen) or {}
    content = first_given(held, "content", "output")
    is_error = held.get("is_error") is True
    content = (
        seen if content is None else with_notes(content, as_object(held.get("metadata")) or {})
    )
    return ToolResult(wire, call_id, name, content, is_error)


def with_notes(content: object, metadata: JsonObject) -> object:
    """Return the output of a terminal with the notes around it, which the model read as well: an exit code, or a timeout."""
    parts = as_list(content)
    texts = [text_or_empty(metadata.get(key)).strip("\n") for key in ("prefix", "suffix")]
    before, after = ([{"type": "text", "text": text}] * bool(text) for text in texts)
    return content if parts is None else [*before, *parts, *after]


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Mark the events that a condensation took out of what the model sees."""
    folded = Folded(items)
    places: dict[object, int] = {}
    for position, event in enumerate(records(items)):
        if event.get("kind") == CONDENSATION:
            ids = as_list(event.get("forgotten_event_ids")) or ()
            forgotten = [places[each] for each in ids if isinstance(each, str) and each in places]
            folded.cover(sorted(forgotten), position)
        elif isinstance(event.get("id"), str):
            places[event["id"]] = position
    return folded.marked(read)
