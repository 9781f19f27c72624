"""A conversation that is larger than the window of the agent: old results are shortened, then its beginning retold.

beginning | middle | end  ->  context of the beginning | end, with shortened results
"""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from toolcarry._util.plural import counted
from toolcarry.api.context import carry
from toolcarry.api.projection import project
from toolcarry.api.tokens import estimate_tokens
from toolcarry.types.policy import CarryPolicy
from toolcarry.types.results import Converted, Loss

__all__ = ["fit"]

MODELS: Final = {"anthropic": "claude-sonnet-4-5", "responses": "gpt-5"}
"""The models used to count a conversation's tokens, by the format of their provider."""
CONTEXT_SHARE: Final = 4
"""The context of the beginning takes at most this part of the limit: one of four."""
LEAST_BYTES: Final = 2
"""A token has at least this many bytes of JSON, so that a small conversation is not counted."""


def fit(converted: Converted, limit: int, source: str) -> Converted:
    """Return a conversation of at most ``limit`` tokens, as far as that is possible.

    What was done is added to the losses, which name ``source``, the file with the full conversation. If the oldest
    turns must go, the first message is the context that ``carry`` makes of them.

    >>> talk = [{"role": "user", "content": "Count the hens."}]
    >>> fit(Converted("anthropic", talk), 1_000, "barn.jsonl").losses
    ()
    """
    messages = converted.messages
    model = MODELS.get(converted.target, "gpt-5")
    if sum(map(size_of, messages)) <= LEAST_BYTES * limit:
        return converted
    before = estimate_tokens(messages, model=model).value
    if before <= limit:
        return converted
    smaller = project(messages, max_request_tokens=limit, model=model)
    dropped = sum(1 for each in smaller.report.replacements if each.reason == "dropped")
    shortened = len(smaller.report.replacements) - dropped
    kept = smaller.messages
    told = f"of {before:,} tokens; the whole is in {source}"
    losses = []
    if shortened:
        losses.append(Loss(None, "shortened", f"{counted(shortened, 'result')} {told}"))
    if len(kept) < len(messages):
        room = limit // CONTEXT_SHARE
        end = project(messages, max_request_tokens=limit - room, model=model).messages
        kept = end[1:]  # the first message stays in a projection, and the context has it too
        beginning = messages[: len(messages) - len(kept)]
        policy = CarryPolicy(max_tokens=room, model=model)
        context = carry(beginning, policy=policy).text
        kept = with_beginning(kept, context, first_text(beginning))
        what = f"the first {counted(len(beginning), 'message')} {told}"
        losses.append(Loss(None, "retold", what))
    return replace(converted, messages=kept, losses=(*losses, *converted.losses))


def size_of(value: Any) -> int:
    """Return about how many characters a value takes."""
    if isinstance(value, str):
        return len(value.encode("utf-8", "replace"))
    if isinstance(value, dict):
        return sum(map(size_of, value.values())) + 8 * len(value)
    return sum(map(size_of, value)) if isinstance(value, list) else 8


def first_text(messages: list[dict[str, Any]]) -> str:
    """Return the first request of the user."""
    for message in messages:
        content = message.get("content")
        if message.get("role") != "user":
            continue
        if isinstance(content, str):
            return content
        for part in content or ():
            if isinstance(part.get("text"), str):
                return str(part["text"])
    return ""


def with_beginning(
    messages: list[dict[str, Any]], context: str, asked: str
) -> list[dict[str, Any]]:
    """Return messages after a context, which is a message of the user."""
    text = "\n\n".join(filter(None, (context, asked)))
    if not text:
        return messages
    first = messages[0] if messages else {}
    if first.get("role") == "user" and isinstance(first.get("content"), str):
        return [{**first, "content": f"{text}\n\n{first['content']}"}, *messages[1:]]
    return [{"role": "user", "content": text}, *messages]
