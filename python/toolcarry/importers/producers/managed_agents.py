"""Anthropic's Managed Agents: the events of a session."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, first_given, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
    shown_parts,
)

NAME = "managed-agents"
ABOUT = About(
    "Anthropic Managed Agents, session events",
    "types `agent.tool_use`, `agent.tool_result`, `agent.message` and others of that kind, without `data`",
    "platform.claude.com/docs/en/managed-agents/events-and-streaming",
)
SIGNS = Signs(types=("agent", "user", "session"))
ASIDE = frozenset(("metadata",))
CALLS = frozenset(("agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"))
RESULTS = frozenset(("agent.tool_result", "agent.mcp_tool_result", "user.custom_tool_result"))
SPEAKERS = {"user.message": "user", "agent.message": "assistant"}
EVENTS = ("agent.", "user.", "session.", "span.", "system.")


def claims(message: JsonObject) -> bool:
    is_said = kind_of(message) == "agent.message" and "content" in message
    return is_said or call(message) is not None or result(message) is not None


def read(message: JsonObject) -> Imported | None:
    kind, made, answer = kind_of(message), call(message), result(message)
    scope = text_or_empty(message.get("session_thread_id"))
    if made is not None:
        return Imported(NAME, "assistant", None, [made], scope=scope)
    if answer is not None:
        return Imported(NAME, results=[answer], scope=scope)
    if kind in SPEAKERS:
        return Imported(NAME, SPEAKERS[kind], shown_parts(message.get("content")), scope=scope)
    return Imported(NAME) if kind.startswith(EVENTS) else None


def call(wire: JsonObject) -> ToolCall | None:
    if kind_of(wire) not in CALLS or "data" in wire:
        return None
    server = text_or_empty(wire.get("mcp_server_name"))
    call_id, name = text_or_empty(wire.get("id")), text_or_empty(wire.get("name"))
    return ToolCall(wire, call_id, name, wire.get("input"), server)


def result(wire: JsonObject) -> ToolResult | None:
    if kind_of(wire) not in RESULTS or "data" in wire:
        return None
    call_id = first_given(wire, "tool_use_id", "mcp_tool_use_id", "custom_tool_use_id")
    is_error = wire.get("is_error") is True
    return ToolResult(wire, text_or_empty(call_id), "", wire.get("content"), is_error)
