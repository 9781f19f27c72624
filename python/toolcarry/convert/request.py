"""What is to be converted: messages as plain objects, and what their request says beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from toolcarry._input.document import LISTS, is_message, messages_of, open_body
from toolcarry._input.json import loads
from toolcarry._input.objects import MAX_DEPTH, Wire, as_list, as_object, plain
from toolcarry._pure.content import spoken_text
from toolcarry._pure.pairing import object_at
from toolcarry.convert.losses import Losses, listed
from toolcarry.convert.parts import Text, Turn
from toolcarry.errors import InputError

SYSTEM_KEYS = (
    "system",
    "instructions",
    "systemInstruction",
    "system_instruction",
    "gen_ai.system_instructions",
)
"""Where a request keeps its system prompt, if not among its messages."""


class Request(NamedTuple):
    """The messages, plain to any depth and nobody else's, and the system prompt that stood beside them."""

    messages: list[dict[str, Any]]
    system: list[Turn]


def open_request(given: Sequence[Any] | bytes, losses: Losses) -> Request:
    """The conversation in either door. Raises ``InputError`` where there is none."""
    if not isinstance(given, bytes):
        return Request(plain_messages(given), [])
    opened = open_body(given)
    messages = plain_messages(opened.messages)
    if opened.lines is not None:
        if opened.skipped_lines:
            losses.add(None, "skipped_lines", listed(opened.skipped_lines))
        return Request(messages, [])
    document = loads(given)
    if not isinstance(document, dict) or is_single(document):
        return Request(messages, [])
    known = {"messages", *LISTS, *SYSTEM_KEYS}
    settings = sorted(str(key) for key in document if key not in known)
    if settings:
        losses.add(None, "settings", listed(settings))
    return Request(messages, system_turns(document, losses))


def system_prompt(document: bytes) -> str:
    """What a request says to its model beside its messages; empty where that is nothing.

    >>> system_prompt(b'{"system": "Be brief.", "messages": []}')
    'Be brief.'
    """
    found = loads(document)
    turns = (
        system_turns(found, Losses()) if isinstance(found, dict) and not is_single(found) else []
    )
    return "\n\n".join(part.text for turn in turns for part in turn.parts if isinstance(part, Text))


def is_single(document: dict[str, Any]) -> bool:
    """Whether a document is one message by itself."""
    return messages_of(document) is None and (
        is_message(document) or not isinstance(document.get("input"), str)
    )


def plain_messages(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """Messages as dicts and lists of their own, so that an object is known by its identity."""
    found: list[dict[str, Any]] = []
    for position, message in enumerate(messages):
        try:
            found.append(plain(object_at(position, message), 1))
        except RecursionError:
            raise InputError(
                f"message {position} is nested deeper than {MAX_DEPTH}", position
            ) from None
    return found


def system_turns(document: dict[str, Any], losses: Losses) -> list[Turn]:
    """The system prompt of a request: a text, parts, or an object that holds parts."""
    system = next((document[key] for key in SYSTEM_KEYS if document.get(key)), None)
    holder = as_object(system)
    parts = as_list(holder.get("parts") if holder is not None else system)
    blocks: list[Wire] = [part for part in map(as_object, parts or ()) if part is not None]
    texts = [Text(None, spoken_text([block]), block) for block in blocks]
    if isinstance(system, str):
        texts = [Text(None, system, {})]
    elif len(texts) < len(parts or ()) or any(not text.text for text in texts):
        losses.add(None, "unknown", "parts of the system prompt that are no text")
    texts = [text for text in texts if text.text]
    return [Turn("system", tuple(texts))] if texts else []
