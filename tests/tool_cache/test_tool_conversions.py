"""Definitions in one provider's style become those of another, and stay what they are in their own."""

from __future__ import annotations

import copy
import json
import logging
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies_definitions import (
    KNOW_STRICT,
    NEED_A_SCHEMA,
    SERVER_TOOLS,
    STYLES,
    WRITERS,
    Said,
    definitions_of,
    joined,
    json_values,
    no_arguments,
    requests,
    several,
)

from toolcarry.tool_cache import STYLES as STYLES_OF_THE_LIBRARY
from toolcarry.tool_cache import ToolCache, convert_tools

styles = st.sampled_from(STYLES)


def written(value: Any) -> str:
    """JSON with its keys in their order."""
    return json.dumps(value)


@st.composite
def tools_with_style(draw: Any) -> tuple[str, list[Said], list[Any]]:
    style, said = draw(styles), draw(several())
    return style, said, draw(requests(style, said))


# The same definition, side by side

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where it is."},
        "limit": {"type": ["integer", "null"], "minimum": 1},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
    },
    "required": ["path"],
}
SIDE_BY_SIDE: dict[str, list[dict[str, Any]]] = {
    "openai": [
        {
            "type": "function",
            "function": {
                "name": "Read",
                "description": "Reads a file.",
                "parameters": SCHEMA,
            },
        },
        {"type": "function", "function": {"name": "now"}},
    ],
    "responses": [
        {
            "type": "function",
            "name": "Read",
            "description": "Reads a file.",
            "parameters": SCHEMA,
            "strict": False,
        },
        {"type": "function", "name": "now", "strict": False},
    ],
    "ollama": [
        {
            "type": "function",
            "function": {
                "name": "Read",
                "description": "Reads a file.",
                "parameters": SCHEMA,
            },
        },
        {"type": "function", "function": {"name": "now"}},
    ],
    "anthropic": [
        {
            "name": "Read",
            "description": "Reads a file.",
            "input_schema": SCHEMA,
        },
        {"name": "now", "input_schema": {"type": "object", "properties": {}}},
    ],
    "gemini": [
        {
            "functionDeclarations": [
                {
                    "name": "Read",
                    "description": "Reads a file.",
                    "parametersJsonSchema": SCHEMA,
                },
                {"name": "now"},
            ]
        }
    ],
    "mcp": [
        {
            "name": "Read",
            "description": "Reads a file.",
            "inputSchema": SCHEMA,
        },
        {"name": "now", "inputSchema": {"type": "object", "properties": {}}},
    ],
}
GEMINI_IN_CAPITALS = [
    {
        "function_declarations": [
            {
                "name": "Read",
                "description": "Reads a file.",
                "parameters": {
                    "type": "OBJECT",
                    "properties": {
                        "path": {"type": "STRING", "description": "Where it is."},
                        "limit": {"type": "INTEGER", "nullable": True, "minimum": 1},
                        "tags": {"type": "ARRAY", "items": {"type": "STRING"}, "maxItems": "3"},
                    },
                    "required": ["path"],
                    "propertyOrdering": ["path", "limit", "tags"],
                },
            }
        ]
    },
    {"function_declarations": [{"name": "now"}]},
]


def test_the_styles_are_those_of_the_table() -> None:
    assert tuple(SIDE_BY_SIDE) == STYLES == STYLES_OF_THE_LIBRARY


@pytest.mark.parametrize("target", STYLES)
@pytest.mark.parametrize("source", [*STYLES, "gemini in capitals"])
def test_one_definition_in_every_style(source: str, target: Any) -> None:
    given = SIDE_BY_SIDE.get(source, GEMINI_IN_CAPITALS)
    style: Any = source.partition(" ")[0]
    made = convert_tools(given, source=style, target=target)
    if style == target:
        assert written(made) == written(given)
        return
    expected = copy.deepcopy(SIDE_BY_SIDE[target])
    if source in NEED_A_SCHEMA and target not in NEED_A_SCHEMA:
        # A schema that says that there are no arguments stays.
        last = definitions_of(expected, target)[-1]
        name = "parametersJsonSchema" if target == "gemini" else "parameters"
        last.get("function", last)[name] = no_arguments()
    if source == "responses" and target in KNOW_STRICT:
        # So does it that they need not be strict.
        for tool in expected:
            tool.get("function", tool)["strict"] = False
    assert made == expected


