"""Inspect AI: the messages of a log's sample, in OpenAI Chat with the name of the function as ``function``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    many,
    objects,
    shown_parts,
)

NAME = "inspect-ai"
ABOUT = About(
    "Inspect AI, a log as JSON or .eval with one sample",
    "`samples` with `messages` next to `eval`; `tool_calls` whose `function` is a text",
    "inspect_ai 0.3.285, real logs",
)
SIGNS = Signs(("function", "samples"))
ASIDE = frozenset(
    (
        "metadata",
        "eval",
        "plan",
        "results",
        "stats",
        "reductions",
        "log_updates",
        "target",
        "choices",
        "scores",
        "store",
        "events",
        "sandbox",
        "setup",
        "output",
        "attachments",
    )
)

SILENT = frozenset(("reasoning",))
ATTACHMENT = "attachment://"


def claims(message: JsonObject) -> bool:
    is_log = "eval" in message and any(
        "messages" in each for each in objects(message.get("samples"))
    )
    return is_log or any(map(call, objects(message.get("tool_calls"))))


def read(message: JsonObject) -> Imported | None:
    answer = result(message)
    if answer is not None:
        return Imported(NAME, results=[answer])
    calls = [made for entry in objects(message.get("tool_calls")) if (made := call(entry))]
    if not calls:
        return None
    content = shown_parts(message.get("content"), SILENT)
    return Imported(NAME, text_or_empty(message.get("role")), content, calls)


def call(wire: JsonObject) -> ToolCall | None:
    name = wire.get("function")
    if not isinstance(name, str) or "arguments" not in wire or "role" in wire:
        return None
    return ToolCall(wire, text_or_empty(wire.get("id")), name, wire["arguments"])


def result(wire: JsonObject) -> ToolResult | None:
    if wire.get("role") != "tool" or "tool_call_id" not in wire or "function" not in wire:
        return None
    error = as_object(wire.get("error"))
    content = shown_parts(wire.get("content"))
    if error is not None and not content:
        content = error.get("message")
    call_id, name = text_or_empty(wire["tool_call_id"]), text_or_empty(wire["function"])
    return ToolResult(wire, call_id, name, content, error is not None)


def fold(items: Sequence[Any]) -> Sequence[Any]:
    """Return the messages of the only sample."""
    log = as_object(items[0]) if len(items) == 1 else None
    samples = objects((log or {}).get("samples"))
    if len(samples) > 1:
        raise many(len(samples), "samples")
    messages = as_list(samples[0].get("messages")) if samples else None
    if messages is None:
        return items
    attachments = as_object(samples[0].get("attachments"))
    return with_attachments(messages, attachments) if attachments else messages


def with_attachments(value: Any, attachments: JsonObject) -> Any:
    """Return a copy of a value with the attachments in place of their names; images and long texts are kept apart."""
    if isinstance(value, str):
        is_named = value.startswith(ATTACHMENT)
        return attachments.get(value.removeprefix(ATTACHMENT), value) if is_named else value
    if isinstance(value, (list, tuple)):
        return [with_attachments(item, attachments) for item in value]
    if isinstance(value, dict):
        return {key: with_attachments(item, attachments) for key, item in value.items()}
    return value
