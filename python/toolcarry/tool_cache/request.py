"""What a request says of its tools: which it has, whether one may be called, whether one was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from toolcarry._input.json import dump
from toolcarry._input.objects import Messages, as_object
from toolcarry._pure.formats.message import Said
from toolcarry.errors import InputError
from toolcarry.importing.read import read_message
from toolcarry.tool_cache.definitions import EMPTY

__all__ = ["Tools", "as_bytes", "holds_calls", "refuses_tools"]

Tools: TypeAlias = Sequence[Mapping[str, Any]] | bytes

LONG: Final = 64
"""Bytes of a list that is not empty, whatever white space is in it."""


def as_bytes(tools: Tools) -> bytes | None:
    """Tools as a JSON array; ``None`` for null. Raises ``InputError`` for what can't be written."""
    if not isinstance(tools, bytes):
        if not isinstance(tools, (list, tuple)):
            raise InputError("tools are no list", None)
        return dump([as_object(tool) or tool for tool in tools])
    data = tools.strip()
    if len(data) < LONG and data[:1] == b"[" and not data[1:].strip(b"] \t\r\n"):
        return EMPTY
    return None if data == b"null" else data


def refuses_tools(tool_choice: object) -> bool:
    """Whether a request says that no tool may be called.

    >>> [refuses_tools(choice) for choice in ("none", {"type": "none"}, "auto", None)]
    [True, True, False, False]
    """
    held = as_object(tool_choice)
    return tool_choice == "none" or (held is not None and held.get("type") == "none")


def holds_calls(messages: Messages | None) -> bool:
    """Whether messages hold a call or a result. They are looked at from the last one on."""
    try:
        for message in reversed(messages or ()):
            wire = as_object(message)
            if wire is not None:
                said = Said()
                read_message(wire, wire.get("role"), said)
                if said.calls or said.results:
                    return True
    except (InputError, TypeError, RecursionError):  # what is no message holds none
        return False
    return False
