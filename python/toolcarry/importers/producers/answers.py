"""Answers without their request, as a cassette or a log has them: OpenAI Chat Completions and Responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry.importers.producers.base import About, Signs, kind_of, nothing, objects

NAME = "openai-answer"
ABOUT = About(
    "An answer of OpenAI Chat Completions or Responses",
    "`choices` with a `message`; `object` `response` with `output`",
    "OpenAI's API reference: chat/object, responses/object",
)
SIGNS = Signs(("choices",))


def claims(message: JsonObject) -> bool:
    return "extra" not in message and bool(messages_of(message))  # else it is mini-swe-agent's


def messages_of(answer: JsonObject) -> list[Any]:
    """Return the message of the first choice, or the items of a response."""
    if kind_of(answer, "object") == "response":
        return list(as_list(answer.get("output")) or ())
    choices = objects(answer.get("choices"))
    message = as_object(choices[0].get("message")) if choices else None
    return [] if message is None or "role" not in message else [message]


read = call = result = nothing


def fold(items: Sequence[Any]) -> Sequence[Any]:
    """Return the messages of all answers, in their order."""
    found: list[Any] = []
    for item in items:
        answer = as_object(item)
        messages = [] if answer is None else messages_of(answer)
        found += messages or [item]
    return found
