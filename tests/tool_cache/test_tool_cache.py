"""Tools that clients send, tools that are restored, and tools that are not."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from typing import Any

import pytest
from support.clocks import Clock
from support.rows import for_each

import toolcarry
from toolcarry.errors import ConfigError
from toolcarry.tool_cache import MemoryToolCache, ToolCache, cache_key


def tool(name: str, **beside: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
    function = {"name": name, "description": f"Does {name}.", "parameters": parameters}
    return {"type": "function", "function": {**function, **beside}}


TOOLS = [tool(f"tool_{number}") for number in range(9)]
CALLED = [
    {"role": "user", "content": "Read it."},
    {"role": "assistant", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "tool_1", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "x = 1"},
    {"role": "assistant", "content": "Read."},
    {"role": "user", "content": "Go on."},
]  # fmt: skip


def test_the_names_are_those_of_the_package() -> None:
    assert cache_key("llama3:8b") == toolcarry.cache_key("llama3:8b") == "model_llama3:8b"
    assert toolcarry.ToolCache is ToolCache


def test_the_tools_of_the_first_request_come_back_for_the_second() -> None:
    cache = ToolCache()
    first = cache.resolve("llama3", TOOLS)
    assert (first.source, first.tools) == ("request", TOOLS)
    second = cache.resolve("llama3", None)
    assert (second.source, second.tools) == ("cache", TOOLS)
    assert json.loads(second.to_bytes()) == TOOLS
    assert cache.resolve("qwen3", None).source == "none"
    assert cache.resolve("llama3", None, scope="another").tools == []
    assert cache.counts == {"store": 1, "hit": 1, "miss": 2}


def test_the_last_tools_count() -> None:
    cache = ToolCache()
    for number in (1, 2, 3, 3, 2):
        cache.resolve("m", TOOLS[:number])
    assert len(cache.resolve("m", None).tools) == 2
    assert cache.counts["store"] == 4


@for_each("empty", [[], (), b"[]", b" [ \n ] ", b"null", None])
def test_an_empty_list_counts_only_if_explicit(empty: Any) -> None:
    cache = ToolCache()
    cache.resolve("m", TOOLS)
    assert cache.resolve("m", empty).tools == TOOLS
    literal = ToolCache(empty_means_absent=False)
    literal.resolve("m", TOOLS)
    found = literal.resolve("m", empty)
    is_absent = empty is None or empty == b"null"
    assert found.source == ("cache" if is_absent else "request")
    assert found.tools == (TOOLS if is_absent else [])
    assert literal.resolve("m", None).tools == TOOLS


@pytest.mark.parametrize("choice", ["none", {"type": "none"}])
def test_who_wants_no_tools_gets_none(choice: Any) -> None:
    cache = ToolCache()
    assert cache.resolve("m", TOOLS, tool_choice=choice).source == "request"
    assert cache.resolve("m", None, tool_choice=choice).source == "none"
    for other in ("auto", "required", {"type": "auto"}, {"type": "tool", "name": "none"}, 7):
        assert cache.resolve("m", None, tool_choice=other).source == "cache"


@for_each(
    ("messages", "is_given"),
    [
        (None, False),
        ([], False),
        (CALLED[:1], False),
        (CALLED[:2], True),
        (CALLED, True),
        (CALLED[2:3], True),
        ([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}], True),
        ([{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}], True),
        ([{"role": "user", "content": "tool_calls"}, 7, None], False),
        (7, False),
    ],
)
def test_in_a_tool_conversation_only(messages: Any, is_given: bool) -> None:
    cache = ToolCache(when="tool_conversation")
    cache.resolve("m", TOOLS)
    found = cache.resolve("m", None, messages=messages)
    assert found.source == ("cache" if is_given else "none")


def test_never() -> None:
    cache = ToolCache(when="never")
    assert cache.resolve("m", TOOLS).tools == TOOLS
    assert cache.resolve("m", None, messages=CALLED).source == "none"
    assert not cache.counts


def test_returned_tools_belong_to_the_caller() -> None:
    cache = ToolCache()
    given = json.loads(json.dumps(TOOLS))
    for found in (cache.resolve("m", given), cache.resolve("m", None)):
        given[0]["function"]["name"] = "mine"
        found.tools[1]["function"]["parameters"]["properties"].clear()
        found.tools.pop()
        assert len(found.tools) == 8
        assert cache.resolve("m", None).tools == TOOLS


def test_invalid_definitions_are_dropped_one_by_one(caplog: pytest.LogCaptureFixture) -> None:
    invalid = [
        7, None, {}, {"type": 7, "function": {"name": "secret"}}, {"type": "function"},
        {"type": "function", "function": {"description": "secret"}}, tool(" "), tool("a", description=["secret"]),
        tool("b", parameters="secret"), TOOLS[0],
    ]  # fmt: skip
    cache = ToolCache()
    with caplog.at_level(logging.WARNING, "toolcarry.tool_cache"):
        found = cache.resolve("m", [TOOLS[0], *invalid, TOOLS[1]])
    assert found.tools == TOOLS[:2]
    assert cache.resolve("m", None).tools == TOOLS[:2]
    assert cache.counts["dropped"] == len(caplog.records) == len(invalid)
    assert "tool 11 is dropped: its name is already taken" in caplog.text
    assert "secret" not in caplog.text


@for_each("tools", [b"{", b'{"a": 1}', b"7", b"\xff", 7, "tools", {"a": 1}, [object()]])
def test_other_tool_values_pass_unchanged(tools: Any) -> None:
    cache = ToolCache()
    cache.resolve("m", TOOLS)
    assert cache.resolve("m", tools).source == "request"
    assert cache.counts["degrade"] == 1
    assert cache.resolve("m", None).tools == TOOLS


@for_each(("model", "scope"), [(None, ""), (7, ""), ("", ""), (["m"], ""), ("m", None), ("m", 7)])
def test_without_a_name_nothing_is_kept(model: Any, scope: Any) -> None:
    cache = ToolCache()
    assert cache.resolve(model, TOOLS, scope=scope).tools == TOOLS
    assert cache.resolve(model, None, scope=scope).source == "none"
    assert cache.resolve("m", None).source == "none"


def test_settings_that_are_invalid() -> None:
    style: Any = "bard"
    with pytest.raises(ConfigError, match="style: 'bard' is not allowed; allowed: 'openai', "):
        ToolCache().resolve("m", None, style=style)
    with pytest.raises(ConfigError, match="when: 'bard' is not allowed; allowed: 'always', "):
        ToolCache(when=style)
    with pytest.raises(ConfigError, match="ttl: 0 is not allowed"):
        MemoryToolCache(ttl=0)


def test_definitions_live_from_their_last_use_on() -> None:
    clock = Clock()
    cache = ToolCache(MemoryToolCache(ttl=160.0, clock=clock))
    cache.resolve("used", TOOLS)
    cache.resolve("sent again", TOOLS)
    cache.resolve("unused", TOOLS)
    for _ in range(4):
        clock.advance(80)
        assert cache.resolve("used", None).source == "cache"
        cache.resolve("sent again", TOOLS)
    assert cache.resolve("unused", None).source == "none"
    assert cache.resolve("sent again", None).source == "cache"


def test_the_cache_is_bounded() -> None:
    cache = ToolCache(MemoryToolCache(max_entries=10))
    for number in range(30):
        cache.resolve(f"m{number}", TOOLS)
        cache.resolve("m0", None)
    assert [cache.resolve(f"m{number}", None).source for number in (0, 1, 29)] == [
        "cache",
        "none",
        "cache",
    ]
    assert cache.counts["evict"] == 20
    small = ToolCache(MemoryToolCache(max_bytes=2_000))
    small.resolve("m", TOOLS[:1])
    small.resolve("m", [tool("long", description="x" * 3_000)])
    assert small.resolve("m", None).source == "none"


def test_tasks_ask_as_others_do() -> None:
    async def ask() -> None:
        cache = ToolCache(when="tool_conversation")
        assert (await cache.aresolve("m", TOOLS, scope="a")).source == "request"
        assert (await cache.aresolve("m", None, scope="a")).source == "none"
        found = await cache.aresolve("m", None, scope="a", messages=CALLED, style="anthropic")
        assert [each["name"] for each in found.tools] == [f"tool_{number}" for number in range(9)]
        assert (await cache.aresolve("m", None, scope="b", messages=CALLED)).source == "none"

    asyncio.run(ask())


def test_style_specific_tools_are_absent_in_other_styles() -> None:
    cache = ToolCache()
    search = [{"type": "web_search_20250305", "name": "web_search", "max_uses": 5}]
    cache.resolve("m", search, style="anthropic")
    assert cache.resolve("m", None, style="anthropic").tools == search
    assert cache.resolve("m", None, style="openai").source == "none"


def test_stores_are_imported_where_they_are_wanted() -> None:
    code = (
        "import sys, toolcarry, toolcarry.tool_cache as cache; cache.ToolCache().resolve('m', None)\n"
        "found = {'redis', 'apsw'} & set(sys.modules); sys.exit(f'{found}' if found else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
