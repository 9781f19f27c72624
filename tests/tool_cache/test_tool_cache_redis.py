"""Definitions in Redis: processes share them, and whatever happens to Redis, no request waits or fails for it."""

from __future__ import annotations

import asyncio
import logging
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from redis_server import RedisServer, free_port
from tool_workers import tool_workers

from toolcarry.errors import ConfigError
from toolcarry.tool_cache import RedisToolCache, ToolCache, ToolResolution
from toolcarry.tool_cache.shared import TAG, checksum

PREFIX = "toolcarry:tools:"
MOST = 0.05
"""The promise: a request waits for Redis no longer than so many seconds."""

StartRedis = Callable[..., RedisServer]


def tool(name: str) -> dict[str, Any]:
    function = {"name": name, "parameters": {"type": "object", "properties": {}}}
    return {"type": "function", "function": function}


TOOLS = [tool("read"), tool("write")]


def opened(server: RedisServer, **settings: Any) -> ToolCache:
    """A cache as another process would have it, with nothing in memory. It is patient: a machine may be busy."""
    return ToolCache(RedisToolCache(server.url, **{"timeout": 10.0, **settings}))


def hurried(url: str, **settings: Any) -> ToolCache:
    """A cache that waits as long as caches do where nothing else is said."""
    return ToolCache(RedisToolCache(url, **settings))


def names(server: RedisServer) -> list[str]:
    """What is in Redis, without what all names begin with."""
    with server.client() as client:
        return sorted(name.decode().removeprefix(PREFIX) for name in client.scan_iter())


def asked(
    cache: ToolCache, way: str, *requests: Any, rest: float = 0.0
) -> tuple[list[ToolResolution], list[float]]:
    """Requests for ``m``, one after the other with a ``rest``: what came of each, and how long it took."""
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
            await asyncio.sleep(rest)

    asyncio.run(ask())
    return found, times


def until_others_have_it(cache: ToolCache, server: RedisServer, *models: str) -> None:
    """Ask for models' tools until Redis has them."""
    deadline = time.monotonic() + 30
    while True:
        assert [cache.resolve(model, None).tools for model in models] == [TOOLS] * len(models)
        found = [opened(server).resolve(model, None).tools for model in models]
        if found == [TOOLS] * len(models):
            return
        assert time.monotonic() < deadline
        time.sleep(0.01)


# Several processes


def test_processes_share_definitions(redis_server: RedisServer) -> None:
    with tool_workers(redis_server.url, 2) as (one, two):
        assert one.resolve("m") == ("none", [])
        assert one.resolve("m", TOOLS, scope="t") == ("request", TOOLS)
        assert two.resolve("m", scope="t") == ("cache", TOOLS)
        assert two.resolve("m", scope="t", style="anthropic")[1][0]["name"] == "read"
        assert two.resolve("m", scope="u") == two.resolve("n", scope="t") == ("none", [])
        assert two.resolve("m", TOOLS[:1], scope="t") == ("request", TOOLS[:1])
        assert one.resolve("m", scope="t") == ("cache", TOOLS[:1])
        assert one.resolve("m", TOOLS, scope="t") == ("request", TOOLS)
        assert two.resolve("m", scope="t") == ("cache", TOOLS)


def test_what_comes_back_is_what_one_request_had(redis_server: RedisServer) -> None:
    """However many processes write under one name at a time."""
    lists = [[tool(f"{size}_{number}") for number in range(size)] for size in (1, 40, 400)]
    with tool_workers(redis_server.url, 3) as workers:
        workers[0].resolve("m", lists[0])
        for turn in range(60):
            for number, worker in enumerate(workers):
                worker.ask("m", lists[(number + turn) % 3])
                worker.ask("m", None)
            for worker in workers:
                assert worker.answer()[0] == "request"
                source, tools = worker.answer()
                assert source == "cache"
                assert tools in lists


