"""Connections to an upstream: one for each request at a time, the last one used first, and none that has failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

import toolcarry.serve.connections as module
from toolcarry.serve.connections import Connections

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Upstream:
    """Answers with the number of the connection that a request came by, after ``wait``."""

    def __init__(self) -> None:
        self.opened = 0
        self.closed = 0
        self.wait = 0.0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        number = str(self.opened % 10).encode()
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                await asyncio.sleep(self.wait)
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n" + number)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.closed += 1
        finally:
            writer.close()


def run(test: Callable[[Upstream, Connections, str], Awaitable[Any]]) -> None:
    async def main() -> None:
        upstream = Upstream()
        connections = Connections(httpx.Timeout(5.0))
        server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
        async with server:
            host, port = server.sockets[0].getsockname()
            await test(upstream, connections, f"http://{host}:{port}")
            await connections.close()

    asyncio.run(main())


async def ask(connections: Connections, url: str) -> str:
    async with connections.one() as client:
        return (await client.get(url)).text


def test_requests_in_turn_share_a_connection_and_those_at_once_have_one_each() -> None:
    async def test(upstream: Upstream, connections: Connections, url: str) -> None:
        assert [await ask(connections, url) for _ in range(3)] == ["1", "1", "1"]
        upstream.wait = 0.05
        found = await asyncio.gather(*(ask(connections, url) for _ in range(4)))
        assert sorted(found) == ["1", "2", "3", "4"]
        upstream.wait = 0.0
        last = await ask(connections, url)
        assert [await ask(connections, url) for _ in range(3)] == [last] * 3
        assert upstream.opened == 4

    run(test)


def test_a_connection_whose_request_was_cancelled_is_closed_and_not_used_again() -> None:
    async def test(upstream: Upstream, connections: Connections, url: str) -> None:
        upstream.wait = 0.2
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ask(connections, url), 0.05)
        upstream.wait = 0.0
        assert await ask(connections, url) == "2"
        await asyncio.sleep(0.3)
        assert upstream.closed == 1

    run(test)


def test_a_connection_that_the_upstream_closed_is_opened_anew() -> None:
    async def test(upstream: Upstream, connections: Connections, url: str) -> None:
        async def once(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(ANSWER)
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(once, "127.0.0.1", 0) as server:
            host, port = server.sockets[0].getsockname()
            other = f"http://{host}:{port}"
            for _ in range(3):
                assert await ask(connections, other) == "ok"
                await asyncio.sleep(0.01)

    run(test)


def test_idle_connections_are_bounded_in_number_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_IDLE", 2)

    async def test(upstream: Upstream, connections: Connections, url: str) -> None:
        upstream.wait = 0.05
        await asyncio.gather(*(ask(connections, url) for _ in range(5)))
        await asyncio.sleep(0.05)
        assert upstream.closed == 3
        monkeypatch.setattr(module, "MOST_SECONDS", 0.0)
        await ask(connections, url)
        await asyncio.sleep(0.05)
        assert upstream.closed == 4

    run(test)
