"""The definitions of a request: read one by one, kept as they came, and written in another style when one asks."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from toolcarry._input.json import dump, loads_any_depth
from toolcarry._input.objects import as_object
from toolcarry._util.plural import counted
from toolcarry.errors import InputError
from toolcarry.redact.logs import get_logger
from toolcarry.tool_cache.styles import FORMS, STYLES, Form, Function, InvalidToolError, Style
from toolcarry.types import check_choice, checked_list

__all__ = ["EMPTY", "Definitions", "convert_tools", "read_definitions"]

logger = get_logger("toolcarry.tool_cache")

EMPTY: Final = b"[]"
SPARE: Final = 512
"""Bytes that an entry takes beside its texts, and by which definitions may grow in another style that is kept."""


class Read(NamedTuple):
    """What was read: the valid ones as they are written, what each of them says, and how many were dropped."""

    tools: list[Any]
    functions: list[tuple[Function | None, Any]]
    dropped: int


class Definitions:
    """The valid definitions of a request, in ``style``, as ``data``, and in other styles as they are asked for.

    ``given`` is what the request had, to know it again.
    """

    __slots__ = ("_other", "asked_at", "confirmed_at", "data", "given", "style")

    def __init__(self, style: Style, data: bytes, given: bytes) -> None:
        self.style = style
        self.data = data
        self.given = given
        # By the monotonic clock: of two requests' tools the later ones count, and a store that others use is asked again
        # some time after it was seen to have them.
        self.asked_at = time.monotonic()
        self.confirmed_at: float | None = None
        self._other: tuple[Style, bytes] | None = None

    def to_bytes(self, style: Style) -> bytes:
        """A JSON array of the definitions in a style."""
        if style == self.style:
            return self.data
        other = self._other
        if other is not None and other[0] == style:
            return other[1]
        tools = convert_tools(loads_any_depth(self.data), source=self.style, target=style)
        written = dump(tools)
        if len(written) <= len(self.data) + SPARE:
            self._other = (style, written)
        return written

    def is_same(self, style: Style, given: bytes) -> bool:
        """Whether these are what a request has."""
        return self.style == style and self.given == given

    def size(self) -> int:
        """About how many bytes it takes, with one other style that it may be written in."""
        own = len(self.data) if self.data is not self.given else 0
        return len(self.given) + own + len(self.data) + 2 * SPARE


def read_definitions(given: bytes, style: Style) -> tuple[Definitions, int]:
    """The definitions of a JSON array, and how many were dropped. Raises ``InputError`` for what is no array."""
    tools = loads_any_depth(given)
    if not isinstance(tools, list):
        raise InputError("tools are no list", None)
    read = read_tools(tools, style)
    is_as_it_came = read.functions and not read.dropped
    return Definitions(style, given if is_as_it_came else dump(read.tools), given), read.dropped


def convert_tools(
    tools: Sequence[Mapping[str, Any]], *, source: Style, target: Style
) -> list[dict[str, Any]]:
    """Definitions of one style in another; in their own they are as they came.

    The parts of the definitions are the caller's own. What is invalid is dropped, and so is what ``target`` can't hold,
    each with a line in the log. Raises ``ConfigError`` for a style that is none, ``InputError`` for what is no list.

    >>> convert_tools([{"name": "f", "input_schema": {"type": "object"}}], source="anthropic", target="openai")
    [{'type': 'function', 'function': {'name': 'f', 'parameters': {'type': 'object'}}}]
    """
    check_choice("source", source, STYLES)
    check_choice("target", target, STYLES)
    read = read_tools(checked_list("tools", tools, "objects"), source)
    if source == target:
        return read.tools
    form = FORMS[target]
    functions = [function for function, _ in read.functions if function is not None]
    if len(functions) < len(read.functions):
        logger.info(
            "left out for %s: %s of %s itself",
            target,
            counted(len(read.functions) - len(functions), "tool"),
            source,
        )
    return form.joined([form.write(function) for function in functions])


def read_tools(tools: Sequence[Any], style: Style) -> Read:
    """Read definitions one by one; what is invalid is dropped, and the log says why."""
    form = FORMS[style]
    functions: list[tuple[Function | None, Any]] = []
    names: set[str] = set()
    dropped = 0
    for number, part in enumerate(form.parts(tools), 1):
        try:
            function = read_tool(part, form, names)
        except (InvalidToolError, RecursionError) as error:
            dropped += 1
            logger.warning("tool %d is dropped: %s", number, str(error) or "it is nested too deep")
            continue
        functions.append((function, part))
    if functions and not dropped:
        return Read(list(tools), functions, dropped)
    return Read(form.joined([part for _, part in functions]), functions, dropped)


def read_tool(part: Any, form: Form, names: set[str]) -> Function | None:
    """What a definition says, of a name that is none of ``names`` yet. Raises ``InvalidToolError``."""
    held = as_object(part)
    if held is None:
        raise InvalidToolError("it is no object")
    function = form.read(held)
    if function is not None:
        if function.name in names:
            raise InvalidToolError("another one has its name")
        names.add(function.name)
    return function
