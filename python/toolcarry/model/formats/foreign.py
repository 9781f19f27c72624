"""Recognise messages that an importer has to read, by certain signs. The readers then return ``None``.

The importers run before the backends (``toolcarry.importers``), and each defines the signs by which it may recognise a
message.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final, NamedTuple

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty

IMPORTED: Final = "imported"
"""The member of a message that was imported."""
CALL_ID: Final = "call_id"
"""A member that only Cline adds to Anthropic's calls. Cline's results may be text blocks, so an importer reads them."""
END_ROLE: Final = "exit"
"""The role of the last message of mini-swe-agent, by which its conversations are recognised."""


class Signs(NamedTuple):
    """The keys and types that make a backend ask the importers about an object that no reader knows.

    Producers may share a sign. Choose rare ones: an object that has a sign by chance is read in Python for nothing.
    """

    keys: tuple[str, ...] = ()
    """Members of a message, a part, a call or a result."""
    types: tuple[str, ...] = ()
    """The beginnings of their types."""


@cache
def signs() -> Signs:
    """Return the signs of all importers, which are loaded now: an object that no reader knows is rare."""
    found: Signs = import_module("toolcarry.importers.producers").SIGNS
    return found


def is_dialect(message: JsonObject, role: object) -> bool:
    """Return whether a message is one of SWE-agent, which looks like OpenAI Chat except for one member."""
    if role == "tool":
        return message.get("tool_call_ids") is not None
    return role == "assistant" and message.get("message_type") is not None


def has_typed_parts(message: JsonObject, role: object) -> bool:
    """Return whether a message has parts with types, which no request format has outside of a content."""
    if role is not None and message.get("content") is not None:
        return False
    parts = map(as_object, as_list(message.get("parts")) or ())
    return any(part is not None and part.get("type") is not None for part in parts)


def has_foreign_call(content: object) -> bool:
    """Return true if a part of a content is a call that only Cline writes."""
    parts = map(as_object, as_list(content) or ())
    return any(part is not None and is_foreign_call(part, part.get("type")) for part in parts)


def is_foreign_call(part: JsonObject, kind: object) -> bool:
    """Return true if a part of this type is a call that only Cline writes."""
    return kind == "tool_use" and part.get(CALL_ID) is not None


def is_candidate(unread: JsonObject) -> bool:
    """Return whether an importer may know a message, or a part, that no reader knows.

    Lines of Claude Code, whose types are many and new, have a ``sessionId``.
    """
    keys, types = signs()
    if any(key in unread for key in keys):
        return True
    return "sessionId" not in unread and text_or_empty(unread.get("type")).startswith(types)


def is_foreign_part(wire: JsonObject) -> bool:
    """Return whether an importer may know a call or a result without its message.

    A call of Chat has a function, which is an object; only as a name is it a member of another producer.
    """
    return is_candidate(wire) and as_object(wire.get("function")) is None