@pytest.mark.parametrize("target", STYLES)
@pytest.mark.parametrize("source", KNOW_STRICT)
@pytest.mark.parametrize("strict", [None, False, True])
def test_strict_goes_along_where_both_know_it(source: Any, target: Any, strict: Any) -> None:
    given = [WRITERS[source](Said("f", schema=SCHEMA, strict=strict))]
    (made,) = convert_tools(given, source=source, target=target)
    if source == target:
        assert made == given[0]
    elif target == "openai":
        assert made["function"].get("strict") is strict
    elif target == "anthropic":
        assert made.get("strict") is strict
    elif target == "responses":
        assert made["strict"] is bool(strict)  # where nothing stands, it is strict
    else:
        assert "strict" not in written(made)


@pytest.mark.parametrize("target", STYLES)
@pytest.mark.parametrize("source", STYLES)
def test_a_provider_s_own_tools_are_left_out_for_others(
    source: Any, target: Any, caplog: pytest.LogCaptureFixture
) -> None:
    own = [copy.deepcopy(tool) for tool in SERVER_TOOLS[source]]
    given = [*own, *SIDE_BY_SIDE[source]]
    with caplog.at_level(logging.INFO, "toolcarry.tool_cache"):
        made = convert_tools(given, source=source, target=target)
    if source == target:
        assert written(made) == written(given)
        assert not caplog.records
        return
    assert made == convert_tools(SIDE_BY_SIDE[source], source=source, target=target)
    assert len(caplog.records) == (1 if own else 0)
    if own:
        assert f"{len(own)} tools of {source} itself are left out for {target}" in caplog.text


# Whatever the definitions are


@given(tools_with_style())
def test_in_their_own_style_they_are_as_they_came(case: tuple[Any, list[Said], list[Any]]) -> None:
    style, _, tools = case
    before = written(tools)
    assert written(convert_tools(tools, source=style, target=style)) == before
    assert written(tools) == before
    cache = ToolCache()
    assert written(cache.resolve("m", tools, style=style).tools) == before
    assert written(tools) == before
    if tools:
        assert written(cache.resolve("m", None, style=style).tools) == before
    assert not cache.counts["dropped"]


@given(tools_with_style(), styles)
def test_another_style_says_the_same(case: tuple[Any, list[Said], list[Any]], target: Any) -> None:
    source, said, tools = case
    assume(source != target)
    before = written(tools)
    expected = [replace(each, strict=strict_in(target, source, each.strict)) for each in said]
    if source in NEED_A_SCHEMA:
        expected = [replace(each, schema=each.schema or no_arguments()) for each in expected]
    made = convert_tools(tools, source=source, target=target)
    assert made == joined([WRITERS[target](each) for each in expected], target)
    assert written(tools) == before
    cache = ToolCache()
    cache.resolve("m", tools, style=source)
    found = cache.resolve("m", None, style=target)
    assert found.tools == made
    assert found.source == ("cache" if made else "none")


def strict_in(target: str, source: str, strict: bool | None) -> bool | None:
    """What ``target`` says of ``strict``: Responses says it always."""
    known = strict if source in KNOW_STRICT else None
    if target == "responses":
        return bool(known)
    return known if target in KNOW_STRICT else None


