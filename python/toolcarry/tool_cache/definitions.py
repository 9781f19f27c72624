"""Tool definitions in each provider's style: read one by one, stored unchanged, and written in another style on request.

All styles have the name, the description and the schema of the arguments; some have ``strict``. Members that only one
provider knows stay in its own definition, which is returned unchanged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

from toolcarry._input.json import dump, loads_any_depth
from toolcarry._input.objects import as_list, as_object, first_given
from toolcarry._util.plural import counted
from toolcarry.errors import InputError
from toolcarry.redact.logs import get_logger
from toolcarry.tool_cache.schemas import without_root_members
from toolcarry.types.shapes import record_named, shape_named
from toolcarry.types.values import checked_list

__all__ = [
    "EMPTY",
    "FORMS",
    "STYLES",
    "Definitions",
    "Style",
    "convert_tools",
    "read_definitions",
    "renamed_tools",
    "style_named",
]

COUNTS: Final = frozenset(
    ("maxItems", "minItems", "maxLength", "minLength", "maxProperties", "minProperties")
)
"""The values that their JSON may write as text, as it does with all large integers."""


def as_json_schema(schema: Any) -> Any:
    """Return a schema as every provider reads it; anything else unchanged.

    >>> as_json_schema({"type": "OBJECT", "properties": {"path": {"type": "STRING", "nullable": True}}})
    {'type': 'object', 'properties': {'path': {'type': ['string', 'null']}}}
    """
    held = as_object(schema)
    if held is None:
        return schema
    made: dict[str, Any] = {}
    for key, value in held.items():
        named = as_object(value) if key == "properties" else None
        several = as_list(value) if key == "anyOf" else None
        if key == "type" and isinstance(value, str):
            made[key] = value.lower()
        elif named is not None:
            made[key] = {name: as_json_schema(inner) for name, inner in named.items()}
        elif several is not None:
            made[key] = [as_json_schema(inner) for inner in several]
        elif key == "items":
            made[key] = as_json_schema(value)
        elif key in COUNTS and isinstance(value, str) and value.isdecimal():
            made[key] = int(value)
        elif key not in ("nullable", "propertyOrdering"):
            made[key] = value
    if held.get("nullable") is True and isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
    return made


Style: TypeAlias = Literal[
    "openai",
    "responses",
    "ollama",
    "anthropic",
    "gemini",
    "mcp",
    "bedrock",
    "openai-chat",
    "openai-responses",
]
STYLES: Final[tuple[Style, ...]] = (
    "openai",
    "responses",
    "ollama",
    "anthropic",
    "gemini",
    "mcp",
    "bedrock",
)
"""The styles. ``openai-chat`` and ``openai-responses`` are other names of ``openai`` and ``responses``."""


Tool: TypeAlias = Mapping[str, Any]
"""A definition as it is written."""
DECLARATIONS: Final = ("functionDeclarations", "function_declarations")


class InvalidToolError(ValueError):
    """The value is not a definition; the message says why, and quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class Function:
    """The members of a function's definition that all providers share; ``None`` if absent."""

    name: str
    description: str | None = None
    parameters: Tool | None = None
    strict: bool | None = None


class Form(NamedTuple):
    """One style: ``read`` returns ``None`` for tools that only the provider understands, and raises ``InvalidToolError``.

    ``parts`` splits an object that holds several definitions, and ``joined`` joins the parts again.
    """

    read: Callable[[Tool], Function | None]
    write: Callable[[Function], dict[str, Any]]
    parts: Callable[[Sequence[Any]], Iterable[Any]]
    joined: Callable[[list[Any]], list[Any]]


def checked_function(name: Any, description: Any, parameters: Any, strict: Any = None) -> Function:
    """A function of these members."""
    if not isinstance(name, str) or not name.strip():
        raise InvalidToolError("it has no name")
    if description is not None and not isinstance(description, str):
        raise InvalidToolError("its description is not a string")
    schema = None if parameters is None else as_object(parameters)
    if parameters is not None and schema is None:
        raise InvalidToolError("the schema of its arguments is not an object")
    return Function(name, description, schema, strict if isinstance(strict, bool) else None)


def is_other_type(kind: Any, *own: str) -> bool:
    """True if a ``type`` says that something is not a function."""
    if kind is not None and not isinstance(kind, str):
        raise InvalidToolError("its type is not a string")
    return kind is not None and kind not in own


def named_schema(function: Function, schema: str, *, is_needed: bool = False) -> dict[str, Any]:
    """Return the name, the description, and the schema under its name in a style."""
    made: dict[str, Any] = {"name": function.name}
    if function.description is not None:
        made["description"] = function.description
    if function.parameters is not None or is_needed:
        nothing = {"type": "object", "properties": {}}
        made[schema] = nothing if function.parameters is None else function.parameters
    return made


def with_strict(made: dict[str, Any], function: Function) -> dict[str, Any]:
    return made if function.strict is None else {**made, "strict": function.strict}


# OpenAI's two, and Ollama's


