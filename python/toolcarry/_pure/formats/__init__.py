"""What a message says, whatever format it is in: its tool calls, its tool results, and what was spoken.

Every message is recognised by its own structure, so that a conversation may mix formats; there is a reader for each family.
A new one is a file here and its name in this list. A structure that nobody knows has no calls and no results.
Calls and results are handed on as the wire's own objects, with what was read of them.
"""

from __future__ import annotations

from typing import Final

from toolcarry._input.objects import Wire, text_or_empty
from toolcarry._pure.formats import (
    anthropic,
    atif,
    bedrock,
    chat,
    codex,
    gemini,
    langchain,
    openhands,
    opentelemetry,
    responses,
    swe_agent,
)
from toolcarry._pure.formats.message import Said, Shape, Spoken, ToolCall, ToolResult

WITH_CONTENT: Final[tuple[Shape, ...]] = (swe_agent, chat, anthropic, bedrock)
"""The shapes whose messages have a role and a content. Chat stands before Anthropic, since its messages may hold
Anthropic's blocks as well."""

SHAPES: Final[tuple[Shape, ...]] = (
    gemini,
    opentelemetry,
    responses,
    codex,
    langchain,
    openhands,
    atif,
    *WITH_CONTENT,
)
"""All shapes, in the order in which they are asked; of a message with a role and a content, only those that have both."""


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
    has_content = role is not None and message.get("content") is not None
    for shape in WITH_CONTENT if has_content else SHAPES:
        name = shape.read(message, role, said)
        if name:
            return name
    return ""


def read_call(wire: Wire) -> ToolCall:
    """What a call says that stands by itself; what is of no other shape is read as Chat's."""
    found = (shape.call(wire) for shape in SHAPES)
    return next((call for call in found if call is not None), None) or chat.to_call(wire)


def read_result(wire: Wire) -> ToolResult:
    """What a result says that stands by itself; what is of no other shape is read as Chat's."""
    found = (shape.result(wire) for shape in SHAPES)
    return next((result for result in found if result is not None), None) or chat.to_result(wire)


def read_spoken(message: Wire) -> Spoken:
    """Who speaks in a message, and what is said."""
    role, content = message.get("role"), message.get("content")
    plain = Spoken(text_or_empty(role), content)
    if role is not None and content is not None:
        return plain
    found = (shape.spoken(message) for shape in SHAPES)
    return next((spoken for spoken in found if spoken is not None), plain)
