"""A request never loses its own tools: not if a store raises, and not if a definition can't be written as JSON."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from support.rows import for_each

from toolcarry.tool_cache import MemoryToolCache, ToolCache, ToolResolution


def tool(name: str, **members: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, **members}}


class RaisingStore(MemoryToolCache):
    """A store whose methods raise, as one of the caller may."""

    def __init__(self, methods: tuple[str, ...], error: Exception, *, is_waiting: bool) -> None:
        super().__init__()
        self.methods = methods
        self.error = error
        self.is_waiting = is_waiting

    def _raise_in(self, method: str) -> None:
        if method in self.methods:
            raise self.error

    def get(self, *arguments: Any) -> Any:
        self._raise_in("get")
        return super().get(*arguments)

    def find(self, *arguments: Any) -> Any:
        self._raise_in("find")
        return super().find(*arguments)

    def set(self, *arguments: Any) -> int:
        self._raise_in("set")
        return super().set(*arguments)


class NoDefinitions(MemoryToolCache):
    """A store that returns something else than definitions."""

    def find(self, *_: Any) -> Any:
        return {"data": b"[]"}


def resolve(cache: ToolCache, *arguments: Any) -> ToolResolution:
    return cache.resolve(*arguments)


def aresolve(cache: ToolCache, *arguments: Any) -> ToolResolution:
    return asyncio.run(cache.aresolve(*arguments))


WAYS = for_each("way", [resolve, aresolve])


@WAYS
@for_each("error", [OSError("gone"), RuntimeError(), KeyError("x"), TypeError()])
@for_each("is_waiting", [False, True])
@for_each("methods", [("find",), ("set",), ("find", "set", "get")])
def test_a_store_that_raises_loses_no_tools(
    way: Callable[..., ToolResolution], methods: tuple[str, ...], is_waiting: bool, error: Exception
) -> None:
    cache = ToolCache(RaisingStore(methods, error, is_waiting=is_waiting))
    tools = [tool("f"), tool("g", description="two")]
    for _ in range(2):
        found = way(cache, "m", tools)
        assert (found.source, found.tools) == ("request", tools)
    assert cache.counts["degrade"] >= 2
    cache.close()


@WAYS
def test_a_store_that_raises_gives_nothing_back(way: Callable[..., ToolResolution]) -> None:
    cache = ToolCache(RaisingStore(("get",), OSError(), is_waiting=False))
    way(cache, "m", [tool("f")])
    found = way(cache, "m", None)
    assert (found.source, found.tools) == ("none", [])
    assert cache.counts["degrade"] == 1


def test_a_store_that_returns_no_definitions_loses_no_tools() -> None:
    cache = ToolCache(NoDefinitions())
    assert cache.resolve("m", [tool("f")]).tools == [tool("f")]
    assert cache.counts["degrade"] == 1


def test_the_log_names_the_kind_of_error_only(caplog: pytest.LogCaptureFixture) -> None:
    cache = ToolCache(RaisingStore(("set",), OSError("password=hunter2"), is_waiting=False))
    with caplog.at_level(logging.WARNING):
        cache.resolve("m", [tool("f")])
    assert "OSError" in caplog.text
    assert "hunter2" not in caplog.text


class RaisingModel:
    """An object of an SDK that can't be dumped."""

    def model_dump(self, **_: Any) -> dict[str, Any]:
        raise RuntimeError("not today")


def cyclic_tool() -> dict[str, Any]:
    made = tool("cyclic", parameters={})
    made["function"]["parameters"]["properties"] = made
    return made


def deep_tool(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"items": schema}
    return tool("deep", parameters=schema)


UNWRITABLE: dict[str, Callable[[], Any]] = {
    "an object that can't be dumped": RaisingModel,
    "a plain object": object,
    "a cycle": cyclic_tool,
    "3,000 levels": lambda: deep_tool(3_000),
    "a set": lambda: tool("set", parameters={"enum": {1, 2}}),
    "bytes": lambda: tool("bytes", description=b"raw"),
    "a key that is not text": lambda: tool("keys", parameters={(1, 2): "x"}),
}


@WAYS
@for_each("kind", UNWRITABLE)
def test_a_definition_that_cannot_be_written_loses_no_other(
    way: Callable[..., ToolResolution], kind: str
) -> None:
    bad = UNWRITABLE[kind]()
    cache = ToolCache()
    found = way(cache, "m", [tool("f"), bad, tool("g")])
    assert found.source == "request"
    first, second, third = found.tools
    assert (first, third) == (tool("f"), tool("g"))
    assert second is bad or second["function"]["name"] == bad["function"]["name"]
    assert b'"f"' in found.to_bytes()
    assert b'"g"' in found.to_bytes()


def test_unwritable_tools_are_counted_and_not_stored() -> None:
    cache = ToolCache()
    cache.resolve("m", [tool("f"), RaisingModel()])  # type: ignore[list-item] # the point of the test
    assert cache.counts["degrade"] == 1
    assert cache.resolve("m", None).source == "none"


@pytest.mark.parametrize("tools", [b"[", b'{"a": 1}', b'[{"name": }]'])
def test_bytes_that_cannot_be_read_come_back(tools: bytes) -> None:
    found = ToolCache().resolve("m", tools)
    assert (found.source, found.tools, found.to_bytes()) == ("request", [], tools)
