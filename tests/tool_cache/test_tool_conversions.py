"""Definitions in one provider's style become those of another, and stay what they are in their own."""

from __future__ import annotations

import copy
import logging
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.builders.definition_styles import (
    KNOW_STRICT,
    NEED_A_SCHEMA,
    STYLES,
    WRITERS,
    DraftTool,
    definitions_of,
    joined,
    no_arguments,
)
from support.builders.side_by_side import SCHEMA, SIDE_BY_SIDE
from support.rows import for_each
from support.strategies.definitions import SERVER_TOOLS, requests, several
from support.strategies.tool_drafts import styles, tools_with_style, written

from toolcarry._util.plural import counted
from toolcarry.tool_cache import STYLES as STYLES_OF_THE_LIBRARY
from toolcarry.tool_cache import ToolCache, convert_tools

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


@for_each("target", STYLES)
@for_each("source", [*STYLES, "gemini in capitals"])
def test_one_definition_in_every_style(source: str, target: Any) -> None:
    given = SIDE_BY_SIDE.get(source, GEMINI_IN_CAPITALS)
    style: Any = source.partition(" ")[0]
    made = convert_tools(given, source=style, target=target)
    if style == target:
        assert written(made) == written(given)
        return
    expected = copy.deepcopy(SIDE_BY_SIDE[target])
    if source in NEED_A_SCHEMA and target not in NEED_A_SCHEMA:
        # A schema that states that there are no arguments stays.
        last = definitions_of(expected, target)[-1]
        name = "parametersJsonSchema" if target == "gemini" else "parameters"
        last.get("function", last)[name] = no_arguments()
    if source == "responses" and target in KNOW_STRICT:
        # So does it that they need not be strict.
        for tool in expected:
            tool.get("function", tool.get("toolSpec", tool))["strict"] = False
    assert made == expected


@for_each("target", STYLES)
@for_each("source", KNOW_STRICT)
@for_each("strict", [None, False, True])
def test_strict_goes_along_where_both_know_it(source: Any, target: Any, strict: Any) -> None:
    given = [WRITERS[source](DraftTool("f", schema=SCHEMA, strict=strict))]
    (made,) = convert_tools(given, source=source, target=target)
    if source == target:
        assert made == given[0]
    elif target == "openai":
        assert made["function"].get("strict") is strict
    elif target == "anthropic":
        assert made.get("strict") is strict
    elif target == "bedrock":
        assert made["toolSpec"].get("strict") is strict
    elif target == "responses":
        assert made["strict"] is bool(strict)  # without a value, it is strict
    else:
        assert "strict" not in written(made)


@for_each("target", STYLES)
@for_each("source", STYLES)
def test_a_provider_s_own_tools_are_left_out_for_others(
    source: Any, target: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
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
        assert (
            f"left out for {target}: {counted(len(own), 'tool')} that only {source} can run"
            in caplog.text
        )


# Any definitions


@given(tools_with_style())
def test_in_their_own_style_they_are_as_they_came(
    case: tuple[Any, list[DraftTool], list[Any]],
) -> None:
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
def test_another_style_says_the_same(
    case: tuple[Any, list[DraftTool], list[Any]], target: Any
) -> None:
    source, said, tools = case
    assume(source != target)
    before = written(tools)
    expected = [replace(each, strict=strict_in(target, source, each.strict)) for each in said]
    if source in NEED_A_SCHEMA:
        expected = [replace(each, schema=each.schema or no_arguments()) for each in expected]
    if source == "bedrock":  # it has no empty descriptions
        expected = [replace(each, description=each.description or None) for each in expected]
    made = convert_tools(tools, source=source, target=target)
    assert made == joined([WRITERS[target](each) for each in expected], target)
    assert written(tools) == before
    cache = ToolCache()
    cache.resolve("m", tools, style=source)
    found = cache.resolve("m", None, style=target)
    assert found.tools == made
    assert found.source == ("cache" if made else "none")


def strict_in(target: str, source: str, strict: bool | None) -> bool | None:
    """Return the value of ``strict`` in ``target``: Responses always has one."""
    known = strict if source in KNOW_STRICT else None
    if target == "responses":
        return bool(known)
    return known if target in KNOW_STRICT else None


@given(several(), styles, styles, st.data())
def test_there_and_back_again(said: list[DraftTool], one: Any, other: Any, data: Any) -> None:
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
def test_converted_tools_belong_to_the_caller(
    case: tuple[Any, list[DraftTool], list[Any]], target: Any
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
