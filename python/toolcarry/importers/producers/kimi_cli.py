"""Kimi CLI, before Kimi Code: the events of its wire, each in a record with a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_list, as_object, first_given, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolResult,
    kind_of,
    nothing,
    shown_parts,
)
from toolcarry.model.formats import chat

NAME = "kimi-cli"
ABOUT = About(
    "Kimi CLI, ~/.kimi/sessions/*/*/wire.jsonl",
    "a `timestamp` next to a `message` of the type `TurnBegin`, `ToolCall` or another, with a `payload`",
    "wire protocols 1.1 to 1.10: MoonshotAI/kimi-cli, src/kimi_cli/wire/types.py, file.py",
)
SAID = ("TurnBegin", "SteerInput")
OWN = frozenset((*SAID, "ContentPart", "ToolCall", "ToolCallPart", "ToolResult", "SubagentEvent"))
SIGNS = Signs(("return_value",), (*OWN, "StepBegin"))
SILENT = frozenset(
    (
        "think",
        "metadata",
        "ApprovalRequest",
        "ApprovalRequestResolved",
        "ApprovalResponse",
        "CompactionBegin",
        "CompactionEnd",
        "HookResolved",
        "HookTriggered",
        "MCPLoadingBegin",
        "MCPLoadingEnd",
        "Notification",
        "PlanDisplay",
        "QuestionRequest",
        "StatusUpdate",
        "StepBegin",
        "StepInterrupted",
        "ToolCallRequest",
        "TurnEnd",
    )
)
AGENTS = ("agent_id", "parent_tool_call_id", "task_tool_call_id")
"""The members that name the agent of an event."""
ASIDE = frozenset(("display", "extras"))


def claims(message: JsonObject) -> bool:
    event = as_object(message.get("message"))
    return "timestamp" in message and event is not None and kind_of(event) in OWN


def read(message: JsonObject) -> Imported | None:
    if kind_of(message) == "metadata" and "protocol_version" in message:
        return Imported(NAME)
    event = as_object(message.get("message"))
    return None if event is None or "timestamp" not in message else read_event(event)


def read_event(event: JsonObject, scope: str = "") -> Imported | None:
    kind, payload = kind_of(event), as_object(event.get("payload")) or {}
    if kind in SAID:
        return Imported(NAME, "user", shown_parts(payload.get("user_input"), SILENT), scope=scope)
    if kind == "ContentPart":
        return Imported(NAME, "assistant", shown_parts([payload], SILENT), scope=scope)
    if kind == "ToolCall" and as_object(payload.get("function")) is not None:
        return Imported(NAME, "assistant", calls=[chat.to_call(payload)], scope=scope)
    seen = result(payload)
    if seen is not None:
        about = text_or_empty((as_object(payload["return_value"]) or {}).get("message"))
        return Imported(NAME, results=[seen], scope=scope, sources=[about])
    inner = as_object(payload.get("event"))
    if kind == "SubagentEvent" and inner is not None:
        return read_event(inner, text_or_empty(first_given(payload, *AGENTS)) or scope or "side")
    return Imported(NAME) if kind in SILENT else None


call = nothing


def result(wire: JsonObject) -> ToolResult | None:
    value = as_object(wire.get("return_value"))
    if value is None or not isinstance(wire.get("tool_call_id"), str):
        return None
    output, about, is_error = value.get("output"), value.get("message"), value.get("is_error")
    # The model gets both; without a failure, the message repeats that it worked.
    content = output or about
    if is_error is True and output and about:
        parts = as_list(output) or [{"type": "text", "text": output}]
        content = [{"type": "text", "text": about}, *parts]
    return ToolResult(wire, wire["tool_call_id"], "", content, is_error is True)


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Put the pieces of a call's arguments into the call: the last one of the same agent, whatever came between them."""
    begun: dict[str, int] = {}
    pieces: dict[int, list[str]] = {}
    folded: set[int] = set()
    for place, item in enumerate(items):
        event, agent = _innermost(as_object((as_object(item) or {}).get("message")) or {})
        if kind_of(event) == "ToolCall":
            begun[agent] = place
        elif kind_of(event) == "ToolCallPart" and agent in begun:
            piece = as_object(event.get("payload")) or {}
            pieces.setdefault(begun[agent], []).append(text_or_empty(piece.get("arguments_part")))
            folded.add(place)
    for place, item in enumerate(items):
        found = read(item) if place in pieces else None
        if place in folded:
            yield Imported("")
        elif found is None or not found.calls:
            yield item
        else:
            (call_begun,) = found.calls
            sources = [text_or_empty(call_begun.arguments), *pieces[place]]
            whole = call_begun._replace(arguments="".join(sources))
            yield found._replace(calls=[whole], sources=sources)


def _innermost(event: JsonObject) -> tuple[JsonObject, str]:
    """Return the event within those of sub-agents, and the name of the agent; empty for the main one."""
    agent = ""
    while kind_of(event) == "SubagentEvent":
        payload = as_object(event.get("payload")) or {}
        agent = text_or_empty(first_given(payload, *AGENTS)) or agent or "side"
        event = as_object(payload.get("event")) or {}
    return event, agent
