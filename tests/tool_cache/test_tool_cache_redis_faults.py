"""A Redis that stops, hangs, refuses or starts late: no request waits or fails because of it."""

from __future__ import annotations

import asyncio
import logging
import statistics
import time

import pytest
from support.clocks import Clock, wait_until
from support.processes.late_threads import CountingCache
from support.servers.redis import RedisServer, free_port
from support.servers.redis_caches import (
    MOST,
    TOOLS,
    StartRedis,
    asked,
    hurried,
    names,
    opened,
    until_others_have_it,
)

from toolcarry.errors import ConfigError
from toolcarry.tool_cache import RedisToolCache


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
def test_a_hanging_redis_delays_no_call_beyond_the_promise(
    redis_server: RedisServer, way: str
) -> None:
    """Each of these requests comes after the pause, so that it asks, and waits in vain."""
    clock = Clock()
    cache = CountingCache(RedisToolCache(redis_server.url, pause=2.0, clock=clock))

    def pause() -> None:
        wait_until(lambda: not cache.running, what="a thread that is late to fail")
        clock.advance(2)

    cache.resolve("m", TOOLS)
    redis_server.stop()
    for request in (None, TOOLS[:1]):
        found, times = asked(cache, way, *[request] * 15, between=pause)
        assert {each.source for each in found} == {"cache" if request is None else "request"}
        assert 0.005 < statistics.median(times) < MOST  # the longest may be another program's


def test_many_calls_to_a_hanging_redis(redis_server: RedisServer) -> None:
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
    assert "using the tools in memory" in caplog.text
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
    """It may be full, a replica of another server, or paused."""
    with redis_server.client() as client:
        client.execute_command(*command)
        cache = hurried(redis_server.url)
        found, times = asked(cache, way, TOOLS, *[None] * 199)
    assert [each.tools for each in found] == [TOOLS] * 200
    assert cache.counts["degrade"] > 0
    assert statistics.median(times) < MOST
    assert sum(times) < 4


def test_a_closed_port() -> None:
    cache = hurried(f"redis://127.0.0.1:{free_port()}")
    for way in ("resolve", "aresolve"):
        found, times = asked(cache, way, TOOLS, *[None] * 199)
        assert [each.tools for each in found] == [TOOLS] * 200
        assert statistics.median(times) < MOST
        assert sum(times) < 2
    cache.close()


@pytest.mark.parametrize("url", ["redis://127.0.0.1:99999", "http://127.0.0.1", "127.0.0.1", ""])
def test_a_url_that_is_invalid(url: str) -> None:
    with pytest.raises(ConfigError, match="redis_url: is not allowed"):
        RedisToolCache(url)
