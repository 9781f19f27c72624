"""The tools of our own that a model may call: how each provider takes their definitions, and what a model gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from toolcarry._data import read_table
from toolcarry._input.json import loads_text
from toolcarry._input.objects import Wire, as_object
from toolcarry.errors import InputError
from toolcarry.types import check_choice

__all__ = ["RETRIEVAL", "STYLES", "Style", "define", "given_arguments", "whole_number"]

RETRIEVAL: Final[str] = read_table("texts")["retrieval_tool"]
"""The tool that gives a whole result back: what it gave is never replaced."""

Style = Literal["anthropic", "openai", "responses", "ollama", "gemini", "bedrock"]
STYLES: Final[tuple[Style, ...]] = (
    "anthropic",
    "openai",
    "responses",
    "ollama",
    "gemini",
    "bedrock",
)


def define(
    name: str, description: str, parameters: Mapping[str, Any], style: Style
) -> dict[str, Any]:
    """A tool's definition as a provider takes it. Raises ``ConfigError`` for a style that is none."""
    check_choice("style", style, STYLES)
    function = {"name": name, "description": description}
    if style == "anthropic":
        return {**function, "input_schema": parameters}
    if style == "responses":
        return {"type": "function", **function, "parameters": parameters}
    if style == "gemini":
        return {**function, "parameters": parameters}
    if style == "bedrock":
        return {"toolSpec": {**function, "inputSchema": {"json": parameters}}}
    return {"type": "function", "function": {**function, "parameters": parameters}}


def given_arguments(arguments: object) -> Wire:
    """The arguments of a model's call, as an object or as JSON; none where that is empty, as some models write it.

    Raises ``InputError`` where they are no object. A call that broke off is told so, and not answered as one without any.
    """
    try:
        value = loads_text(arguments or "{}") if isinstance(arguments, str) else arguments
    except InputError as error:
        raise InputError(f"arguments: {error}", error.position) from None
    given = as_object(value)
    if given is None:
        raise InputError(f"arguments must be an object, not {type(value).__name__}", None)
    return given


def whole_number(name: str, value: object, default: int) -> int:
    """A whole number that a model gave, which may have written it as a text or a float."""
    if value is None:
        return default
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(f"{name}: {value!r:.80} is not allowed; allowed: an integer >= 0")
    return value