@given(several(), styles, styles, st.data())
def test_there_and_back_again(said: list[Said], one: Any, other: Any, data: Any) -> None:
    tools = data.draw(requests(one, said))
    there = convert_tools(tools, source=one, target=other)
    back = definitions_of(convert_tools(there, source=other, target=one), one)
    assert len(back) == len(said)
    for each, tool in zip(said, back, strict=True):
        (found,) = convert_tools(joined([tool], one), source=one, target="openai")
        function = found["function"]
        assert function["name"] == each.name
        assert function.get("description") == each.description
        assert function.get("parameters") in (
            [each.schema] if each.schema is not None else [None, no_arguments()]
        )
        if each.strict is not None and one in KNOW_STRICT and other in KNOW_STRICT:
            assert function["strict"] is each.strict


def spoil(value: Any) -> None:
    """Change everything that is in a value."""
    if isinstance(value, dict):
        for inner in list(value.values()):
            spoil(inner)
        for key in ("name", "description", "type"):
            if key in value:
                value[key] = "spoiled"
        value["spoiled"] = True
    elif isinstance(value, list):
        for inner in value:
            spoil(inner)
        value.append("spoiled")


@given(tools_with_style(), styles)
def test_what_comes_out_is_the_caller_s(
    case: tuple[Any, list[Said], list[Any]], target: Any
) -> None:
    source, _, tools = case
    cache = ToolCache()
    before = written(tools)
    cache.resolve("m", tools, style=source)
    expected = written(cache.resolve("m", None, style=target).tools)
    for found in (cache.resolve("m", tools, style=source), cache.resolve("m", None, style=target)):
        spoil(found.tools)
        assert written(tools) == before
    assert written(cache.resolve("m", None, style=target).tools) == expected
    assert written(cache.resolve("m", None, style=source).tools) == (before if tools else "[]")
    spoil(tools)
    assert written(cache.resolve("m", None, style=target).tools) == expected


# What is no definition

BROKEN: dict[str, list[Any]] = {
    "openai": [
        None, 7, "f", [], {}, {"type": "function"}, {"type": "function", "function": []},
        {"type": "function", "function": {}}, {"type": "function", "function": {"name": ""}},
        {"type": "function", "function": {"name": 7}}, {"type": ["function"], "function": {"name": "x"}},
        {"type": "function", "function": {"name": "x", "description": 7}},
        {"type": "function", "function": {"name": "x", "parameters": []}},
    ],
    "responses": [
        None, {}, {"type": "function"}, {"type": "function", "name": " "}, {"type": 7, "name": "x"},
        {"type": "function", "name": "x", "parameters": "{}"}, {"type": "function", "name": "x", "description": []},
    ],
    "ollama": [None, {}, {"type": "function", "function": None}, {"type": "function", "function": {"name": None}}],
    "anthropic": [
        None, {}, {"name": ""}, {"name": "x", "input_schema": 7}, {"name": "x", "description": {}},
        {"name": {"a": 1}}, {"type": "custom"}, {"type": {}, "name": "x"},
    ],
    "gemini": [
        None, 7, {}, {"name": None}, {"name": " "}, {"name": "x", "description": 7}, {"name": "x", "parameters": "STRING"},
        {"name": "x", "parametersJsonSchema": []}, {"description": "no name"},
    ],
    "mcp": [None, {}, {"name": 7}, {"name": "x", "inputSchema": []}, {"name": "x", "description": 1}, {"inputSchema": {}}],
}  # fmt: skip
"""What no style takes for a definition, whatever stands beside it; Gemini's stand among its functions."""


@given(styles, several(max_size=4), st.data())
def test_invalid_ones_go_one_by_one(style: Any, said: list[Said], data: Any) -> None:
    tools = [WRITERS[style](each) for each in said]
    broken = data.draw(st.lists(st.sampled_from(BROKEN[style]), max_size=4))
    double = [copy.deepcopy(tool) for tool in tools if data.draw(st.booleans())]
    mixed = list(tools)
    for bad in broken:
        mixed.insert(data.draw(st.integers(0, len(mixed))), copy.deepcopy(bad))
    mixed += double  # the first of a name stays
    before = written(mixed)
    cache = ToolCache()
    given = joined(mixed, style)
    found = cache.resolve("m", given, style=style)
    assert found.tools == joined(tools, style)
    assert found.source == ("request" if mixed else "none")
    assert cache.counts["dropped"] == len(broken) + len(double)
    assert cache.resolve("m", None, style=style).tools == joined(tools, style)
    assert convert_tools(given, source=style, target=style) == joined(tools, style)
    assert written(mixed) == before


