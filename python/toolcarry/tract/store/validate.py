"""Checks of the callers' arguments, made before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolcarry._input.json import loads_arguments
from toolcarry._input.objects import MAX_DEPTH, as_object
from toolcarry.errors import ConfigError, InputError
from toolcarry.importers.read import read_call

__all__ = [
    "check_callable",
    "check_name",
    "check_same",
    "check_text",
    "check_timeout",
    "checked_call",
    "free_metadata",
]

LONGEST_TIMEOUT: Final = 1_000_000
"""The longest timeout in seconds, since both databases count milliseconds in 32 bits."""

RESERVED: Final = frozenset(
    (
        "covers",
        "document",
        "edit",
        "edits",
        "is_error",
        "inside",
        "legacy_truncated",
        "name",
        "preserved",
        "record",
        "replaces",
        "source",
        "tool_call_id",
        "tool_calls",
        "tools",
        "undoes",
        "unmarked",
    )
)
"""The metadata keys that toolcarry itself uses."""


def check_name(key: str, value: object) -> None:
    """Raise ``ConfigError`` unless ``value`` can name a conversation or a tenant in every store."""
    if isinstance(value, str) and "\0" not in value:
        try:
            value.encode()
        except UnicodeEncodeError:
            pass
        else:
            return
    raise ConfigError(
        f"{key}: {value!r:.80} is not allowed; allowed: a string without NUL and lone surrogates"
    )


def check_timeout(key: str, value: object) -> None:
    """Raise ``ConfigError`` unless ``value`` is a number of seconds that every store accepts as a timeout."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not 0 <= value <= LONGEST_TIMEOUT
    ):
        raise ConfigError(
            f"{key}: {value!r} is not allowed; allowed: seconds, from 0 to {LONGEST_TIMEOUT:,}"
        )


def check_callable(key: str, value: object, *, optional: bool = False) -> None:
    """Raise ``ConfigError`` unless ``value`` can be called."""
    if not callable(value) and not (optional and value is None):
        allowed = "a callable, None" if optional else "a callable"
        raise ConfigError(f"{key}: {value!r:.80} is not allowed; allowed: {allowed}")


def check_text(key: str, value: object, *, optional: bool = False) -> None:
    """Raise ``InputError`` unless ``value`` is a string."""
    if not isinstance(value, str) and not (optional and value is None):
        raise InputError(f"{key} must be a string, not {type(value).__name__}", None)


def check_same(key: str, value: str, known: str | None) -> None:
    """Raise ``InputError`` if a newer version of a result gives a value, and not that of the first one."""
    if value and value != known:
        raise InputError(
            f"{key}: {value!r:.80} differs from that of the edited result: {known!r:.80}", None
        )


def check_json(value: object, depth: int = MAX_DEPTH) -> None:
    """Raise ``InputError`` for a value that ``json`` can't write and read back unchanged, or that is too deep."""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise InputError(f"metadata: the key {key!r:.80} is not a string", None)
    elif not isinstance(value, (list, tuple)):
        return
    if depth == 0:
        raise InputError(f"metadata: nested deeper than {MAX_DEPTH}", None)
    for item in value.values() if isinstance(value, dict) else value:
        check_json(item, depth - 1)


def checked_call(call: object, index: int) -> dict[str, Any]:
    """Return a tool call of any format in the history's form. Raises ``InputError`` for an invalid call."""
    wire = as_object(call)
    if wire is None:
        raise InputError(f"tool_calls[{index}] is not an object, but {type(call).__name__}", None)
    for key in ("id", "name"):  # read_call() would ignore a value that is not a string
        check_text(f"tool_calls[{index}].{key}", wire.get(key), optional=True)
    _, call_id, name, arguments, _ = read_call(wire)
    if not name and wire.get("name") is None:
        raise InputError(f"tool_calls[{index}] has no tool name", None)
    if isinstance(arguments, Mapping):
        arguments = dict(arguments)
        check_json(arguments)
    read = loads_arguments(arguments)
    found: dict[str, Any] = {"id": call_id, "name": name, "arguments": read}
    # Text that is not a JSON object is kept: no object that is made of it has the same text again.
    if isinstance(arguments, str) and arguments:
        is_object = arguments.lstrip()[:1] == "{" and read.get("arguments") != arguments
        if not is_object:
            found["arguments_text"] = arguments
    return found


def free_metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the caller's own metadata of a commit. Raises ``InputError`` for reserved keys."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise InputError(f"metadata must be an object, not {type(metadata).__name__}", None)
    taken = sorted(key for key in metadata if key in RESERVED)
    if taken:
        raise InputError(f"metadata: the key {taken[0]!r} is reserved for toolcarry", None)
    found = dict(metadata)
    check_json(found)
    return found
