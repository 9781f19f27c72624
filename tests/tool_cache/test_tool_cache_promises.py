"""Regressions: state shared by conversions, their depth, the size of entries, and late answers."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from support.builders.definition_styles import (
    NEED_A_SCHEMA,
    STYLES,
    WRITERS,
    DraftTool,
    joined,
    no_arguments,
)
from support.clocks import Clock, async_wait_until
from support.processes.late_threads import CountingCache
from support.rows import for_each

from toolcarry.errors import ConfigError
from toolcarry.tool_cache import MemoryToolCache, ToolCache, convert_tools
from toolcarry.tool_cache.stores import SharedToolCache


def tool(name: str, description: str = "") -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description}}


# What conversions share


@pytest.mark.parametrize("target", [style for style in NEED_A_SCHEMA if style != "bedrock"])
def test_the_schema_of_no_arguments_is_another_one_each_time(target: Any) -> None:
    tools = [{"type": "function", "function": {"name": name}} for name in "fg"]
    one, two = convert_tools(tools, source="openai", target=target)
    (key,) = one.keys() - {"name"}
    properties = one[key]["properties"]
    properties["secret"] = {"type": "string"}
    try:
        assert two[key] == no_arguments()
        cache = ToolCache()  # of somebody else
        cache.resolve("m", tools)
        found = cache.resolve("m", None, style=target).tools
        assert [each[key] for each in found] == [no_arguments(), no_arguments()]
    finally:
        properties.clear()  # so that no other test sees it


# Nothing raises but an unknown style


@for_each("target", STYLES)
@for_each("source", STYLES)
@for_each("depth", [*range(118, 127), 5_000])
def test_no_depth_raises(source: Any, target: Any, depth: int) -> None:
    """A schema that is just not too deep in one style may be so in another."""
    schema: Any = {"type": "string"}
    for _ in range(depth):
        schema = {"items": schema}
    flat = WRITERS[source](DraftTool("flat", schema={"type": "object"}))
    deep = WRITERS[source](DraftTool("deep"))
    inside = deep.get("function", deep)
    if source == "bedrock":
        inside = deep["toolSpec"]["inputSchema"]
    named = {
        "gemini": "parametersJsonSchema",
        "anthropic": "input_schema",
        "mcp": "inputSchema",
        "bedrock": "json",
    }
    inside[named.get(source, "parameters")] = schema
    cache = ToolCache()
    assert len(cache.resolve("m", joined([flat, deep], source), style=source).tools) <= 2
    assert isinstance(cache.resolve("m", None, style=target).tools, list)


class Broken:
    """An object that looks like an SDK's and fails when it is dumped."""

    def model_dump(self) -> dict[str, Any]:
        raise RuntimeError


@pytest.mark.parametrize(
    "given_tools", [[Broken()], [tool("f"), Broken()]], ids=["alone", "beside"]
)
def test_an_object_that_can_not_be_dumped_fails_no_request(given_tools: Any) -> None:
    assert ToolCache().resolve("m", given_tools).source == "request"


def test_a_choice_and_a_message_that_can_not_be_dumped_fail_no_request() -> None:
    cache = ToolCache()
    cache.resolve("m", [tool("f")])
    assert cache.resolve("m", None, tool_choice=Broken()).source in ("cache", "none")
    cache = ToolCache(when="tool_conversation")
    messages: Any = [{"role": "tool", "tool_call_id": "c", "content": "x"}, Broken()]
    assert cache.resolve("m", None, messages=messages).source in ("cache", "none")


@pytest.mark.parametrize("style", [["openai"], {"openai": 1}])
def test_a_style_that_is_no_text_is_refused_as_any_other(style: Any) -> None:
    with pytest.raises(ConfigError, match="style: "):
        ToolCache().resolve("m", None, style=style)


# What lives in memory


def test_an_entry_that_was_asked_for_in_many_styles_lives_again() -> None:
    """Each style that it is written in makes it larger."""
    clock = Clock()
    cache = ToolCache(MemoryToolCache(max_bytes=4_000, max_entries=1, ttl=160.0, clock=clock))
    cache.resolve("m", [tool("f", "x" * 1_000)])
    for style in STYLES:
        assert cache.resolve("m", None, style=style).source == "cache"
    clock.advance(20)
    assert cache.resolve("m", None).source in ("cache", "none")
    assert cache.resolve("m", [tool("f", "x" * 1_000)]).source == "request"


def test_the_cache_is_bounded_over_all_styles() -> None:
    store = MemoryToolCache(max_bytes=20_000, max_entries=20, ttl=160.0)
    cache = ToolCache(store)
    for number in range(12):
        cache.resolve(f"m{number}", [tool("f", "x" * 1_000)])
        for style in STYLES:
            cache.resolve(f"m{number}", None, style=style)
    held = [store.get(("", f"m{number}")) for number in range(12)]
    assert sum(each.size() for each in held if each is not None) <= 20_000


# Stores that take long


class SlowStore(SharedToolCache):
    """A store that makes the next readers wait, on demand, until they are released."""

    def __init__(self) -> None:
        super().__init__(ttl=60.0, max_entries=100, pause=0.0)
        self.values: dict[str, bytes] = {}
        self.may_go = threading.Event()
        self.to_hold = 0

    def close(self) -> None:
        """Nothing is open."""

    def _read(self, name: str) -> bytes | None:
        if self.to_hold:
            self.to_hold -= 1
            self.may_go.wait(10)
        return self.values.get(name)

    def _write(self, name: str, value: bytes) -> None:
        self.values[name] = value


async def let_go(cache: CountingCache, store: SlowStore) -> None:
    """Release the waiting readers, and wait until they have ended."""
    store.may_go.set()
    await async_wait_until(lambda: not cache.running, what="the late threads")


def test_tools_that_come_late_do_not_replace_newer_ones() -> None:
    """The thread that a task no longer waits for goes on."""

    async def main() -> list[Any]:
        store = SlowStore()
        cache = CountingCache(store)
        store.to_hold = 1
        await cache.aresolve("m", [tool("old")])
        await cache.aresolve("m", [tool("new")])
        await let_go(cache, store)
        return (await cache.aresolve("m", None)).tools

    assert asyncio.run(main()) == [tool("new")]


def test_a_request_is_counted_once_however_long_the_store_takes() -> None:
    async def main() -> tuple[int, int]:
        store = SlowStore()
        cache = CountingCache(store)
        await cache.aresolve("m", [tool("f")])
        store.to_hold = 1
        assert (await cache.aresolve("m", None)).tools == [tool("f")]
        await let_go(cache, store)
        return cache.counts["hit"], cache.counts["miss"]

    assert asyncio.run(main()) == (1, 0)


# Gemini's


def test_a_bare_declaration_is_whole_or_nothing() -> None:
    """Gemini has functions in ``functionDeclarations``; one that stands alone is not taken apart into its members."""
    bare = {"name": "f", "description": "Does f.", "parameters": {"type": "OBJECT"}}
    made = convert_tools([bare], source="gemini", target="mcp")
    whole = {"name": "f", "description": "Does f.", "inputSchema": {"type": "object"}}
    assert made in ([], [whole])


@pytest.mark.parametrize(
    "empty", [[{"functionDeclarations": []}], [{}], b'[{"functionDeclarations":[]}]']
)
def test_declarations_of_nothing_are_no_tools(empty: Any) -> None:
    cache = ToolCache()
    tools = [{"functionDeclarations": [{"name": "f"}]}]
    cache.resolve("m", tools, style="gemini")
    cache.resolve("m", empty, style="gemini")
    assert cache.resolve("m", None, style="gemini").tools == tools
