"""OpenHands: events, of which actions are calls, and observations, rejections and errors are results."""

from __future__ import annotations

from toolcarry._input.objects import Wire, as_object, first_given, text_or_empty
from toolcarry._pure.formats.message import Said, Spoken, ToolCall, ToolResult

NAME = "openhands"
ACTION = "ActionEvent"
FAILURES = {"UserRejectObservation": "rejection_reason", "AgentErrorEvent": "error"}
"""The events that say why there is no observation, and where."""


def read(message: Wire, role: object, said: Said) -> str:
    if role is not None:
        return ""
    found = call(message)
    if found is not None:
        said.calls.append(found)
    answer = result(message)
    if answer is not None:
        said.results.append(answer)
    is_message = message.get("kind") == "MessageEvent" and "llm_message" in message
    return NAME if is_message or found is not None or answer is not None else ""


def call(wire: Wire) -> ToolCall | None:
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


def result(wire: Wire) -> ToolResult | None:
    kind = wire.get("kind")
    call_id, name = text_or_empty(wire.get("tool_call_id")), text_or_empty(wire.get("tool_name"))
    if isinstance(kind, str) and kind in FAILURES:
        if not call_id and not name:  # an error of the agent's own
            return None
        return ToolResult(wire, call_id, name, wire.get(FAILURES[kind]), True)
    if kind != "ObservationEvent":
        return None
    seen = wire.get("observation")
    held = as_object(seen) or {}
    content = first_given(held, "content", "output")
    is_error = held.get("is_error") is True
    return ToolResult(wire, call_id, name, seen if content is None else content, is_error)


def spoken(message: Wire) -> Spoken | None:
    if message.get("kind") == ACTION:
        return Spoken("assistant", message.get("thought"))
    said = as_object(message.get("llm_message")) if message.get("kind") == "MessageEvent" else None
    if said is None:
        return None
    role = said.get("role")
    speaker = message.get("source") if role is None else role
    return Spoken(text_or_empty(speaker), said.get("content"))
