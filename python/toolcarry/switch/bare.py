"""Messages without what one backend alone understands: thinking with its signatures, cache marks, a provider's own ids.

What of a message is left means the same to every backend. Messages are never changed: one without any of it comes back
as the same object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolcarry.convert.said import read_thought
from toolcarry.wire import Wire, as_list, as_object, text_or_empty

__all__ = ["bare"]

THINKING: Final = frozenset(
    ("thinking", "thinking_blocks", "reasoning", "reasoning_content", "reasoning_details")
)
"""Where messages keep their thinking beside their content."""
SIGNATURES: Final = frozenset(
    ("thoughtSignature", "thought_signature", "extra_content", "provider_specific_fields")
)
"""What a backend signs its calls with, in whose name too."""
MARKS: Final = frozenset(("cache_control",))
OWN: Final = THINKING | SIGNATURES | MARKS
OWN_OF_ITEMS: Final = OWN | {"id", "status"}
"""An item of Responses refers by its id to what the provider keeps of it, its reasoning too."""
OWN_OF_PARTS: Final = SIGNATURES | MARKS
LISTS: Final = ("content", "parts", "tool_calls")


def bare(message: Wire) -> Wire | None:
    """A message as any backend takes it; ``None`` where it was nothing but thinking.

    >>> bare({"role": "assistant", "content": [
    ...     {"type": "thinking", "thinking": "...", "signature": "x"},
    ...     {"type": "text", "text": "Done.", "cache_control": {"type": "ephemeral"}}]})
    {'role': 'assistant', 'content': [{'type': 'text', 'text': 'Done.'}]}
    """
    kind = text_or_empty(message.get("type"))
    is_item = kind and "role" not in message
    if is_item and kind == "reasoning":
        return None
    new = without(message, OWN_OF_ITEMS if is_item or kind == "message" else OWN)
    has_lost_all = False
    for key in LISTS:
        parts = as_list(new.get(key))
        if parts is None:
            continue
        left = [part for part in map(bare_part, parts) if part is not None]
        if len(left) == len(parts) and all(map(is_same, left, parts)):
            continue
        new = {**new, key: left}
        has_lost_all = has_lost_all or not left
    if has_lost_all and not any(new.get(key) for key in LISTS):
        return None
    return new


def bare_part(item: object) -> object | None:
    """A part of a message, without what is a backend's own; ``None`` where all of it is."""
    part = as_object(item)
    if part is None:
        return item
    if "cachePoint" in part or read_thought(part, 0) is not None:
        return None
    new = without(part, OWN_OF_PARTS)
    inner = as_list(new.get("content"))
    if inner is not None:
        cleaned = [without(held, MARKS) if isinstance(held, Mapping) else held for held in inner]
        if not all(map(is_same, cleaned, inner)):
            new = {**new, "content": cleaned}
    return item if new is part else new


def without(wire: Wire, keys: frozenset[str]) -> Wire:
    """An object without some members: itself where it has none of them."""
    if keys.isdisjoint(wire):
        return wire
    return {key: value for key, value in wire.items() if key not in keys}


def is_same(one: Any, other: Any) -> bool:
    return one is other
