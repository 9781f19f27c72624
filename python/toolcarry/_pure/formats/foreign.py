"""Recognise messages that an importer has to read, by certain keys. A backend then raises ``NeedsImport``.

The importers are in front of the backends (``toolcarry.importers``); the keys are in
``_data/importers.json``, which the Rust core reads too.
"""

from __future__ import annotations

from typing import Final

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty

FOREIGN_KEYS: Final = frozenset[str](read_table("importers")["foreign_keys"])
"""The keys of messages, calls and results that an importer may know."""
FOREIGN_TYPES: Final[tuple[str, ...]] = tuple(read_table("importers")["foreign_types"])
"""The beginnings of types of calls and results that are in no request format."""


def is_dialect(message: JsonObject, role: object) -> bool:
    """Return whether a message is one of SWE-agent, which looks like OpenAI Chat except for one member."""
    if role == "tool":
        return "tool_call_ids" in message
    return role == "assistant" and "message_type" in message


def is_foreign(message: JsonObject, role: object) -> bool:
    """Return whether an importer may know a message that no format fits."""
    if role is not None and message.get("content") is not None:
        return False
    is_record = "uuid" in message or as_object(message.get("message")) is not None
    if role is None and not is_record and not FOREIGN_KEYS.isdisjoint(message):
        return True
    parts = map(as_object, as_list(message.get("parts")) or ())
    return any(part is not None and "type" in part for part in parts)


def is_foreign_part(wire: JsonObject) -> bool:
    """Return whether an importer may know a call or a result without its message."""
    return not FOREIGN_KEYS.isdisjoint(wire) or text_or_empty(wire.get("type")).startswith(
        FOREIGN_TYPES
    )
