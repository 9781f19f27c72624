"""The wire shapes, a reader for each family. A new one is a file here and its name in this list; its twin is in Rust."""

from typing import Final

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
from toolcarry._pure.formats.message import Shape

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
