"""Codex rollouts: records that hold an item of OpenAI Responses as their ``payload``.

The other kinds of records (``event_msg`` and its mirror of outputs, ``turn_context``, ``compacted``) only repeat the
items. The older flat form, in which the records are the items, is read as Responses.
"""

from __future__ import annotations

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry.model.formats import anthropic, responses
from toolcarry.model.formats.message import MessageParts, Spoken, ToolCall, ToolResult
from toolcarry.model.formats.unread import is_known

NAME = "codex"
CODEX_RECORDS: frozenset[str] = frozenset(read_table("responses")["codex_records"])
"""The kinds of records."""


def read(message: JsonObject, role: object, message_parts: MessageParts) -> str:
    payload = as_object(message.get("payload"))
    kind = text_or_empty(message.get("type"))
    if payload is None or role is not None or kind not in CODEX_RECORDS:
        return ""
    if kind == "response_item":
        read_item(payload, message_parts)
    return NAME


def read_item(item: JsonObject, message_parts: MessageParts) -> None:
    """Read an item of Responses: a call, a result, or a message with its parts."""
    role = item.get("role")
    if role is not None:
        anthropic.read(item, role, message_parts)
    elif responses.read(item, None, message_parts):
        return
    if message_parts.unread is None and not is_known(item, role):
        message_parts.note(item)


def call(_wire: JsonObject) -> ToolCall | None:
    return None


def result(_wire: JsonObject) -> ToolResult | None:
    return None


def spoken(message: JsonObject) -> Spoken | None:
    payload = as_object(message.get("payload"))
    if payload is None or message.get("type") != "response_item":
        return None
    return Spoken(text_or_empty(payload.get("role")), payload.get("content"))
