"""LlamaIndex: chat messages of ``blocks``, with calls there or in ``additional_kwargs``."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
    objects,
    shown_parts,
)
from toolcarry.model.formats import chat

NAME = "llama-index"
ABOUT = About(
    "LlamaIndex, ChatMessage",
    "a `role` next to `blocks` with a `block_type`",
    "llama-index-core 0.14.25, real dumps",
)
SIGNS = Signs(("blocks", "additional_kwargs", "tool_call"))
ASIDE = frozenset(("additional_kwargs",))
SILENT = frozenset(("thinking",))
TOOLS = ("tool", "function")


def claims(message: JsonObject) -> bool:
    blocks = objects(message.get("blocks"))
    return isinstance(message.get("role"), str) and any("block_type" in block for block in blocks)


def read(message: JsonObject) -> Imported | None:
    # A message that only calls tools may have no blocks.
    is_own = isinstance(message.get("role"), str) and "additional_kwargs" in message
    if not claims(message) and not (is_own and message.get("blocks") == []):
        return None
    blocks, role = objects(message["blocks"]), text_or_empty(message["role"])
    answer = result(message)
    if answer is not None:
        return Imported(NAME, results=[answer])
    calls = [made for block in blocks if (made := call(block))]
    more = as_object(message.get("additional_kwargs")) or {}
    known = {each.call_id for each in calls}
    calls += [
        chat.to_call(entry)
        for entry in objects(more.get("tool_calls"))
        if text_or_empty(entry.get("id")) not in known
    ]
    content = shown_parts(blocks, (*SILENT, "tool_call"), kind="block_type")
    return Imported(NAME, role, content, calls)


def call(wire: JsonObject) -> ToolCall | None:
    if kind_of(wire, "block_type") != "tool_call":
        return None
    call_id, name = text_or_empty(wire.get("tool_call_id")), text_or_empty(wire.get("tool_name"))
    return ToolCall(wire, call_id, name, wire.get("tool_kwargs"))


def result(wire: JsonObject) -> ToolResult | None:
    if wire.get("role") not in TOOLS or "blocks" not in wire:
        return None
    more = as_object(wire.get("additional_kwargs")) or {}
    call_id, name = text_or_empty(more.get("tool_call_id")), text_or_empty(more.get("name"))
    content = shown_parts(wire["blocks"], kind="block_type")
    return ToolResult(wire, call_id, name, content, False)
