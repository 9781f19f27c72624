"""System prompts among the messages: those at the beginning are the client's, those from the middle stand with the request.

Anthropic takes one from the middle only behind a user's message, and before the model's or at the end; no two in a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Final

from toolcarry.switch.entries import role_in
from toolcarry.wire import Wire, as_list, as_object

__all__ = ["join_prompts", "leading_prompts"]

JOINED: Final = {"role", "content"}
"""The members of a prompt that is nothing else, and may be one with another."""


def leading_prompts(messages: Sequence[Any]) -> list[Any]:
    """The system prompts at the beginning."""
    return list(takewhile(is_prompt, messages))


def join_prompts(messages: Sequence[Any]) -> list[Any]:
    """System prompts with those that follow one another made one.

    >>> join_prompts([{"role": "system", "content": "Be brief."}, {"role": "system", "content": "Use tabs."}])
    [{'role': 'system', 'content': 'Be brief.\\n\\nUse tabs.'}]
    """
    joined: list[Any] = []
    for message in messages:
        one = together(joined[-1], message) if joined else None
        if one is None:
            joined.append(message)
        else:
            joined[-1] = one
    return joined


def is_prompt(message: object) -> bool:
    return role_in(as_object(message) or {}) == "system"


def together(first: Any, second: Any) -> dict[str, Any] | None:
    """Two prompts as one; ``None`` where they are none, or say more than a text."""
    if not (is_prompt(first) and is_prompt(second)):
        return None
    if not (first.keys() == second.keys() == JOINED and first["role"] == second["role"]):
        return None
    texts = first["content"], second["content"]
    if all(isinstance(text, str) for text in texts):
        return {**first, "content": "\n\n".join(texts)}
    return {**first, "content": [*parts_of(first), *parts_of(second)]}


def parts_of(prompt: Wire) -> list[Any]:
    content = prompt["content"]
    return list(as_list(content) or [{"type": "text", "text": content}])
