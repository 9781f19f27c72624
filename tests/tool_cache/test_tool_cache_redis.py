"""Definitions in Redis: processes share them, each use extends their life, and broken entries are ignored."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from support.clocks import Clock
from support.processes.tool_workers import tool_workers
from support.servers.redis import RedisServer
from support.servers.redis_caches import (
    PREFIX,
    TOOLS,
    asked,
    let_time_go_by,
    names,
    opened,
    tool,
)

from toolcarry.tool_cache.stores import TAG, checksum


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine may be busy: that nobody waits for long is tested elsewhere."""
    monkeypatch.setattr("toolcarry.tool_cache.cache.MOST_WAIT", 10.0)


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


def test_a_reader_gets_the_tools_of_one_request(redis_server: RedisServer) -> None:
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


def test_many_threads_at_the_same_time(redis_server: RedisServer) -> None:
    """Each request gets the tools of its own model."""
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


def test_no_name_shows_the_owner_of_the_tools(redis_server: RedisServer) -> None:
    cache = opened(redis_server)
    for model in ("llama3", "a model\r\nwith \u00fc", "long" * 1_000):
        cache.resolve(model, TOOLS, scope="tenant and key")
        fresh = opened(redis_server)
        assert fresh.resolve(model, None, scope="tenant and key").tools == TOOLS
        assert fresh.resolve(model, None, scope="tenant").source == "none"
    assert not [name for name in names(redis_server) if "tenant" in name or len(name) > 300]


# How long they live


def test_each_use_lets_them_live_again(redis_server: RedisServer) -> None:
    opened(redis_server, ttl=60.0).resolve("m", TOOLS)
    (name,) = names(redis_server)
    with redis_server.client() as client:
        for tools in (None, TOOLS):
            client.pexpire(PREFIX + name, 5_000)
            assert opened(redis_server, ttl=60.0).resolve("m", tools).tools == TOOLS
            assert 50_000 < client.pttl(PREFIX + name) <= 60_000


def test_they_live_from_their_last_use_on(redis_server: RedisServer) -> None:
    clock = Clock()
    cache = opened(redis_server, ttl=160.0, clock=clock)
    for model in ("used", "sent again", "unused"):
        cache.resolve(model, TOOLS)
    for _ in range(4):
        let_time_go_by(clock, redis_server, 80)
        assert cache.resolve("used", None).source == "cache"
        cache.resolve("sent again", TOOLS)
    fresh = opened(redis_server, ttl=160.0, clock=clock)
    for found in (cache, fresh):
        sources = [found.resolve(model, None).source for model in ("used", "sent again", "unused")]
        assert sources == ["cache", "cache", "none"]
    let_time_go_by(clock, redis_server, 170)  # in memory they live a sixteenth longer
    assert names(redis_server) == []
    assert cache.resolve("used", None).source == "none"


def test_tools_lost_by_redis_are_stored_again(redis_server: RedisServer) -> None:
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
def test_a_forged_value_with_a_known_tag(redis_server: RedisServer, body: bytes) -> None:
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
    assert cache.resolve("m", None, scope="one").tools == TOOLS  # from memory, and written to Redis
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
