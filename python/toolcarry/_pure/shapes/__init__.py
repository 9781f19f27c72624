"""The wire shapes, a reader for each family that a request path meets, and those of Claude Code and Codex.

A new one is a file here and its name in this list; its twin is in Rust. What other producers write is imported:
``toolcarry.importers``.
"""

from typing import Final

from toolcarry._pure.said import Shape
from toolcarry._pure.shapes import anthropic, bedrock, chat, codex, gemini, responses

WITH_CONTENT: Final[tuple[Shape, ...]] = (chat, anthropic, bedrock)
"""The shapes whose messages have a role and a content. Chat stands before Anthropic, since its messages may hold
Anthropic's blocks as well."""

OTHERS: Final[tuple[Shape, ...]] = (gemini, responses, codex)
"""The shapes whose messages have them elsewhere: they are asked first, unless a message has both."""

SHAPES: Final[tuple[Shape, ...]] = (*OTHERS, *WITH_CONTENT)
"""All shapes, in the order in which they are asked."""
