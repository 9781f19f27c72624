"""How each provider writes the definition of a tool: what is read of one, and how one is written.

Members that all of them know are the name, the description and the schema of the arguments; some know ``strict``. What one
alone knows stays in what it wrote, which comes back as it came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from toolcarry._input.objects import as_list, as_object, first_given
from toolcarry.tool_cache.schema import as_json_schema

__all__ = ["FORMS", "STYLES", "Form", "Function", "InvalidToolError", "Style", "Tool"]

Style: TypeAlias = Literal["openai", "responses", "ollama", "anthropic", "gemini", "mcp"]
STYLES: Final[tuple[Style, ...]] = get_args(Style)

Tool: TypeAlias = Mapping[str, Any]
"""A definition as it is written."""
DECLARATIONS: Final = ("functionDeclarations", "function_declarations")


class InvalidToolError(ValueError):
    """Something that is no definition; the message says why, without a word of its content."""


@dataclass(frozen=True, slots=True)
class Function:
    """What a definition of a function says to every provider; ``None`` is what it doesn't say."""

    name: str
    description: str | None = None
    parameters: Tool | None = None
    strict: bool | None = None


class Form(NamedTuple):
    """One style: ``read`` gives ``None`` for what the provider alone understands, and raises ``InvalidToolError``.

    ``parts`` takes apart what holds several definitions, and ``joined`` puts parts together again.
    """

    read: Callable[[Tool], Function | None]
    write: Callable[[Function], dict[str, Any]]
    parts: Callable[[Sequence[Any]], Iterable[Any]]
    joined: Callable[[list[Any]], list[Any]]


def checked(name: Any, description: Any, parameters: Any, strict: Any = None) -> Function:
    """A function of these members."""
    if not isinstance(name, str) or not name.strip():
        raise InvalidToolError("it has no name")
    if description is not None and not isinstance(description, str):
        raise InvalidToolError("its description is no text")
    schema = None if parameters is None else as_object(parameters)
    if parameters is not None and schema is None:
        raise InvalidToolError("the schema of its arguments is no object")
    return Function(name, description, schema, strict if isinstance(strict, bool) else None)


def is_other(kind: Any, *own: str) -> bool:
    """Whether a ``type`` says that something is not a function."""
    if kind is not None and not isinstance(kind, str):
        raise InvalidToolError("its type is no text")
    return kind is not None and kind not in own


def written(function: Function, schema: str, *, is_needed: bool = False) -> dict[str, Any]:
    """Name, description, and the schema under the name that it has in a style."""
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
    if is_other(tool.get("type"), "function"):
        return None
    if held is None:
        raise InvalidToolError("it has no function")
    return checked(
        held.get("name"), held.get("description"), held.get("parameters"), held.get("strict")
    )


def write_chat(function: Function) -> dict[str, Any]:
    return {"type": "function", "function": with_strict(written(function, "parameters"), function)}


def write_ollama(function: Function) -> dict[str, Any]:
    return {"type": "function", "function": written(function, "parameters")}


def read_responses(tool: Tool) -> Function | None:
    if is_other(tool.get("type"), "function"):
        return None
    return checked(
        tool.get("name"), tool.get("description"), tool.get("parameters"), tool.get("strict")
    )


def write_responses(function: Function) -> dict[str, Any]:
    # Without ``strict``, Responses makes a schema strict, which may refuse it or make optional arguments mandatory; Chat
    # does not. https://platform.openai.com/docs/guides/function-calling (strict mode)
    made = {"type": "function", **written(function, "parameters")}
    return {**made, "strict": bool(function.strict)}


# Anthropic and MCP


def read_anthropic(tool: Tool) -> Function | None:
    if is_other(tool.get("type"), "custom"):
        return None
    return checked(
        tool.get("name"), tool.get("description"), tool.get("input_schema"), tool.get("strict")
    )


def write_anthropic(function: Function) -> dict[str, Any]:
    return with_strict(written(function, "input_schema", is_needed=True), function)


def read_mcp(tool: Tool) -> Function | None:
    return checked(tool.get("name"), tool.get("description"), tool.get("inputSchema"))


def write_mcp(function: Function) -> dict[str, Any]:
    return written(function, "inputSchema", is_needed=True)


# Gemini, where one tool holds all functions


def read_gemini(tool: Tool) -> Function | None:
    if "name" not in tool:
        return None
    schema = first_given(tool, "parametersJsonSchema", "parameters_json_schema")
    if schema is None and tool.get("parameters") is not None:
        schema = as_json_schema(tool["parameters"])
    return checked(tool.get("name"), tool.get("description"), schema)


def write_gemini(function: Function) -> dict[str, Any]:
    return written(function, "parametersJsonSchema")


def gemini_parts(tools: Sequence[Any]) -> Iterable[Any]:
    """The functions and, each by itself, the provider's own tools."""
    for tool in tools:
        held = as_object(tool)
        if held is None or "name" in held:  # a function that stands alone
            yield tool
            continue
        for key, value in held.items():
            functions = as_list(value) if key in DECLARATIONS else None
            if functions is None:
                yield {key: value}
            else:
                yield from (declared(function) for function in functions)


def declared(function: Any) -> Any:
    """A function of Gemini's; one without a name is no tool of the provider's own for that."""
    held = as_object(function)
    return function if held is None or "name" in held else {"name": None, **held}


def gemini_joined(parts: list[Any]) -> list[Any]:
    functions = [part for part in parts if "name" in part]
    own = [part for part in parts if "name" not in part]
    return [{DECLARATIONS[0]: functions}, *own] if functions else own


def as_they_are(tools: Sequence[Any]) -> Iterable[Any]:
    return tools


def in_a_list(parts: list[Any]) -> list[Any]:
    return parts


FORMS: Final[dict[Style, Form]] = {
    "openai": Form(read_chat, write_chat, as_they_are, in_a_list),
    "responses": Form(read_responses, write_responses, as_they_are, in_a_list),
    "ollama": Form(read_chat, write_ollama, as_they_are, in_a_list),
    "anthropic": Form(read_anthropic, write_anthropic, as_they_are, in_a_list),
    "gemini": Form(read_gemini, write_gemini, gemini_parts, gemini_joined),
    "mcp": Form(read_mcp, write_mcp, as_they_are, in_a_list),
}
