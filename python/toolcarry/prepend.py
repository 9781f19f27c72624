"""Where a carry-over context goes: before what the user says, in the shape that the message has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from toolcarry._input.objects import Wire, as_list, as_object, text_or_empty
from toolcarry.errors import InputError

__all__ = ["is_result_part", "prepend_summary_to_user_message"]

RESULTS: Final = ("toolResult", "functionResponse", "function_response", "toolResponse")
"""The members by which a part of Bedrock's or Gemini's is a result."""


def prepend_summary_to_user_message(message: Mapping[str, Any], context: str) -> dict[str, Any]:
    """A new message: ``context`` before what the user says in ``message``, which stays as it is.

    Where the message holds a list of parts, the context is a text part of its own, as the provider writes one; it
    stands behind tool results, which providers want first. An empty context changes nothing.
    Raises ``InputError`` for a message that is none.

    >>> prepend_summary_to_user_message({"role": "user", "content": "Go on."}, "[CONTEXT ...]")["content"]
    '[CONTEXT ...]\\n\\nGo on.'
    >>> prepend_summary_to_user_message({"role": "user", "parts": [{"text": "Go on."}]}, "[CONTEXT ...]")["parts"]
    [{'text': '[CONTEXT ...]'}, {'text': 'Go on.'}]
    """
    given = as_object(message)
    if given is None:
        raise InputError(f"message 0 is not an object, but {type(message).__name__}")
    new = dict(given)
    if not context:
        return new
    content, parts = new.get("content"), as_list(new.get("parts"))
    if content is None and parts is not None:
        new["parts"] = with_part(parts, {"text": context})  # Gemini
    elif content is None or content == "":
        new["content"] = context
    elif isinstance(content, str):
        new["content"] = f"{context}\n\n{content}"
    else:
        parts = as_list(content)
        if parts is None:
            kind = type(content).__name__
            raise InputError(f"content is neither text nor a list of parts, but {kind}")
        new["content"] = with_part(parts, text_part(new, parts, context))
    return new


def text_part(message: Wire, parts: Sequence[object], text: str) -> dict[str, Any]:
    """``text`` as a part beside these: with a type, but for Bedrock; Responses has a type of its own."""
    given = [part for part in map(as_object, parts) if part is not None]
    if any("type" not in part for part in given):
        return {"text": text}
    is_item = message.get("type") == "message" or any(
        text_or_empty(part.get("type")).startswith("input_") for part in given
    )
    return {"type": "input_text" if is_item else "text", "text": text}


def with_part(parts: Sequence[object], part: dict[str, Any]) -> list[Any]:
    """``parts`` with one more, behind those that hold tool results."""
    place = 0
    while place < len(parts) and is_result_part(parts[place]):
        place += 1
    return [*parts[:place], part, *parts[place:]]


def is_result_part(item: object) -> bool:
    """Whether a part of a message is a tool's result."""
    part = as_object(item) or {}
    return part.get("type") == "tool_result" or any(key in part for key in RESULTS)
