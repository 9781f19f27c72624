"""Results that are a JSON object, whether the format holds an object or its text."""

from __future__ import annotations

from toolcarry._input.json import loads_arguments
from toolcarry._input.objects import JsonObject, as_list, as_object

MOST_CHARACTERS = 4_000
"""The longest text that is parsed. A longer one is an answer with much data."""


def held_object(content: object, most: int = MOST_CHARACTERS) -> JsonObject | None:
    """Return the object that a result is: itself, its only part, or their text; ``None`` if it is something else.

    >>> held_object('{"ok": true}'), held_object([{"text": '{"ok": true}'}]), held_object("{not json")
    ({'ok': True}, {'ok': True}, {'arguments': '{not json'})
    """
    found = content
    if not isinstance(found, str):
        parts = as_list(found)
        if parts is None:
            return as_object(found)
        if len(parts) != 1:
            return None
        found = parts[0]
        if not isinstance(found, str):
            part = as_object(found) or {}
            held = as_object(part.get("json"))  # Bedrock
            if held is not None:
                return held
            found = part.get("text")
    is_written = isinstance(found, str) and found[:1] == "{" and len(found) <= most
    return loads_arguments(found) if is_written else None