def test_many_threads_ask_at_a_time(redis_server: RedisServer) -> None:
    """Each gets the tools of its own model."""
    cache = opened(redis_server)
    wrong: list[object] = []

    def ask(number: int) -> None:
        tools = [tool(f"of {number}")]
        for _ in range(20):
            for given in (tools, None):
                found = cache.resolve(f"m{number}", given).tools
                if found != tools:
                    wrong.append(found)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(names(redis_server)) == 16


def test_nobody_reads_in_a_name_whose_tools_they_are(redis_server: RedisServer) -> None:
    cache = opened(redis_server)
    for model in ("llama3", "a model\r\nwith \u00fc", "long" * 1_000):
        cache.resolve(model, TOOLS, scope="tenant and key")
        fresh = opened(redis_server)
        assert fresh.resolve(model, None, scope="tenant and key").tools == TOOLS
        assert fresh.resolve(model, None, scope="tenant").source == "none"
    assert not [name for name in names(redis_server) if "tenant" in name or len(name) > 300]


# How long they live


def test_each_use_lets_them_live_anew(redis_server: RedisServer) -> None:
    opened(redis_server, ttl=60.0).resolve("m", TOOLS)
    (name,) = names(redis_server)
    with redis_server.client() as client:
        for tools in (None, TOOLS):
            client.pexpire(PREFIX + name, 5_000)
            assert opened(redis_server, ttl=60.0).resolve("m", tools).tools == TOOLS
            assert 50_000 < client.pttl(PREFIX + name) <= 60_000


def test_they_live_from_their_last_use_on(redis_server: RedisServer) -> None:
    cache = opened(redis_server, ttl=0.6)
    for model in ("used", "sent again", "unused"):
        cache.resolve(model, TOOLS)
    for _ in range(4):
        time.sleep(0.3)
        assert cache.resolve("used", None).source == "cache"
        cache.resolve("sent again", TOOLS)
    fresh = opened(redis_server, ttl=0.6)
    for found in (cache, fresh):
        sources = [found.resolve(model, None).source for model in ("used", "sent again", "unused")]
        assert sources == ["cache", "cache", "none"]
    time.sleep(0.7)  # and a sixteenth of 0.6 more, in memory
    assert names(redis_server) == []
    assert cache.resolve("used", None).source == "none"


def test_what_redis_lost_is_told_again(redis_server: RedisServer) -> None:
    cache = opened(redis_server)
    cache.resolve("m", TOOLS)
    for tools in (None, TOOLS):
        with redis_server.client() as client:
            client.flushall()
        assert cache.resolve("m", None).tools == TOOLS
        assert opened(redis_server).resolve("m", tools).tools == TOOLS
    assert cache.counts["degrade"] == 0


# What others write


def test_a_value_that_is_broken_anywhere_is_ignored(redis_server: RedisServer) -> None:
    opened(redis_server).resolve("m", TOOLS[:1])
    (name,) = names(redis_server)
    with redis_server.client() as client:
        value: Any = client.get(PREFIX + name)
        for end in range(len(value)):
            flipped = value[:end] + bytes([value[end] ^ 1]) + value[end + 1 :]
            for broken in (value[:end], flipped):
                client.set(PREFIX + name, broken)
                cache = opened(redis_server)
                assert cache.resolve("m", None).source == "none"
                assert cache.counts["degrade"] == 1
                cache.close()
        client.set(PREFIX + name, value)
    assert opened(redis_server).resolve("m", None).tools == TOOLS[:1]


BODIES = [
    b"", b"7", b"[]", b"{}", b'["openai"]', b'["openai", 7]', b'["openai", null]', b'["bard", "[]"]',
    b'[["openai"], "[]"]', b'["openai", "{"]', b'["openai", "{}"]', b'["openai", "[]"]', b'["openai", "[7]"]',
    b'["openai", "' + b"[" * 100_000 + b'"]', b"[" * 100_000, b'["openai", "\xff"]', b'["openai", "\\ud800"]',
    b'{"openai": 1, "[]": 2}',
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES, ids=lambda body: repr(body[:20]))
def test_a_value_of_somebody_who_knows_the_tag(redis_server: RedisServer, body: bytes) -> None:
    opened(redis_server).resolve("m", TOOLS)
    (name,) = names(redis_server)
    with redis_server.client() as client:
        client.set(PREFIX + name, TAG + checksum(name, body) + body)
    cache = opened(redis_server)
    assert cache.resolve("m", None).source == "none"
    assert cache.resolve("m", TOOLS).tools == TOOLS
    assert opened(redis_server).resolve("m", None).tools == TOOLS