def read_chat(tool: Tool) -> Function | None:
    held = as_object(tool.get("function"))
    if is_other_type(tool.get("type"), "function"):
        return None
    if held is None:
        raise InvalidToolError("it has no function")
    return checked_function(
        held.get("name"), held.get("description"), held.get("parameters"), held.get("strict")
    )


def write_chat(function: Function) -> dict[str, Any]:
    return {
        "type": "function",
        "function": with_strict(named_schema(function, "parameters"), function),
    }


def write_ollama(function: Function) -> dict[str, Any]:
    return {"type": "function", "function": named_schema(function, "parameters")}


def read_responses(tool: Tool) -> Function | None:
    if is_other_type(tool.get("type"), "function"):
        return None
    return checked_function(
        tool.get("name"), tool.get("description"), tool.get("parameters"), tool.get("strict")
    )


def write_responses(function: Function) -> dict[str, Any]:
    # Without ``strict``, Responses makes a schema strict, which may refuse it or make optional arguments mandatory; Chat
    # does not. https://platform.openai.com/docs/guides/function-calling (strict mode)
    made = {"type": "function", **named_schema(function, "parameters")}
    return {**made, "strict": bool(function.strict)}


# Anthropic and MCP


def read_anthropic(tool: Tool) -> Function | None:
    if is_other_type(tool.get("type"), "custom"):
        return None
    return checked_function(
        tool.get("name"), tool.get("description"), tool.get("input_schema"), tool.get("strict")
    )


def write_anthropic(function: Function) -> dict[str, Any]:
    return with_strict(named_schema(function, "input_schema", is_needed=True), function)


def read_mcp(tool: Tool) -> Function | None:
    return checked_function(tool.get("name"), tool.get("description"), tool.get("inputSchema"))


def write_mcp(function: Function) -> dict[str, Any]:
    return named_schema(function, "inputSchema", is_needed=True)


# Bedrock Converse


def read_bedrock(tool: Tool) -> Function | None:
    if "toolSpec" not in tool:
        if len(tool) == 1:  # a cache point, or a tool of the provider's
            return None
        raise InvalidToolError("it has no toolSpec")
    held = as_object(tool["toolSpec"]) or {}
    schema = as_object(held.get("inputSchema")) or {}
    return checked_function(
        held.get("name"), held.get("description"), schema.get("json"), held.get("strict")
    )


def write_bedrock(function: Function) -> dict[str, Any]:
    made = with_strict(named_schema(function, "inputSchema", is_needed=True), function)
    if not function.description:  # an empty one is refused
        made.pop("description", None)
    return {"toolSpec": {**made, "inputSchema": {"json": made["inputSchema"]}}}


# Gemini, where one tool holds all functions


def read_gemini(tool: Tool) -> Function | None:
    if "name" not in tool:
        return None
    schema = first_given(tool, "parametersJsonSchema", "parameters_json_schema")
    if schema is None and tool.get("parameters") is not None:
        schema = as_json_schema(tool["parameters"])
    return checked_function(tool.get("name"), tool.get("description"), schema)


def write_gemini(function: Function) -> dict[str, Any]:
    return named_schema(function, "parametersJsonSchema")


def gemini_parts(tools: Sequence[Any]) -> Iterable[Any]:
    """The functions and, each by itself, the provider's own tools."""
    for tool in tools:
        held = as_object(tool)
        if held is None or "name" in held:  # a function outside of a list
            yield tool
            continue
        for key, value in held.items():
            functions = as_list(value) if key in DECLARATIONS else None
            if functions is None:
                yield {key: value}
            else:
                yield from (declared_function(function) for function in functions)


def declared_function(function: Any) -> Any:
    """A Gemini function; one without a name is not thereby a built-in tool of the provider."""
    held = as_object(function)
    return function if held is None or "name" in held else {"name": None, **held}


def gemini_joined(parts: list[Any]) -> list[Any]:
    functions = [part for part in parts if "name" in part]
    own = [part for part in parts if "name" not in part]
    return [{DECLARATIONS[0]: functions}, *own] if functions else own


def same_tools(tools: Sequence[Any]) -> Iterable[Any]:
    return tools


def same_parts(parts: list[Any]) -> list[Any]:
    return parts


FORMS: Final[dict[Style, Form]] = {
    "openai": Form(read_chat, write_chat, same_tools, same_parts),
    "responses": Form(read_responses, write_responses, same_tools, same_parts),
    "ollama": Form(read_chat, write_ollama, same_tools, same_parts),
    "anthropic": Form(read_anthropic, write_anthropic, same_tools, same_parts),
    "gemini": Form(read_gemini, write_gemini, gemini_parts, gemini_joined),
    "mcp": Form(read_mcp, write_mcp, same_tools, same_parts),
    "bedrock": Form(read_bedrock, write_bedrock, same_tools, same_parts),
}


logger = get_logger("toolcarry.tool_cache")

EMPTY: Final = b"[]"
SPARE: Final = 512
"""Bytes that an entry takes in addition to its texts, including growth in another style."""


class Read(NamedTuple):
    """The definitions that were read: the valid ones unchanged, their functions, and the number dropped."""

    tools: list[Any]
    functions: list[tuple[Function | None, Any]]
    dropped: int


