"""Messages without the parts that only one backend understands: thinking with its signatures, cache marks, a provider's own ids.

The rest of a message means the same to every backend. Messages are never changed in place; a message without such parts
is returned as the same object.
"""

from __future__ import annotations

import json
from typing import Any, Final

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry.api.convert.adapt import MALFORMED, UNSIGNED, is_malformed
from toolcarry.api.convert.native import is_server_call, is_server_result
from toolcarry.api.convert.read import ITEMS, ROLES, read_thought
from toolcarry.model.formats.anthropic import SERVER_CALL_PARTS
from toolcarry.model.formats.responses import PROGRAMS
from toolcarry.model.formats.responses import SERVER_CALLS as SERVER_ITEMS
from toolcarry.switch.bound import file_line, is_bound_file

__all__ = ["is_of_server", "portable_message", "portable_part", "server_parts", "with_stand_in"]

THINKING: Final = frozenset((
    "thinking", "thinking_blocks", "reasoning", "reasoning_content", "reasoning_details", "reasoning_opaque",
    "reasoning_text", "tool_plan",
))  # fmt: skip
"""The members of messages that hold thinking outside of the content."""
SIGNATURES: Final = frozenset((
    "signature", "reasoning_signature", "encrypted_content", "thoughtSignature", "thought_signature", "extra_content",
    "provider_specific_fields",
))  # fmt: skip
"""The keys of a backend's signatures of its calls."""
MARKS: Final = frozenset(("cache_control",))
OWN: Final = THINKING | SIGNATURES | MARKS | {"audio"}
"""A sound that the model made is referred to by the id under which its provider stores it."""
OWN_OF_ITEMS: Final = OWN | {"id", "caller"}
"""The id of an item of Responses refers to the provider's copy of it, its reasoning included, and its caller to the
program that made it.
"""
OWN_ITEMS: Final = ITEMS | SERVER_ITEMS.keys() | PROGRAMS
OWN_OF_PARTS: Final = SIGNATURES | MARKS | {"caller"}
"""A call may name the server tool that made it."""
THOUGHTS: Final = frozenset(("reasoning_content", "redacted-reasoning", "redacted_reasoning"))
CALLS_OF_GEMINI: Final = {"functionCall": "thoughtSignature", "function_call": "thought_signature"}
"""The member of a part that is a call of Gemini, and the one that holds its signature."""
LISTS: Final = ("content", "parts", "tool_calls", "output")
NAMES: Final = frozenset(("role", "type", "name", "id", "status"))
"""The members that add no content to a message."""


def portable_message(message: JsonObject) -> JsonObject | None:
    """Return a message in a form that any backend accepts; ``None`` if nothing of it is left.

    >>> portable_message({"role": "assistant", "content": [
    ...     {"type": "thinking", "thinking": "...", "signature": "x"},
    ...     {"type": "text", "text": "Done.", "cache_control": {"type": "ephemeral"}}]})
    {'role': 'assistant', 'content': [{'type': 'text', 'text': 'Done.'}]}
    """
    kind = text_or_empty(message.get("type"))
    is_item = kind and "role" not in message
    if is_item and kind in OWN_ITEMS:
        return None
    is_item = is_item or kind in ("message", "additional_tools")
    new = without(message, OWN_OF_ITEMS if is_item else OWN)
    has_lost_all = False
    for key in LISTS:
        parts = as_list(new.get(key))
        if parts is None:
            continue
        left = [part for part in map(portable_part, parts) if part is not None]
        if len(left) == len(parts) and all(map(is_same, left, parts)):
            continue
        new = {**new, key: left}
        has_lost_all = has_lost_all or not left
    if has_lost_all and not any(new.get(key) for key in LISTS):
        return None
    is_models = ROLES.get(text_or_empty(new.get("role"))) == "assistant"
    if is_models and not any(value for key, value in new.items() if key not in NAMES):
        return None
    return new


def portable_part(item: object) -> object | None:
    """Return a part of a message without a backend's own members; ``None`` if nothing is left."""
    part = as_object(item)
    if part is None:
        return item
    kind = part.get("type")
    if "cachePoint" in part or is_of_server(part) or is_thought(part):
        return None
    if is_bound_file(part):
        return file_line(part)
    if kind == "compaction":  # what Anthropic summarized
        return {"type": "text", "text": text_or_empty(part.get("content"))}
    new = without(part, OWN_OF_PARTS | {"citations"} if kind == "text" else OWN_OF_PARTS)
    function = as_object(new.get("function"))
    if function is not None:
        own = readable(without(function, SIGNATURES))
        new = new if own is function else {**new, "function": own}
    inner = as_list(new.get("content"))
    if inner is not None:
        cleaned = [portable_inner(held) for held in inner]
        if not all(map(is_same, cleaned, inner)):
            new = {**new, "content": cleaned}
    return item if new is part else new


def readable(function: JsonObject) -> JsonObject:
    """Return the function of a call with arguments that are JSON: servers that render a history refuse any other.

    >>> readable({"name": "dig", "arguments": "{depth"})
    {'name': 'dig', 'arguments': '{"INVALID_JSON": "{depth"}'}
    """
    given = function.get("arguments")
    return (
        {**function, "arguments": json.dumps({MALFORMED: given})}
        if is_malformed(given)
        else function
    )


def portable_inner(item: object) -> object:
    """Return a part of a result without cache marks; a line in place of an uploaded file."""
    part = as_object(item)
    if part is None:
        return item
    if is_bound_file(part):
        return file_line(part)
    new = without(part, MARKS)
    return item if new is part else new


def with_stand_in(message: JsonObject) -> JsonObject:
    """Return a message of Gemini with a stand-in for the signature of its first call, which Google refuses without one.

    >>> with_stand_in({"role": "model", "parts": [{"functionCall": {"name": "ls"}}]})["parts"]
    [{'functionCall': {'name': 'ls'}, 'thoughtSignature': 'skip_thought_signature_validator'}]
    """
    parts = as_list(message.get("parts")) or ()
    for at, item in enumerate(parts):
        part = as_object(item) or {}
        key = next((key for key in CALLS_OF_GEMINI if key in part), "")
        if key:
            signed = {**part, CALLS_OF_GEMINI[key]: UNSIGNED}
            return {**message, "parts": [*parts[:at], signed, *parts[at + 1 :]]}
    return message


def is_thought(part: JsonObject) -> bool:
    return text_or_empty(part.get("type")) in THOUGHTS or read_thought(part, 0) is not None


def is_of_server(part: JsonObject) -> bool:
    """True if a part or an item is a call that the provider answers itself, or its result."""
    if is_server_call(part, "bedrock") or is_server_result(part, "bedrock"):
        return True
    kind = text_or_empty(part.get("type"))
    is_result = kind.endswith("_tool_result")
    is_item = kind in SERVER_ITEMS or kind in PROGRAMS
    return is_result or is_item or kind in SERVER_CALL_PARTS


def server_parts(message: JsonObject) -> JsonObject | None:
    """Return a message with only the provider's own calls and results; ``None`` if there are none."""
    if is_of_server(message):
        return message
    parts = [
        part
        for part in as_list(message.get("content")) or ()
        if is_of_server(as_object(part) or {})
    ]
    return {**message, "content": parts} if parts else None


def without(wire: JsonObject, keys: frozenset[str]) -> JsonObject:
    """Return an object without some members; the same object if it has none of them."""
    if keys.isdisjoint(wire):
        return wire
    return {key: value for key, value in wire.items() if key not in keys}


def is_same(one: Any, other: Any) -> bool:
    return one is other
