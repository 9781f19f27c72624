"""Connections to an upstream: one for each request at a time, the last one used first, and none that has failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

import httpx
import pytest
from support.clocks import Clock, async_wait_until

import toolcarry.integrations.proxy.connections as module
from toolcarry.integrations.proxy.connections import Connections

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Upstream:
    """Answers with the number of the connection that a request came by, while it ``may_answer``."""

    def __init__(self) -> None:
        self.opened = 0
        self.closed = 0
        self.waiting = 0
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        number = str(self.opened % 10).encode()
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                self.waiting += 1
                await self.may_answer.wait()
                self.waiting -= 1
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n" + number)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.closed += 1
        finally:
            writer.close()

    async def answer_at_once(self, *requests: Awaitable[str]) -> list[str]:
        """Answer requests when all of them are here."""
        self.may_answer.clear()
        answers = asyncio.gather(*requests)
        await async_wait_until(lambda: self.waiting == len(requests), what="the requests")
        self.may_answer.set()
        return await answers


def run(
    test: Callable[[Upstream, Connections, str], Awaitable[Any]],
    clock: Callable[[], float] = monotonic,
) -> None:
    async def main() -> None:
        upstream = Upstream()
        connections = Connections(httpx.Timeout(5.0), clock=clock)
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
        found = await upstream.answer_at_once(*(ask(connections, url) for _ in range(4)))
        assert sorted(found) == ["1", "2", "3", "4"]
        last = await ask(connections, url)
        assert [await ask(connections, url) for _ in range(3)] == [last] * 3
        assert upstream.opened == 4

    run(test)


def test_a_connection_whose_request_was_cancelled_is_closed_and_not_used_again() -> None:
    async def test(upstream: Upstream, connections: Connections, url: str) -> None:
        upstream.may_answer.clear()
        request = asyncio.create_task(ask(connections, url))
        await async_wait_until(lambda: upstream.waiting, what="the request")
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        upstream.may_answer.set()
        assert await ask(connections, url) == "2"
        await async_wait_until(lambda: upstream.closed == 1, what="the connection to be closed")

    run(test)


def test_a_connection_that_the_upstream_closed_is_opened_again() -> None:
    async def test(upstream: Upstream, connections: Connections, url: str) -> None:
        closed = 0

        async def once(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal closed
            writer.write(ANSWER)
            await writer.drain()
            writer.close()
            await writer.wait_closed()
            closed += 1

        async with await asyncio.start_server(once, "127.0.0.1", 0) as server:
            host, port = server.sockets[0].getsockname()
            other = f"http://{host}:{port}"
            for number in range(1, 4):
                assert await ask(connections, other) == "ok"
                await async_wait_until(lambda number=number: closed == number)

    run(test)


def test_idle_connections_are_bounded_in_number_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_IDLE", 2)
    clock = Clock()

    async def test(upstream: Upstream, connections: Connections, url: str) -> None:
        await upstream.answer_at_once(*(ask(connections, url) for _ in range(5)))
        await async_wait_until(lambda: upstream.closed == 3, what="too many to be closed")
        clock.advance(module.MOST_SECONDS)
        await ask(connections, url)
        assert len(connections._idle) == 2
        clock.advance(1)
        await ask(connections, url)
        await async_wait_until(lambda: upstream.closed == 4, what="the old one to be closed")

    run(test, clock)
