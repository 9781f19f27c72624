"""What a message says, whatever format it is in: its tool calls, its tool results, and what was spoken.

Every message is recognised by its own structure, so that a conversation may mix formats; there is a reader for each family
that a request path meets, and for those of Claude Code and Codex. A new one is a file here and its name in these lists; what
other producers write is imported: ``toolcarry.importers``. A structure that nobody knows has no calls and no results. Where
an importer may know it, ``NeedsImport`` is raised: the caller is to import the messages, and to ask again.
Calls and results are handed on as the wire's own objects, with what was read of them.
"""

from __future__ import annotations

from typing import Final

from toolcarry._input.objects import Wire, text_or_empty
from toolcarry._pure.formats import anthropic, bedrock, chat, codex, gemini, responses
from toolcarry._pure.formats.foreign import is_dialect, is_foreign, is_foreign_part
from toolcarry._pure.formats.message import Said, Shape, Spoken, ToolCall, ToolResult
from toolcarry.errors import NeedsImport

WITH_CONTENT: Final[tuple[Shape, ...]] = (chat, anthropic, bedrock)
"""The shapes whose messages have a role and a content. Chat stands before Anthropic, since its messages may hold
Anthropic's blocks as well."""

OTHERS: Final[tuple[Shape, ...]] = (gemini, responses, codex)
"""The shapes whose messages have them elsewhere: they are asked first, unless a message has both."""

SHAPES: Final[tuple[Shape, ...]] = (*OTHERS, *WITH_CONTENT)
"""All shapes, in the order in which they are asked."""

UNKNOWN = "unknown"
"""The name of a tool that nothing names."""

SPEAKERS = {
    "user": "USER",
    "human": "USER",
    "assistant": "ASSISTANT",
    "ai": "ASSISTANT",
    "AIMessageChunk": "ASSISTANT",
    "model": "ASSISTANT",
    "agent": "ASSISTANT",
}
"""Who speaks, by what the shapes call them."""


def read_message(message: Wire, role: object, said: Said) -> str:
    """Take in what a message of this role says; the name of its shape, empty where it fits any."""
    if is_dialect(message, role):
        raise NeedsImport
    has_content = role is not None and message.get("content") is not None
    for shape in () if has_content else OTHERS:
        name = shape.read(message, role, said)
        if name:
            return name
    if is_foreign(message, role):
        raise NeedsImport
    for shape in WITH_CONTENT:
        name = shape.read(message, role, said)
        if name:
            return name
    return ""


def read_call(wire: Wire) -> ToolCall:
    """What a call says that stands by itself; what is of no other shape is read as Chat's."""
    for shape in SHAPES:
        call = shape.call(wire)
        if call is not None:
            return call
    if is_foreign_part(wire):
        raise NeedsImport
    return chat.to_call(wire)


def read_listed_call(wire: Wire) -> ToolCall:
    """Read a call in a message's ``tool_calls``: it is Chat's, even if it looks like an importer's."""
    try:
        return read_call(wire)
    except NeedsImport:
        return chat.to_call(wire)


def read_result(wire: Wire) -> ToolResult:
    """What a result says that stands by itself; what is of no other shape is read as Chat's."""
    for shape in SHAPES:
        result = shape.result(wire)
        if result is not None:
            return result
    if is_foreign_part(wire):
        raise NeedsImport
    return chat.to_result(wire)


def read_spoken(message: Wire) -> Spoken:
    """Who speaks in a message, and what is said; of a message that needs an importer nothing may be known."""
    role, content = message.get("role"), message.get("content")
    plain = Spoken(text_or_empty(role), content)
    if role is not None and content is not None:
        return plain
    found = (shape.spoken(message) for shape in SHAPES)
    return next((spoken for spoken in found if spoken is not None), plain)
