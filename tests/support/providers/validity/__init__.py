"""Checks of a request's messages against a provider's rules for tool calls and their results.

Written from what the providers document and from the errors they answer with, and from nothing of this package:
it judges what the package makes. What a provider refuses for other reasons (a model's name, a schema, a size) is
not looked at, and neither is what no rule here names: a part of an unknown kind is taken for a good one.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import anthropic, bedrock, gemini, ollama, openai, responses

Check = Callable[[Sequence[Any]], Iterator[str]]

CHECKS: dict[str, Check] = {
    "anthropic": anthropic.problems,
    "openai": openai.problems,
    "responses": responses.problems,
    "ollama": ollama.problems,
    "gemini": gemini.problems,
    "bedrock": bedrock.problems,
}
PROVIDERS = tuple(CHECKS)


def problems(provider: str, messages: Sequence[Any]) -> list[str]:
    """Return what the provider would refuse in these messages, each with its place; empty if they are valid."""
    try:
        json.dumps(messages, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return ["the request body is not valid JSON: a lone surrogate"]
    return list(CHECKS[provider](messages))
