"""The fingerprint of a conversation: a hash of its messages that does not change with the usual edits of clients.

Clients drop thinking, move cache marks, add reminders to user messages and remove them again, and write text
sometimes as a string and sometimes as a part. None of that counts, nor do system prompts, which may contain the time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from toolcarry._input.json import dump
from toolcarry._input.objects import JsonObject, as_list, as_object, plain_message
from toolcarry.summarize import strip_injected
from toolcarry.switch.portable import portable_message
from toolcarry.switch.request_view import role_in

__all__ = ["Mark", "marks"]

SPOKEN: Final = frozenset(("role", "type", "content", "parts"))
"""The members of a message that is only spoken text."""
TAG: Final = b"toolcarry switch 1"


class Mark(NamedTuple):
    """The conversation up to a message: the number of messages that count, their digest, and the place of the next one."""

    length: int
    digest: str
    end: int


def marks(messages: Sequence[Any]) -> Iterator[Mark]:
    """Yield a mark for each message that counts, in order. Raises ``InputError`` for a message that is not an object.

    >>> said = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go on."}]
    >>> [(mark.length, mark.end) for mark in marks(said)]
    [(1, 2)]
    """
    state = hashlib.sha256(TAG)
    count = 0
    for position, message in enumerate(messages):
        record = plain_message(message, position)
        role = role_in(record)
        said = None if role == "system" else said_in(record, is_model=role == "assistant")
        if said is None:
            continue
        count += 1
        state.update(said)
        yield Mark(count, state.hexdigest(), position + 1)


def said_in(message: JsonObject, *, is_model: bool) -> bytes | None:
    """The bytes of a message that its fingerprint covers; ``None`` if there are none."""
    left = portable_message(message)
    if left is None:
        return None
    new = {key: value for key, value in left.items() if key != "status"}
    for key in ("content", "parts"):
        parts = [new[key]] if isinstance(new.get(key), str) else as_list(new.get(key))
        if parts is not None:
            plain = [plain_part(part, is_model=is_model) for part in parts]
            new[key] = [part for part in plain if part != ""]
    if new.keys() <= SPOKEN and not any(new.get(key) for key in ("content", "parts")):
        return None  # a reminder in a separate message
    return dump(new, is_sorted=True)


def plain_part(item: object, *, is_model: bool) -> object:
    """Return a part; one that is only text as that text, without the client's additions."""
    part = as_object(item)
    text = item if part is None else part.get("text")
    if not isinstance(text, str) or (part is not None and not part.keys() <= {"type", "text"}):
        return as_plain_results(part) if part is not None else item
    return text if is_model else strip_injected(text).strip()


def as_plain_results(part: JsonObject) -> JsonObject:
    """Return a part whose result content, if it is a list of one text, is that text: clients write it either way."""
    held = as_list(part.get("content"))
    only = as_object(held[0]) if held is not None and len(held) == 1 else None
    if isinstance(only, Mapping) and only.keys() == {"type", "text"} and only["type"] == "text":
        return {**part, "content": only["text"]}
    return part
