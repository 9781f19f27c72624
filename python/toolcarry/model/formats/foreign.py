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
UNREAD_KEYS: Final = frozenset[str](read_table("importers")["unread_keys"])
"""The keys of messages and parts without a reader that an importer may know."""
UNREAD_TYPES: Final[tuple[str, ...]] = tuple(read_table("importers")["unread_types"])
"""The beginnings of their types."""
IMPORTED: Final[str] = read_table("importers")["imported"]
"""The member of a message that was imported."""

CALL_ID: Final = "call_id"
"""A member that only Cline adds to Anthropic's calls. Cline's results may be text blocks, so an importer reads them."""

END_ROLE: Final = "exit"
"""The role of the last message of mini-swe-agent, by which its conversations are recognised."""


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


def has_foreign_call(content: object) -> bool:
    """Return true if a part of a content is a call that only Cline writes."""
    parts = map(as_object, as_list(content) or ())
    return any(part is not None and is_foreign_call(part, part.get("type")) for part in parts)


def is_foreign_call(part: JsonObject, kind: object) -> bool:
    """Return true if a part of this type is a call that only Cline writes."""
    return kind == "tool_use" and CALL_ID in part


def is_candidate(unread: JsonObject) -> bool:
    """Return whether an importer may know a message, or a part, that no reader knows.

    Lines of Claude Code, whose types are many and new, have a ``sessionId``.
    """
    if not UNREAD_KEYS.isdisjoint(unread):
        return True
    return "sessionId" not in unread and text_or_empty(unread.get("type")).startswith(UNREAD_TYPES)


def is_foreign_part(wire: JsonObject) -> bool:
    """Return whether an importer may know a call or a result without its message.

    A call of Chat has a function, which is an object; only as a name is it a member of another producer.
    """
    kind = text_or_empty(wire.get("type"))
    if not FOREIGN_KEYS.isdisjoint(wire) or kind.startswith(FOREIGN_TYPES):
        return True
    return is_candidate(wire) and as_object(wire.get("function")) is None
