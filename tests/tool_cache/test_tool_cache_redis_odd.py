"""Servers that only look like Redis, unreachable URLs and a slow Redis: no request fails or waits for long."""

from __future__ import annotations

import asyncio
import os
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from support.clocks import Clock
from support.rows import for_each
from support.servers.listeners import Listener, Pretend, Relay
from support.servers.redis import RedisServer

from toolcarry.errors import ConfigError
from toolcarry.tool_cache import RedisToolCache, ToolCache

TOOLS = [{"type": "function", "function": {"name": name}} for name in ("read", "write")]
MOST = 0.05
"""The promise: a request waits for Redis at most this many seconds."""


@pytest.fixture
def listen() -> Iterator[Callable[[Callable[[socket.socket], None]], str]]:
    """Start a server; its URL."""
    with ExitStack() as stack:

        def start(serve: Callable[[socket.socket], None]) -> str:
            made = Listener(serve)
            stack.callback(made.close)
            return made.url

        yield start


@pytest.fixture
def pretend(listen: Callable[..., str]) -> Pretend:
    """Start a server that isn't Redis: it answers every request with the same pieces, each after ``pause``."""

    def start(*pieces: bytes, pause: float = 0.0) -> str:
        def serve(connection: socket.socket) -> None:
            while connection.recv(65_536):
                for piece in pieces:
                    time.sleep(pause)  # noqa: TID251 - the slowness that is tested
                    connection.sendall(piece)

        return listen(serve)

    return start


@pytest.fixture
def relay(listen: Callable[..., str], redis_server: RedisServer) -> Relay:
    """Start a slow relay to Redis: each answer arrives *delay* seconds late."""

    def start(delay: float) -> str:
        def serve(connection: socket.socket) -> None:
            with socket.create_connection(("127.0.0.1", redis_server.port)) as server:
                while asked := connection.recv(65_536):
                    server.sendall(asked)
                    time.sleep(delay)  # noqa: TID251 - the slowness that is tested
                    connection.sendall(server.recv(1 << 20))

        return listen(serve)

    return start


def check(url: str, way: str, **settings: Any) -> list[float]:
    """Check that memory answers, whatever is at the URL; return the durations of requests, including some to Redis."""
    times = []
    clock = Clock()
    cache = ToolCache(RedisToolCache(url, **{"pause": 1.0, "clock": clock, **settings}))

    async def ask() -> None:
        for given in [TOOLS, None] * 8:
            start = time.perf_counter()
            if way == "resolve":
                found = cache.resolve("m", given)
            else:
                found = await cache.aresolve("m", given)
            times.append(time.perf_counter() - start)
            assert found.tools == TOOLS
            clock.advance(1)
            await asyncio.sleep(0)

    asyncio.run(ask())
    cache.close()
    return times


ANSWERS = [
    b"HTTP/1.1 400 Bad Request\r\n\r\n", b"220 mail.example ESMTP\r\n", b"\r\n", b"-\r\n", b"-\xff\r\n", b"+OK\r\n",
    b":x\r\n", b"$x\r\n", b"*x\r\n", b"*-7\r\n", b"$-7\r\n", b"$9999999999999\r\n", b"*9999999999999\r\n", b"*1\r\n" * 20_000,
    b"%1\r\n*0\r\n:1\r\n", b"~1\r\n%0\r\n", b"#x\r\n", b",x\r\n", b"_\r\n", b">1\r\n+x\r\n", b"$-1\r\n" * 100,
]  # fmt: skip


@for_each("answer", ANSWERS, ids=lambda answer: repr(answer[:12]))
@for_each(("query", "way"), [("", "resolve"), ("?protocol=2", "resolve"), ("", "aresolve")])
def test_another_server_at_the_port(pretend: Pretend, answer: bytes, query: str, way: str) -> None:
    check(pretend(answer) + query, way)


def test_a_silent_server(pretend: Pretend) -> None:
    for way in ("resolve", "aresolve"):
        assert statistics.median(check(pretend(), way)) < MOST


@pytest.mark.parametrize("way", ["resolve", "aresolve"])
def test_an_answer_that_drips(pretend: Pretend, way: str) -> None:
    """Each piece comes in time, and all of them don't."""
    times = check(pretend(b"$", *[b"1"] * 60, pause=0.015), way, pause=60.0)
    assert max(times) < 0.4


@pytest.mark.parametrize("way", ["resolve", "aresolve"])
@pytest.mark.parametrize("delay", [0.004, 0.012, 0.025])
def test_a_redis_that_is_far_away(relay: Relay, delay: float, way: str) -> None:
    """A request may need several answers: to open a connection, to look, to store. It waits no longer for that."""
    url = relay(delay)
    first, later = [], []
    for number in range(5):
        cache = ToolCache(RedisToolCache(url))
        model = f"m{number}"

        async def ask(cache: ToolCache = cache, model: str = model) -> None:
            for turn in range(4):
                start = time.perf_counter()
                given = TOOLS[: 1 + turn % 2]
                if way == "resolve":
                    found = cache.resolve(model, given)
                else:
                    found = await cache.aresolve(model, given)
                (later if turn else first).append(time.perf_counter() - start)
                assert found.tools == given

        asyncio.run(ask())
        cache.close()
    assert statistics.median(first) < MOST
    assert statistics.median(later) < MOST