def test_a_value_under_another_name_is_ignored(redis_server: RedisServer) -> None:
    cache = opened(redis_server)
    cache.resolve("m", TOOLS, scope="one")
    (first,) = names(redis_server)
    cache.resolve("m", [tool("secret")], scope="two")
    (second,) = {*names(redis_server)} - {first}
    with redis_server.client() as client:
        client.copy(PREFIX + second, PREFIX + first, replace=True)
    fresh = opened(redis_server)
    assert fresh.resolve("m", None, scope="one").source == "none"
    assert fresh.resolve("m", None, scope="two").tools == [tool("secret")]
    assert (
        cache.resolve("m", None, scope="one").tools == TOOLS
    )  # from memory, which is told to Redis
    assert fresh.resolve("m", None, scope="one").tools == TOOLS


@pytest.mark.parametrize("kind", ["list", "hash", "stream"])
def test_a_name_that_holds_something_else(redis_server: RedisServer, kind: str) -> None:
    cache = opened(redis_server)
    cache.resolve("m", TOOLS)
    (name,) = names(redis_server)
    key = PREFIX + name
    with redis_server.client() as client:
        client.delete(key)
        if kind == "list":
            client.rpush(key, "tools")
        elif kind == "hash":
            client.hset(key, "tools", "tools")
        else:
            client.xadd(key, {"tools": "tools"})
    fresh = opened(redis_server)
    for way in ("resolve", "aresolve"):
        found, _ = asked(fresh, way, None, None)
        assert [each.source for each in found] == ["none", "none"]
    assert fresh.counts["degrade"] >= 4
    assert cache.resolve("m", None).tools == TOOLS
    assert opened(redis_server).resolve("m", TOOLS[:1]).tools == TOOLS[:1]
    assert opened(redis_server).resolve("m", None).tools == TOOLS[:1]


# Redis that can't be had


@pytest.mark.parametrize("way", ["resolve", "aresolve"])
@pytest.mark.parametrize("fault", ["stands still", "is killed"])
def test_memory_has_to_do_until_redis_is_back(
    redis_server: RedisServer, fault: str, way: str
) -> None:
    cache = hurried(redis_server.url, pause=0.2)
    cache.resolve("m", TOOLS)
    if fault == "stands still":
        redis_server.stop()
    else:
        redis_server.kill()
    found, times = asked(cache, way, *[TOOLS, None] * 100)
    assert [each.tools for each in found] == [TOOLS] * 200
    assert cache.counts["degrade"] >= 100  # what was just sent need not be asked for
    # Only the first waits, and one after each pause.
    assert statistics.median(times) < MOST
    assert sum(times) < 2
    cache.resolve("meanwhile", TOOLS)
    if fault == "stands still":
        redis_server.go_on()
    else:
        redis_server.start()
    until_others_have_it(cache, redis_server, "m", "meanwhile")
    cache.close()


@pytest.mark.parametrize("way", ["resolve", "aresolve"])
def test_who_asks_a_redis_that_stands_still_waits_no_longer_than_is_promised(
    redis_server: RedisServer, way: str
) -> None:
    """Each of these requests comes after the pause, so that it asks, and waits in vain."""
    cache = hurried(redis_server.url, pause=0.001)
    cache.resolve("m", TOOLS)
    redis_server.stop()
    for request in (None, TOOLS[:1]):
        found, times = asked(cache, way, *[request] * 15, rest=0.005)
        assert {each.source for each in found} == {"cache" if request is None else "request"}
        assert 0.005 < statistics.median(times) < MOST  # the longest may be another program's