class Definitions:
    """The valid definitions of a request, in ``style``, as ``data``, and in other styles on request.

    ``given`` is the data of the request, by which it is recognised.
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
        """Return a JSON array of the definitions in a style."""
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
        """True if these are the definitions of a request."""
        return self.style == style and self.given == given

    def size(self) -> int:
        """The approximate number of bytes that it takes, including one other style."""
        own = len(self.data) if self.data is not self.given else 0
        return len(self.given) + own + len(self.data) + 2 * SPARE


def read_definitions(given: bytes, style: Style) -> tuple[Definitions, int]:
    """Return the definitions of a JSON array, and the number dropped. Raises ``InputError`` if it is not an array."""
    tools = loads_any_depth(given)
    if not isinstance(tools, list):
        raise InputError("tools must be a list", None)
    read = read_tools(tools, style)
    is_as_it_came = read.functions and not read.dropped
    return Definitions(style, given if is_as_it_came else dump(read.tools), given), read.dropped


def convert_tools(
    tools: Sequence[Mapping[str, Any]], *, source: Style, target: Style
) -> list[dict[str, Any]]:
    """Convert definitions to another style; in their own style they are unchanged.

    The parts of the definitions are the caller's own objects. Invalid definitions, and those that ``target`` can't
    express, are dropped and logged. Names that ``target`` refuses are replaced and logged; ``renamed_tools`` returns them.
    Raises ``ConfigError`` for an unknown style, and ``InputError`` if it is not a list.

    >>> convert_tools([{"name": "f", "input_schema": {"type": "object"}}], source="anthropic", target="openai")
    [{'type': 'function', 'function': {'name': 'f', 'parameters': {'type': 'object'}}}]
    """
    source = style_named("source", source)
    target = style_named("target", target)
    read = read_tools(checked_list("tools", tools, "objects"), source)
    if source == target:
        return read.tools
    form = FORMS[target]
    functions = [function for function, _ in read.functions if function is not None]
    if len(functions) < len(read.functions):
        logger.info(
            "left out for %s: %s that only %s can run",
            target,
            counted(len(read.functions) - len(functions), "tool"),
            source,
        )
    names = accepted_names([function.name for function in functions], target)
    if names:
        logger.info("renamed for %s: %s", target, counted(len(names), "tool"))
    refused = refused_members(target)
    made = []
    for function in functions:
        schema = function.parameters
        if schema is not None and refused:
            schema = without_root_members(schema, refused)
        name = names.get(function.name, function.name)
        made.append(form.write(replace(function, name=name, parameters=schema)))
    return form.joined(made)


def refused_members(target: Style) -> Sequence[str]:
    """Return the members that ``target`` refuses at the root of a schema."""
    # Not loaded with the package, as in `accepted_names`.
    from toolcarry.model.destinations import DESTINATIONS  # noqa: PLC0415 - see above

    destination = DESTINATIONS.get(record_named(target))
    return () if destination is None else destination.record.get("root_members", ())


def renamed_tools(
    tools: Sequence[Mapping[str, Any]], *, source: Style, target: Style
) -> dict[str, str]:
    """Return the names that ``convert_tools`` replaces, each with the tool's own name, so that a call can be mapped back.

    Characters that ``target`` refuses become ``_`` and long names are cut; if another tool has that name, a number is
    added. Raises as ``convert_tools`` does.

    >>> renamed_tools([{"name": "calendar.read", "inputSchema": {}}], source="mcp", target="openai-chat")
    {'calendar_read': 'calendar.read'}
    """
    source = style_named("source", source)
    target = style_named("target", target)
    read = read_tools(checked_list("tools", tools, "objects"), source)
    own = [function.name for function, _ in read.functions if function is not None]
    names = {} if source == target else accepted_names(own, target)
    return {new: name for name, new in names.items()}


def accepted_names(names: Sequence[str], target: Style) -> dict[str, str]:
    """Return the names that ``target`` refuses, with others that it accepts; no two tools get the same name.

    The Model Context Protocol refuses no name.
    """
    # These are not loaded with the package: they take as long as all of `import toolcarry`.
    from toolcarry.model.destinations import DESTINATIONS  # noqa: PLC0415 - see above
    from toolcarry.model.tool_names import new_names  # noqa: PLC0415 - see above

    destination = DESTINATIONS.get(record_named(target))
    return {} if destination is None else new_names(names, destination.tool_name)


def style_named(key: str, style: object) -> Style:
    """Return the older name of a style. Raises ``ConfigError`` for an unknown one."""
    return cast("Style", shape_named(key, style, STYLES))


def read_tools(tools: Sequence[Any], style: Style) -> Read:
    """Read definitions one by one; invalid ones are dropped, and the reason is logged."""
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
    """Read a definition whose name is not in ``names`` yet. Raises ``InvalidToolError``."""
    held = as_object(part)
    if held is None:
        raise InvalidToolError("it is not an object")
    function = form.read(held)
    if function is not None:
        if function.name in names:
            raise InvalidToolError("its name is already taken")
        names.add(function.name)
    return function
