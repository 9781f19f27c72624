"""Caches on a Redis of the tests, and what they are asked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from support.clocks import Clock, wait_until
from support.servers.redis import RedisServer

from toolcarry.tool_cache import RedisToolCache, ToolCache, ToolResolution

PREFIX = "toolcarry:tools:"
MOST = 0.05
"""The promise: a request waits for Redis at most this many seconds."""

StartRedis = Callable[..., RedisServer]


def tool(name: str) -> dict[str, Any]:
    function = {"name": name, "parameters": {"type": "object", "properties": {}}}
    return {"type": "function", "function": function}


TOOLS = [tool("read"), tool("write")]


def opened(server: RedisServer, **settings: Any) -> ToolCache:
    """A cache as another process would have it, with nothing in memory. It is patient: a machine may be busy."""
    return ToolCache(RedisToolCache(server.url, **{"timeout": 10.0, **settings}))


def hurried(url: str, **settings: Any) -> ToolCache:
    """Return a cache with the default waiting times."""
    return ToolCache(RedisToolCache(url, **settings))


def names(server: RedisServer) -> list[str]:
    """Return the names in Redis, without their common prefix."""
    with server.client() as client:
        return sorted(name.decode().removeprefix(PREFIX) for name in client.scan_iter())


def let_time_go_by(clock: Clock, server: RedisServer, seconds: float) -> None:
    """Advance the clock of caches, and that of Redis as well: what it holds has so much less time to live."""
    clock.advance(seconds)
    with server.client() as client:
        for name in client.scan_iter():
            client.pexpire(name, client.pttl(name) - round(seconds * 1_000))


def asked(
    cache: ToolCache, way: str, *requests: Any, between: Callable[[], object] = lambda: None
) -> tuple[list[ToolResolution], list[float]]:
    """Requests for ``m``, one after the other: what came of each, and how long it took."""
    found: list[ToolResolution] = []
    times: list[float] = []

    async def ask() -> None:
        for tools in requests:
            start = time.perf_counter()
            if way == "aresolve":
                found.append(await cache.aresolve("m", tools))
            else:
                found.append(cache.resolve("m", tools))
            times.append(time.perf_counter() - start)
            between()
            await asyncio.sleep(0)

    asyncio.run(ask())
    return found, times


def until_others_have_it(cache: ToolCache, server: RedisServer, *models: str) -> None:
    """Ask for models' tools until Redis has them."""

    def others_have_it() -> bool:
        assert [cache.resolve(model, None).tools for model in models] == [TOOLS] * len(models)
        found = [opened(server).resolve(model, None).tools for model in models]
        return found == [TOOLS] * len(models)

    wait_until(others_have_it, what="Redis to have the tools")