def test_many_ask_a_redis_that_stands_still(redis_server: RedisServer) -> None:
    """All at once, before anyone knows that it does."""
    cache = hurried(redis_server.url)
    cache.resolve("m", TOOLS)
    times: list[float] = []

    async def ask() -> None:
        start = time.perf_counter()
        assert (await cache.aresolve("m", None)).tools == TOOLS
        times.append(time.perf_counter() - start)

    async def ask_all() -> None:
        await asyncio.gather(*[ask() for _ in range(200)])

    redis_server.stop()
    asyncio.run(ask_all())
    assert len(times) == 200
    assert max(times) < 1  # 40 ms, and what 200 tasks take of one processor
    assert cache.counts["degrade"] >= 200


@pytest.mark.parametrize("way", ["resolve", "aresolve"])
def test_a_redis_that_starts_late(start_redis: StartRedis, way: str) -> None:
    server = start_redis(is_late=True)
    cache = hurried(server.url, pause=0.1)
    found, times = asked(cache, way, TOOLS, *[None] * 199)
    assert [each.tools for each in found] == [TOOLS] * 200
    assert statistics.median(times) < MOST
    assert sum(times) < 2
    assert cache.counts["degrade"] >= 200
    server.start()
    until_others_have_it(cache, server, "m")


def test_a_redis_that_wants_another_password(
    start_redis: StartRedis, caplog: pytest.LogCaptureFixture
) -> None:
    server = start_redis(password="open-sesame")
    for password in ("shut-sesame", ""):
        cache = hurried(server.url_with(password))
        with caplog.at_level(logging.DEBUG):
            found, times = asked(cache, "resolve", TOOLS, *[None] * 199)
        assert [each.tools for each in found] == [TOOLS] * 200
        assert cache.counts["degrade"] >= 200
        assert statistics.median(times) < MOST
        assert sum(times) < 2
    assert names(server) == []
    assert "the tools in memory have to do" in caplog.text
    assert "sesame" not in caplog.text
    cache = opened(server)
    cache.resolve("m", TOOLS)
    assert opened(server).resolve("m", None).tools == TOOLS


@pytest.mark.parametrize(
    "command",
    [
        ("CONFIG", "SET", "maxmemory", "1"),
        ("CONFIG", "SET", "maxclients", "1"),
        ("REPLICAOF", "127.0.0.1", "1"),
        ("CLIENT", "PAUSE", "60000"),
        ("ACL", "SETUSER", "default", "-getex", "-set"),
    ],
    ids=lambda command: " ".join(command[:3]),
)
@pytest.mark.parametrize("way", ["resolve", "aresolve"])
def test_a_redis_that_refuses(
    redis_server: RedisServer, command: tuple[str, ...], way: str
) -> None:
    """Because it is full, or somebody else's copy, or has been told to wait."""
    with redis_server.client() as client:
        client.execute_command(*command)
        cache = hurried(redis_server.url)
        found, times = asked(cache, way, TOOLS, *[None] * 199)
    assert [each.tools for each in found] == [TOOLS] * 200
    assert cache.counts["degrade"] > 0
    assert statistics.median(times) < MOST
    assert sum(times) < 4


def test_a_port_on_which_nobody_listens() -> None:
    cache = hurried(f"redis://127.0.0.1:{free_port()}")
    for way in ("resolve", "aresolve"):
        found, times = asked(cache, way, TOOLS, *[None] * 199)
        assert [each.tools for each in found] == [TOOLS] * 200
        assert statistics.median(times) < MOST
        assert sum(times) < 2
    cache.close()


@pytest.mark.parametrize("url", ["redis://127.0.0.1:99999", "http://127.0.0.1", "127.0.0.1", ""])
def test_a_url_that_is_none(url: str) -> None:
    with pytest.raises(ConfigError, match="redis_url: is not allowed"):
        RedisToolCache(url)
