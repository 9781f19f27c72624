"""Letta: an agent file, which holds agents with their messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolResult,
    each_object,
    kind_of,
    many,
    nothing,
    objects,
    shown_parts,
)
from toolcarry.model.formats import chat

NAME = "letta"
ABOUT = About(
    "Letta, an agent file (.af) with one agent",
    "`agents` with `messages` next to `blocks` or `tools`",
    "letta-ai/letta, letta/schemas/agent_file.py",
)
SIGNS = Signs(("agents", "tool_call"), ("tool", "reasoning", "message"))
ASIDE = frozenset(
    (
        "metadata",
        "blocks",
        "sources",
        "system",
        "groups",
        "files",
        "mcp_servers",
        "tool_rules",
        "llm_config",
        "embedding_config",
        "metadata_",
    )
)
SILENT = frozenset(("reasoning", "redacted_reasoning", "omitted_reasoning"))
CALLS = ("tool_call", "tool_return")


def claims(message: JsonObject) -> bool:
    has_more = "blocks" in message or "tools" in message
    return has_more and any(any(messages_of(each)) for each in each_object(message.get("agents")))


def messages_of(agent: JsonObject) -> Iterator[JsonObject]:
    return (each for each in each_object(agent.get("messages")) if "role" in each)


def read(message: JsonObject) -> Imported | None:
    role = message.get("role")
    if not isinstance(role, str):
        return None
    if role == "tool":
        # A message with several returns has them in a list, and the first of them as its content too.
        returned = [
            each for entry in objects(message.get("tool_returns")) if (each := to_return(entry))
        ]
        answer = result(message)
        return Imported(NAME, results=returned or ([] if answer is None else [answer]))
    calls = [chat.to_call(entry) for entry in objects(message.get("tool_calls"))]
    return Imported(NAME, role, shown_parts(message.get("content"), (*SILENT, *CALLS)), calls)


def to_return(entry: JsonObject) -> ToolResult | None:
    content = entry.get("func_response")
    if "status" not in entry or not isinstance(entry.get("tool_call_id"), str) or content is None:
        return None
    return ToolResult(entry, entry["tool_call_id"], "", content, entry["status"] == "error")


call = nothing


def result(wire: JsonObject) -> ToolResult | None:
    if wire.get("role") != "tool" or "tool_returns" not in wire:
        return to_return(wire) if "func_response" in wire else None
    call_id, name = text_or_empty(wire.get("tool_call_id")), kind_of(wire, "name")
    return ToolResult(
        wire, call_id, name, shown_parts(wire.get("content"), (*SILENT, *CALLS)), False
    )


def fold(items: Sequence[Any]) -> Iterable[Any]:
    """Return the messages of the only agent that has some."""
    file = as_object(items[0]) if len(items) == 1 else None
    found = [each for each in each_object((file or {}).get("agents")) if any(messages_of(each))]
    if len(found) > 1:
        raise many(len(found), "agents")
    return messages_of(found[0]) if found else items
