"""Objects of a request: what counts as a conversation, an object, a list or a string. Shared by both backends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, TypeAlias

from toolcarry.errors import InputError

MAX_DEPTH = 128
"""The deepest nesting of arrays and objects that is accepted."""

CONTAINERS = (dict, list, tuple)

JsonObject = Mapping[str, Any]
Messages: TypeAlias = Sequence[Mapping[str, Any]]
Body: TypeAlias = bytes | bytearray | memoryview


def as_object(value: object) -> JsonObject | None:
    """Return ``value`` as an object of the request: a dict, another mapping, or a dumped SDK object; else None."""
    if isinstance(value, dict):
        return value
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        dumped = dump()
        return dumped if isinstance(dumped, dict) else None
    return dict(value) if isinstance(value, Mapping) else None


def dumped(messages: list[Any] | tuple[Any, ...]) -> list[Any] | tuple[Any, ...]:
    """Return messages that are objects of a framework as dicts, by their public ``to_dict`` or as dataclasses.

    Models of pydantic are read by ``as_object``, one by one. A list of dicts costs one look at its first item.
    """
    first = messages[0] if messages else None
    if first is None or isinstance(first, Mapping) or hasattr(first, "model_dump"):
        return messages
    return [dump_object(message) for message in messages]


def dump_object(message: Any) -> Any:
    """Return an object as a dict; anything else unchanged."""
    to_dict = getattr(message, "to_dict", None)
    if callable(to_dict):
        return to_dict()
    is_instance = is_dataclass(message) and not isinstance(message, type)
    return asdict(message) if is_instance else message


def as_list(value: object) -> list[Any] | tuple[Any, ...] | None:
    return value if isinstance(value, (list, tuple)) else None


def each_object(value: object) -> Iterator[JsonObject]:
    """Yield the objects of a list. Those of a large one are decoded one after the other, and need not stay."""
    return (item for item in map(as_object, as_list(value) or ()) if item is not None)


def text_or_empty(value: object) -> str:
    return value if isinstance(value, str) else ""


def first_given(wire: JsonObject, *names: str) -> object:
    """Return the first of these members that is present and not null."""
    for name in names:
        value = wire.get(name)
        if value is not None:
            return value
    return None


def given(wire: JsonObject) -> set[str]:
    """Return the names of the members that are not null.

    SDKs write the members that a part does not have as null, so that null says nothing about its kind.

    >>> sorted(given({"text": "Hi.", "function_call": None}))
    ['text']
    """
    return {key for key, value in wire.items() if value is not None}


LISTS_OF_OBJECTS = ("content", "parts", "tool_calls")


def plain_message(message: object, position: int) -> Any:
    """Return a message as a dict whose parts are dicts: the message itself, unless it contains objects of an SDK."""
    if isinstance(message, dict) and has_plain_parts(message):
        return message
    if as_object(message) is None:
        kind = type(message).__name__
        raise InputError(f"message {position} is not an object, but {kind}", position)
    try:
        return plain(message, 1)
    except RecursionError:
        raise InputError(
            f"message {position} is nested deeper than {MAX_DEPTH}", position
        ) from None


def are_plain(messages: list[Any] | tuple[Any, ...]) -> bool:
    """Return true if ``plain_message`` would return each message itself."""
    return all(isinstance(message, dict) and has_plain_parts(message) for message in messages)


def plain_messages(messages: object) -> list[Any]:
    """Apply ``plain_message`` to all messages. Raises ``InputError`` if ``messages`` can't be iterated."""
    if not isinstance(messages, Iterable):
        raise InputError(f"messages must be a list of objects, not {type(messages).__name__}")
    return [plain_message(message, position) for position, message in enumerate(messages)]


def has_plain_parts(message: dict[str, Any]) -> bool:
    """Return true if the parts of a message are dicts or text."""
    for key in LISTS_OF_OBJECTS:
        for part in as_list(message.get(key)) or ():
            if not isinstance(part, (dict, str)):
                return False
            inner = part.get("content") if isinstance(part, dict) else None
            if isinstance(inner, list) and not all(isinstance(item, (dict, str)) for item in inner):
                return False
    return True


def plain(value: Any, depth: int) -> Any:
    """Return a copy of ``value`` with dicts and lists in place of SDK objects, other mappings and tuples."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    found = as_object(value)
    items = as_list(value)
    if found is None and items is None:
        return value
    if depth > MAX_DEPTH:
        raise RecursionError
    if found is not None:
        return {key: plain(item, depth + 1) for key, item in found.items()}
    return [plain(item, depth + 1) for item in items or ()]


def is_too_deep(document: object) -> bool:
    """Return true if arrays and objects are nested deeper than ``MAX_DEPTH``."""
    level: list[Any] = [document] if isinstance(document, CONTAINERS) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        level = [
            value
            for item in level
            for value in (item.values() if isinstance(item, dict) else item)
            if isinstance(value, CONTAINERS)
        ]
    return bool(level)


def located(error: InputError, messages: Sequence[Any] | bytes) -> InputError:
    """Add a position to ``error``: a kernel doesn't know which message is nested too deep."""
    if error.position is not None or isinstance(messages, bytes):
        return error
    for position in range(len(messages) - 1, -1, -1):
        if is_too_deep(messages[position]):
            return InputError(f"message {position} is {error}", position)
    return error
