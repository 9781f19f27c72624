"""Read messages in all request formats: their tool calls, their tool results, and their text.

Every message is recognised by its own structure, so that a conversation may mix formats. A format is recognised by what
its provider requires; nothing is read as the nearest one. There is one reader for each
family of requests, and for the sessions of Claude Code and Codex. A new one is a file here and its name in these lists;
formats of other producers are imported: ``toolcarry.importers.producers``. A message of unknown structure has no calls and no
results, and is reported as unread. If an importer may know it, the readers return ``None``: the messages have to be imported.
Calls and results are passed on as objects of the input, with the fields that were read of them.
"""

from __future__ import annotations

from typing import Final

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, text_or_empty
from toolcarry.model.formats import anthropic, bedrock, chat, codex, gemini, responses
from toolcarry.model.formats.foreign import (
    END_ROLE,
    IMPORTED,
    has_foreign_call,
    has_typed_parts,
    is_candidate,
    is_dialect,
    is_foreign_part,
)
from toolcarry.model.formats.in_text import is_in_text
from toolcarry.model.formats.message import Format, MessageParts, Spoken, ToolCall, ToolResult
from toolcarry.model.formats.unread import has_unread_text, is_known

_WITH_CONTENT: Final[tuple[Format, ...]] = (chat, anthropic, bedrock)
"""The shapes whose messages have a role and a content. Chat comes before Anthropic, since its messages may hold
Anthropic's blocks as well."""

_OTHERS: Final[tuple[Format, ...]] = (gemini, responses, codex)
"""The shapes with other members. They are tried first, unless a message has a role and a content."""

FORMATS: Final[tuple[Format, ...]] = (*_OTHERS, *_WITH_CONTENT)
"""All shapes, in the order in which they are tried."""

UNKNOWN = "unknown"
"""The name of a tool whose name is unknown."""

USER: Final = "USER"
SPEAKERS: Final[dict[str, str]] = {
    **dict.fromkeys(read_table("roles")["user_roles"], USER),
    **dict.fromkeys(read_table("roles")["assistant_roles"], "ASSISTANT"),
}
"""The speakers, by their names in the shapes."""


def read_message(message: JsonObject, role: object, message_parts: MessageParts) -> str | None:
    """Add the calls and results of a message with this role to ``message_parts``. Return its shape; empty if it fits any.

    What no format knows becomes ``message_parts.unread``. Returns ``None`` if an importer may know it.
    """
    name = _read(message, role, message_parts)
    unread = message_parts.unread
    needs_import = message_parts.is_foreign or (unread is not None and is_candidate(unread))
    return None if needs_import and IMPORTED not in message else name


def _read(message: JsonObject, role: object, message_parts: MessageParts) -> str | None:
    if is_dialect(message, role):
        return None
    has_content = role is not None and message.get("content") is not None
    for shape in () if has_content else _OTHERS:
        name = shape.read(message, role, message_parts)
        if name:
            return name
    if has_typed_parts(message, role) and IMPORTED not in message:
        return None
    for shape in _WITH_CONTENT:
        name = shape.read(message, role, message_parts)
        if name:
            if message_parts.unread is None and has_unread_text(message, role):
                message_parts.unread = message
            return name
    if message_parts.unread is None and (not is_known(message, role) or is_in_text(message, role)):
        message_parts.unread = message
    return ""


def read_call(wire: JsonObject) -> ToolCall | None:
    """Read a call without its message; ``None`` if an importer may know it. One of no other shape is read as one of Chat."""
    for shape in FORMATS:
        call = shape.call(wire)
        if call is not None:
            return call
    return None if is_foreign_part(wire) else chat.to_call(wire)


def read_result(wire: JsonObject) -> ToolResult | None:
    """Read a result without its message, as ``read_call`` reads a call."""
    for shape in FORMATS:
        result = shape.result(wire)
        if result is not None:
            return result
    return None if is_foreign_part(wire) else chat.to_result(wire)


def needs_import(message: JsonObject, spoken: Spoken) -> bool:
    """Return true if only an importer can find the speaker, or the content, of a message.

    ``spoken`` is what the formats find in it.
    """
    role = message.get("role")
    is_found = spoken.speaker and spoken.content is not None and message.get("parts") is None
    if is_found and role != END_ROLE and not has_foreign_call(spoken.content):
        return False
    return read_message(message, role, MessageParts()) is None


def read_spoken(message: JsonObject) -> Spoken:
    """Return the speaker and the content of a message; both may be empty if it needs an importer."""
    role, content = message.get("role"), message.get("content")
    plain = Spoken(text_or_empty(role), content)
    if role is not None and content is not None:
        return plain
    found = (shape.spoken(message) for shape in FORMATS)
    return next((spoken for spoken in found if spoken is not None), plain)