@given(styles, several(min_size=1, max_size=3), st.data())
def test_the_log_says_why_and_nothing_of_what(style: Any, said: list[Said], data: Any) -> None:
    bad = data.draw(st.sampled_from(BROKEN[style]))
    tools = joined([*(WRITERS[style](each) for each in said), bad], style)
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    logger = logging.getLogger("toolcarry.tool_cache")
    logger.addHandler(handler)
    try:
        convert_tools(tools, source=style, target="openai")
    finally:
        logger.removeHandler(handler)
    (record,) = (each for each in records if each.levelno == logging.WARNING)
    assert record.getMessage().startswith(f"tool {len(said) + 1} is dropped: ")


# Whatever JSON it is


@given(st.lists(json_values, max_size=4), styles, styles)
def test_no_json_raises(tools: list[Any], source: Any, target: Any) -> None:
    before = written(tools)
    made = convert_tools(tools, source=source, target=target)
    assert isinstance(made, list)
    assert all(isinstance(tool, dict) for tool in made)
    assert written(tools) == before


def places_in(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something stands in a document."""
    found = [place] if place else []
    if isinstance(value, dict):
        inner = list(value.items())
    else:
        inner = list(enumerate(value)) if isinstance(value, list) else []
    for key, each in inner:
        found += places_in(each, (*place, key))
    return found


@given(tools_with_style(), styles, st.data())
def test_no_damage_raises(case: tuple[Any, list[Said], list[Any]], target: Any, data: Any) -> None:
    """Any JSON where a definition has something else; what is made of it, others read as what it says."""
    source, _, drawn = case
    assume(drawn)
    tools = copy.deepcopy(drawn)  # other examples are drawn from the same values
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(places_in(tools) or [(0,)]))
        inner: Any = tools
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = data.draw(json_values)
    before = written(tools)
    made = convert_tools(tools, source=source, target=target)
    assert written(tools) == before
    again = convert_tools(made, source=target, target=target)
    assert written(again) == written(made)  # nothing that is made is invalid
    cache = ToolCache()
    assert cache.resolve("m", tools, style=source).source == "request"
    found = cache.resolve("m", None, style=target)
    assert found.tools == made
    assert json.loads(found.to_bytes()) == made


@given(json_values, styles, styles)
def test_no_body_raises(value: Any, source: Any, target: Any) -> None:
    cache = ToolCache()
    for given_tools in (value, json.dumps(value).encode(), json.dumps(value, indent=1).encode()):
        assert isinstance(cache.resolve("m", given_tools, style=source).tools, list)
        assert isinstance(cache.resolve("m", None, style=target).tools, list)


@given(st.binary(max_size=40), styles)
def test_no_bytes_raise(tools: bytes, style: Any) -> None:
    cache = ToolCache()
    assert isinstance(cache.resolve("m", tools, style=style).tools, list)
    assert isinstance(cache.resolve("m", None, style=style).tools, list)


MEMBERS = (
    "role",
    "content",
    "tool_calls",
    "type",
    "function",
    "name",
    "id",
    "call_id",
    "parts",
    "functionCall",
    "toolUse",
)


@given(
    st.recursive(
        json_values | st.sampled_from(("assistant", "tool", "user", "tool_use", "function_call")),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=4),
        max_leaves=12,
    ),
    json_values,
)  # fmt: skip
def test_no_messages_and_no_choice_raise(messages: Any, choice: Any) -> None:
    cache = ToolCache(when="tool_conversation")
    cache.resolve("m", SIDE_BY_SIDE["openai"])
    found = cache.resolve("m", None, messages=messages, tool_choice=choice)
    assert found.source in ("cache", "none")
