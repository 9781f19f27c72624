"""Tool definitions in neutral form, and writers for the style of each provider's documentation.

``WRITERS`` belong to the tests: the library's version of a definition is compared with theirs."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

Json = Any

STYLES = ("openai", "responses", "ollama", "anthropic", "gemini", "mcp", "bedrock")
NEED_A_SCHEMA = ("anthropic", "mcp", "bedrock")
KNOW_STRICT = ("openai", "responses", "anthropic", "bedrock")


@dataclass(frozen=True)
class DraftTool:
    """A neutral definition: ``schema`` is its JSON Schema, ``capitals`` the same schema in Gemini's own notation."""

    name: str
    description: str | None = None
    schema: Json = None
    capitals: Json = None
    strict: bool | None = None


# What each style makes of one


def members(said: DraftTool, schema: str | None) -> dict[str, Json]:
    made = {"name": said.name}
    if said.description is not None:
        made["description"] = said.description
    if schema is not None and said.schema is not None:
        made[schema] = copy.deepcopy(said.schema)
    return made


def with_strict(made: dict[str, Json], said: DraftTool) -> dict[str, Json]:
    return made if said.strict is None else {**made, "strict": said.strict}


def write_openai(said: DraftTool) -> dict[str, Json]:
    return {"type": "function", "function": with_strict(members(said, "parameters"), said)}


def write_responses(said: DraftTool) -> dict[str, Json]:
    return with_strict({"type": "function", **members(said, "parameters")}, said)


def write_ollama(said: DraftTool) -> dict[str, Json]:
    return {"type": "function", "function": members(said, "parameters")}


def write_anthropic(said: DraftTool) -> dict[str, Json]:
    return with_strict(members(with_schema(said), "input_schema"), said)


def write_gemini(said: DraftTool) -> dict[str, Json]:
    return members(said, "parametersJsonSchema")


def write_gemini_in_capitals(said: DraftTool) -> dict[str, Json]:
    made = members(said, None)
    return made if said.capitals is None else {**made, "parameters": copy.deepcopy(said.capitals)}


def write_mcp(said: DraftTool) -> dict[str, Json]:
    return members(with_schema(said), "inputSchema")


def write_bedrock(said: DraftTool) -> dict[str, Json]:
    made = with_strict(members(with_schema(said), "inputSchema"), said)
    if not said.description:
        made.pop("description", None)
    return {"toolSpec": {**made, "inputSchema": {"json": made["inputSchema"]}}}


WRITERS: dict[str, Callable[[DraftTool], dict[str, Json]]] = {
    "openai": write_openai,
    "responses": write_responses,
    "ollama": write_ollama,
    "anthropic": write_anthropic,
    "gemini": write_gemini,
    "mcp": write_mcp,
    "bedrock": write_bedrock,
}


def with_schema(said: DraftTool) -> DraftTool:
    """Return the definition with a schema, for styles that require one."""
    return said if said.schema is not None else replace(said, schema=no_arguments())


def no_arguments() -> dict[str, Json]:
    return {"type": "object", "properties": {}}


def joined(written: list[dict[str, Json]], style: str) -> list[dict[str, Json]]:
    """Definitions as a request has them: Gemini's are all in one tool."""
    return [{"functionDeclarations": written}] if style == "gemini" and written else written


def definitions_of(tools: list[dict[str, Json]], style: str) -> list[dict[str, Json]]:
    """The definitions of functions in a request's tools, without the providers' own."""
    if style == "gemini":
        keys = ("functionDeclarations", "function_declarations")
        return [each for tool in tools for key in keys for each in tool.get(key, ())]
    if style == "bedrock":
        return [tool["toolSpec"] for tool in tools if "toolSpec" in tool]
    kind = {"anthropic": "custom", "mcp": None}.get(style, "function")
    return [tool for tool in tools if tool.get("type", kind) == kind]
