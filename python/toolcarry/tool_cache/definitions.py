"""The definitions of a request: read one by one, kept as they came, and written in another style when one asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toolcarry.decode import loads
from toolcarry.encode import dump
from toolcarry.errors import InputError
from toolcarry.redact.logs import get_logger
from toolcarry.tool_cache.styles import FORMS, STYLES, Form, Function, InvalidToolError, Style
from toolcarry.types import check_choice
from toolcarry.wire import as_object

__all__ = ["Definitions", "convert_tools", "read_definitions"]

logger = get_logger("toolcarry.tool_cache")


class Read(NamedTuple):
    """What was read: the valid ones as they are written, what each of them says, and how many were dropped."""

    tools: list[Any]
    functions: list[tuple[Function | None, Any]]
    dropped: int


class Definitions:
    """The valid definitions of a request, in ``style``, as ``data``, and in other styles as they are asked for.

    ``given`` is what the request had, to know it again.
    """

    __slots__ = ("_written", "confirmed_at", "data", "given", "style")

    def __init__(self, style: Style, data: bytes, given: bytes) -> None:
        self.style = style
        self.data = data
        self.given = given
        self.confirmed_at = (
            0.0  # when a store that others use was seen to have them, by the monotonic clock
        )
        self._written: dict[Style, bytes] = {style: data}

    def to_bytes(self, style: Style) -> bytes:
        """A JSON array of the definitions in a style."""
        found = self._written.get(style)
        if found is None:
            tools = convert_tools(loads(self.data), source=self.style, target=style)
            found = self._written[style] = dump(tools)
        return found

    def is_same(self, style: Style, given: bytes) -> bool:
        """Whether these are what a request has."""
        return self.style == style and self.given == given

    def size(self) -> int:
        """About how many bytes it takes."""
        return 500 + len(self.given) + sum(map(len, self._written.values()))


def read_definitions(given: bytes, style: Style) -> tuple[Definitions, int]:
    """The definitions of a JSON array, and how many were dropped. Raises ``InputError`` for what is no array."""
    tools = loads(given)
    if not isinstance(tools, list):
        raise InputError("tools are no list", None)
    read = read_tools(tools, style)
    return Definitions(style, dump(read.tools) if read.dropped else given, given), read.dropped


def convert_tools(
    tools: Sequence[Mapping[str, Any]], *, source: Style, target: Style
) -> list[dict[str, Any]]:
    """Definitions of one style in another; in their own they are as they came.

    The parts of the definitions are the caller's own. What is invalid is dropped, and so is what ``target`` can't hold,
    each with a line in the log. Raises ``ConfigError`` for a style that is none.

    >>> convert_tools([{"name": "f", "input_schema": {"type": "object"}}], source="anthropic", target="openai")
    [{'type': 'function', 'function': {'name': 'f', 'parameters': {'type': 'object'}}}]
    """
    check_choice("source", source, STYLES)
    check_choice("target", target, STYLES)
    read = read_tools(tools, source)
    if source == target:
        return read.tools
    form = FORMS[target]
    functions = [function for function, _ in read.functions if function is not None]
    if len(functions) < len(read.functions):
        logger.info(
            "%d tools of %s itself are left out for %s",
            len(read.functions) - len(functions),
            source,
            target,
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
    kept = form.joined([part for _, part in functions]) if dropped else list(tools)
    return Read(kept, functions, dropped)


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
