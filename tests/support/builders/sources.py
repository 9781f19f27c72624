"""One conversation in every format: two calls at once, a failing one, a single one, and the texts around them."""

from __future__ import annotations

from support.builders.sources_agents import (
    ATIF,
    CLAUDE_CODE,
    CODEX,
    LANGCHAIN,
    OPENHANDS,
    OPENTELEMETRY,
    SWE_AGENT,
)
from support.builders.sources_providers import (
    ANTHROPIC,
    BEDROCK,
    GEMINI,
    OLLAMA,
    OPENAI,
    RESPONSES,
    JsonObject,
)

SOURCES: dict[str, list[JsonObject]] = {
    "anthropic": ANTHROPIC,
    "openai": OPENAI,
    "responses": RESPONSES,
    "ollama": OLLAMA,
    "claude code": CLAUDE_CODE,
    "codex": CODEX,
    "gemini": GEMINI,
    "bedrock": BEDROCK,
    "langchain": LANGCHAIN,
    "openhands": OPENHANDS,
    "opentelemetry": OPENTELEMETRY,
    "atif": ATIF,
    "swe-agent": SWE_AGENT,
}
HAVE_ERRORS = ("anthropic", "claude code", "gemini", "bedrock", "langchain", "openhands")
"""The shapes that say that a result is a failure."""
