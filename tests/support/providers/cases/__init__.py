"""What the judge of requests lets pass and what it refuses, rule by rule.

A case is the rule in words, messages that keep it, messages that break it by a little, and a part of what is then said.
"""

from typing import Any

from . import anthropic, bedrock, gemini, ollama, openai, responses

Case = tuple[str, list[dict[str, Any]], list[dict[str, Any]], str]

CASES: dict[str, list[Case]] = {
    "anthropic": anthropic.CASES,
    "openai": openai.CASES,
    "responses": responses.CASES,
    "ollama": ollama.CASES,
    "gemini": gemini.CASES,
    "bedrock": bedrock.CASES,
}