@pytest.fixture
def slow_names(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A name server that doesn't answer until the test is over."""
    is_over = threading.Event()

    def look_up(*_: Any, **__: Any) -> Any:
        assert is_over.wait(60)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    yield
    is_over.set()


@pytest.mark.usefixtures("slow_names")
@pytest.mark.parametrize("way", ["resolve", "aresolve"])
def test_a_name_that_takes_long_to_be_looked_up(way: str) -> None:
    times = check("redis://redis.example", way, pause=60.0)
    assert max(times) < 0.25


@pytest.mark.usefixtures("slow_names")
def test_who_waits_for_redis_takes_no_threads_from_others() -> None:
    """The loop's own are few, and the same that look up the names of upstreams."""
    cache = ToolCache(RedisToolCache("redis://redis.example"))

    async def ask() -> float:
        waiting = [asyncio.create_task(cache.aresolve("m", TOOLS)) for _ in range(100)]
        await asyncio.sleep(0)
        start = time.perf_counter()
        await asyncio.to_thread(int)
        waited = time.perf_counter() - start
        assert [found.tools for found in await asyncio.gather(*waiting)] == [TOOLS] * 100
        return waited

    assert asyncio.run(ask()) < 0.25


@for_each("way", ["resolve", "aresolve"])
@for_each(
    "place",
    [
        "redis://" + "a" * 64 + ".example", "redis://.", "redis://127.0.0.1:0",
        "unix:///nowhere/redis.sock", "unix://", "unix:///" + "x" * 200, "rediss://127.0.0.1:1", "redis://[::1]:1", "redis://",
        "redis://127.0.0.1:1/x", "redis://127.0.0.1:1/-1", "redis://%00:1",
    ],
)  # fmt: skip
def test_a_url_that_leads_nowhere(place: str, way: str) -> None:
    """It is refused when the cache is made, or memory has to do."""
    try:
        RedisToolCache(place).close()
    except ConfigError:
        return
    check(place, way)


@pytest.mark.parametrize("way", ["resolve", "aresolve"])
@pytest.mark.parametrize(
    "query",
    [
        "db=99", "db=x", "decode_responses=1", "protocol=9", "protocol=x", "unknown=1", "max_connections=0",
        "max_connections=x", "max_connections=1", "socket_timeout=x", "username=x", "health_check_interval=x", "retry_on_timeout=1",
        "encoding=x", "client_name=a b", "ssl_cert_reqs=x", "timeout=1",
    ],
)  # fmt: skip
def test_options_in_the_url(redis_server: RedisServer, query: str, way: str) -> None:
    """They are refused when the cache is made, or are of use, or memory has to do."""
    url = f"{redis_server.url}?{query}"
    try:
        cache = ToolCache(RedisToolCache(url, timeout=10.0))
    except ConfigError:
        return
    for given in (TOOLS, None, TOOLS, None):
        if way == "resolve":
            assert cache.resolve("m", given).tools == TOOLS
        else:
            assert asyncio.run(cache.aresolve("m", given)).tools == TOOLS
    cache.close()


@pytest.mark.parametrize(
    "option", ["socket_timeout=9", "socket_connect_timeout=9", "retry_on_timeout=1"]
)
def test_no_option_of_the_url_lets_a_request_wait(redis_server: RedisServer, option: str) -> None:
    cache = ToolCache(RedisToolCache(f"{redis_server.url}?{option}"))
    cache.resolve("m", TOOLS)
    redis_server.stop()
    start = time.perf_counter()
    assert cache.resolve("m", None).tools == TOOLS
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("is_told", [False, True])
def test_tools_of_an_outage_replace_those_in_redis(
    redis_server: RedisServer, is_told: bool
) -> None:
    """The client's last tools count, no matter if Redis knows them."""
    clock = Clock()
    cache = ToolCache(RedisToolCache(redis_server.url, pause=2.0, clock=clock))
    cache.resolve("m", TOOLS)
    redis_server.stop()
    newer = TOOLS[1:]
    cache.resolve("m", newer)
    assert cache.resolve("m", None).tools == newer
    redis_server.go_on()
    clock.advance(2)
    if is_told:
        cache.resolve("m", newer)
    assert cache.resolve("m", None).tools == newer
    cache.close()


def test_a_forked_process_has_its_own_connections(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcarry.tool_cache.cache.MOST_WAIT", 10.0)  # the machine may be busy
    cache = ToolCache(RedisToolCache(redis_server.url, timeout=10.0))
    cache.resolve("m", TOOLS)
    child = os.fork()
    which = TOOLS[:1] if child else TOOLS[1:]
    is_good = True
    for turn in range(200):
        model = f"{bool(child)} {turn % 3}"
        cache.resolve(model, which)
        is_good = is_good and cache.resolve(model, None).tools == which
    is_good = is_good and cache.counts["degrade"] == 0
    if not child:
        os._exit(0 if is_good else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert is_good
    cache.close()


def test_a_closed_cache_has_its_memory(redis_server: RedisServer) -> None:
    cache = ToolCache(RedisToolCache(redis_server.url))
    cache.resolve("m", TOOLS)
    cache.close()
    assert cache.resolve("m", None).tools == TOOLS
    cache.close()
