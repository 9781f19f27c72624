"""Find the content of a result in a request.

Only results that a client gives are found, not those of a provider's own tools, and unknown ones.
"""

from __future__ import annotations

from typing import NamedTuple

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry.model.content import TEXT_PARTS, is_bare

TEXT_OUTPUTS: tuple[str, ...] = tuple(read_table("responses")["text_outputs"])
"""The items of Responses whose ``output`` is text or parts."""


class ResultSlot(NamedTuple):
    """The content of one result."""

    holder: str
    """The member of the result that holds ``key``; empty if the result itself does."""
    key: str
    content: object

    def is_json(self) -> bool:
        """Return true if the content is a value without a type, which a request holds as the text of its JSON."""
        content = self.content
        if self.holder or isinstance(content, str) or content is None:
            return False
        items = as_list(content)
        if items is None:
            return not has_type(content)
        return not any(map(has_type, items)) and any(text_of(item) is None for item in items)


RESPONSE_KEYS: tuple[str, ...] = tuple(read_table("parts")["response_keys"])


def slot_at(wire: JsonObject) -> ResultSlot | None:
    """Return the content of a result that a client gave; ``None`` for results of other kinds."""
    kind = wire.get("type")
    if kind == "tool_result":
        return ResultSlot("", "content", wire.get("content"))
    if kind in TEXT_OUTPUTS:
        return ResultSlot("", "output", wire.get("output"))
    if kind is not None:
        return None
    if wire.get("role") in ("tool", "function"):
        return ResultSlot("", "content", wire.get("content"))
    for holder, key in (("toolResult", "content"), *((name, "response") for name in RESPONSE_KEYS)):
        held = as_object(wire.get(holder))
        if held is not None:
            return ResultSlot(holder, key, held.get(key))
    return None


def has_type(item: object) -> bool:
    """Return true if an item says what kind of part it is."""
    return text_or_empty((as_object(item) or {}).get("type")) != ""


def text_of(part: object) -> str | None:
    """Return the text of a part that is nothing but text."""
    found = as_object(part)
    if found is None:
        return part if isinstance(part, str) else None
    text = found.get("text")
    is_text = isinstance(text, str) and (found.get("type") in TEXT_PARTS or is_bare(found, "text"))
    return text_or_empty(text) if is_text else None


def response_key(response: object) -> str:
    """Return the name of the member for a new text: the old name if there is only one, else ``result``."""
    held = as_object(response)
    return str(next(iter(held))) if held is not None and len(held) == 1 else "result"
