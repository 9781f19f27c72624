"""Invalid definitions and arbitrary documents: only the invalid part is dropped, and nothing raises."""

from __future__ import annotations

import copy
import json
import logging
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.builders.definition_styles import (
    WRITERS,
    DraftTool,
    joined,
)
from support.builders.side_by_side import SIDE_BY_SIDE
from support.strategies.definitions import json_values, several
from support.strategies.tool_drafts import styles, tools_with_style, written

from toolcarry.tool_cache import ToolCache, convert_tools

# Invalid definitions

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
    "bedrock": [
        None, {}, {"name": "x", "inputSchema": {}}, {"toolSpec": {"name": 7}}, {"toolSpec": None},
        {"toolSpec": {"name": "x", "inputSchema": {"json": []}}}, {"toolSpec": {"name": "x", "description": 1}},
    ],
}  # fmt: skip
"""Definitions that every style refuses, in any company; Gemini's are among its functions."""


@given(styles, several(max_size=4), st.data())
def test_invalid_ones_go_one_by_one(style: Any, said: list[DraftTool], data: Any) -> None:
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
def test_the_log_says_why_and_nothing_of_what(style: Any, said: list[DraftTool], data: Any) -> None:
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


@pytest.mark.parametrize(
    "tools", [[{}], [{"functionDeclarations": []}], [{}, {"function_declarations": []}]]
)
def test_tools_of_gemini_that_hold_nothing_are_not_valid(tools: list[Any]) -> None:
    cache = ToolCache()
    assert cache.resolve("m", tools, style="gemini").source == "request"
    assert cache.resolve("m", None, style="gemini").tools == []
    assert convert_tools(tools, source="gemini", target="gemini") == []


# Any JSON document


@given(st.lists(json_values, max_size=4), styles, styles)
def test_no_json_raises(tools: list[Any], source: Any, target: Any) -> None:
    before = written(tools)
    made = convert_tools(tools, source=source, target=target)
    assert isinstance(made, list)
    assert all(isinstance(tool, dict) for tool in made)
    assert written(tools) == before


def places_in(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return all positions in a document."""
    found = [place] if place else []
    if isinstance(value, dict):
        inner = list(value.items())
    else:
        inner = list(enumerate(value)) if isinstance(value, list) else []
    for key, each in inner:
        found += places_in(each, (*place, key))
    return found


@given(tools_with_style(), styles, st.data())
def test_no_damage_raises(
    case: tuple[Any, list[DraftTool], list[Any]], target: Any, data: Any
) -> None:
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
