"""Answers without their request, as a cassette or a log has them: Gemini and Bedrock Converse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry.importers.producers.base import About, Signs, nothing, objects

NAME = "provider-answer"
ABOUT = About(
    "An answer of Gemini or Bedrock Converse",
    "`candidates` with a `content`; `output` with a `message`, and a `stopReason`",
    "the API references: GenerateContentResponse, Converse",
)
SIGNS = Signs(("candidates", "output"))


def claims(message: JsonObject) -> bool:
    return message_of(message) is not None


def message_of(answer: JsonObject) -> JsonObject | None:
    """Return the message of the first candidate, or of the output."""
    candidates = objects(answer.get("candidates"))
    content = as_object(candidates[0].get("content")) if candidates else None
    if content is not None and as_list(content.get("parts")) is not None:
        return {"role": "model", **content}
    output = as_object(answer.get("output"))
    message = as_object(output.get("message")) if output and "stopReason" in answer else None
    return message if message is not None and "role" in message else None


read = call = result = nothing


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Return the messages of all answers, in their order."""
    for item in items:
        answer = as_object(item)
        message = None if answer is None else message_of(answer)
        yield item if message is None else message
