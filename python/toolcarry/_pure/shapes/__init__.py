"""The wire shapes, a reader for each family. A new one is a file here, its twin in Rust, and a line in these lists."""

from typing import Final

from toolcarry._pure.said import Shape
from toolcarry._pure.shapes import (
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

WITH_CONTENT: Final[tuple[Shape, ...]] = (swe_agent, chat, anthropic, bedrock)
"""The shapes whose messages have a role and a content, in the order in which they are asked."""

SHAPES: Final[tuple[Shape, ...]] = (
    gemini,
    opentelemetry,
    responses,
    codex,
    langchain,
    openhands,
    atif,
    swe_agent,
    anthropic,
    bedrock,
    chat,
)
"""All shapes, in the order in which they are asked. The last one takes any call and any result for its own."""
