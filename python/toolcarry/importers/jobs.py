"""Jobs on imported messages: find the format of a conversation, prepare a block for ``explain``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolcarry._input.objects import JsonObject, as_object
from toolcarry.errors import NeedsImport
from toolcarry.importers.messages import Import
from toolcarry.importers.read import read_message
from toolcarry.model.formats.message import MessageParts
from toolcarry.model.pairing.block import Entry
from toolcarry.model.pairing.given_blocks import to_entry
from toolcarry.types.values import ToolBlock

__all__ = ["entry_of", "format_of"]


def entry_of(block: ToolBlock, age: int) -> Entry:
    """Return a block as an entry, the form in which the steps use it."""
    try:
        return to_entry(block, age)
    except NeedsImport:
        (block,) = Import().blocks([block])
        return to_entry(block, age)


def format_of(messages: Iterable[Any]) -> str:
    """Return the format of messages, as ``inspect`` reports it: ``mixed`` if there are several, ``unknown`` without any."""
    names = {name_of(as_object(message) or {}) for message in messages} - {""}
    return names.pop() if len(names) == 1 else "mixed" if names else "unknown"


def name_of(message: JsonObject) -> str:
    """Return the format of a message, or of a session record; empty if it fits any."""
    if "uuid" in message and ("message" in message or "parentUuid" in message):
        return "claude-code"
    return read_message(message, message.get("role"), MessageParts())
