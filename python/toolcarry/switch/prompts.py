"""System prompts among the messages: those at the beginning are the client's, those from the middle stand with the request.

Anthropic takes one from the middle only behind a user's message, and before the model's or at the end; no two in a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, takewhile
from typing import Any, Final

from toolcarry._input.objects import Wire, as_list, as_object
from toolcarry.switch.entries import role_in

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
    for role, found in groupby(messages, plain_role):
        group = list(found)
        joined += group if role is None or len(group) == 1 else [together(role, group)]
    return joined


def is_prompt(message: object) -> bool:
    return role_in(as_object(message) or {}) == "system"


def plain_role(message: object) -> str | None:
    """By which role a message is a prompt that may be one with another; ``None`` where it is none."""
    prompt = as_object(message) or {}
    return prompt["role"] if is_prompt(prompt) and prompt.keys() == JOINED else None


def together(role: str, prompts: Sequence[Wire]) -> dict[str, Any]:
    """Several prompts as one."""
    contents = [prompt["content"] for prompt in prompts]
    if all(isinstance(content, str) for content in contents):
        return {"role": role, "content": "\n\n".join(contents)}
    return {"role": role, "content": [part for content in contents for part in parts_of(content)]}


def parts_of(content: Any) -> Sequence[Any]:
    return as_list(content) or [{"type": "text", "text": content}]
