"""The middleware in uvicorn, over sockets: what arrives, when, and that clients that leave are heard of."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route
from support.clocks import async_wait_until
from support.servers.hosts import (
    CUT,
    LONG,
    WAIT,
    Changed,
    Echo,
    NamingTransformer,
    answer,
    conversation,
    cutting,
    drive,
    raw_request,
    served,
)

from toolcarry.integrations.asgi import ToolCarryMiddleware
from toolcarry.integrations.pipeline import RequestPipeline


def test_several_requests_go_over_one_connection() -> None:
    echo, app = cutting()

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for body in (LONG, conversation("short", first="Look here."), LONG):
            writer.write(raw_request(body))
            status, found = await answer(reader)
            assert status == 200
            assert found == echo.bodies[-1]
            assert (len(found) < len(body)) is (body is LONG)
            length = dict(echo.scopes[-1]["headers"])[b"content-length"]
            assert int(length) == len(found)

    drive(app, client)


def test_a_chunked_upload_is_read_and_has_a_length_afterwards() -> None:
    echo, app = cutting()

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(raw_request(b"", "transfer-encoding: chunked"))
        for start in range(0, len(LONG), 700):
            part = LONG[start : start + 700]
            writer.write(b"%x\r\n%b\r\n" % (len(part), part))
            await writer.drain()
            await asyncio.sleep(0)
        writer.write(b"0\r\n\r\n")
        status, found = await answer(reader)
        assert (status, found) == (200, echo.bodies[0])
        assert len(found) < len(LONG)
        headers = dict(echo.scopes[0]["headers"])
        assert int(headers[b"content-length"]) == len(found)
        assert b"transfer-encoding" not in headers

    drive(app, client)


def test_a_client_that_waits_to_be_asked_for_the_body_is_asked() -> None:
    echo, app = cutting()

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head, end, body = raw_request(LONG, "expect: 100-continue").partition(b"\r\n\r\n")
        writer.write(head + end)
        assert b"100" in await reader.readuntil(b"\r\n\r\n")
        writer.write(body)
        assert await answer(reader) == (200, echo.bodies[0])

    drive(app, client)


def test_an_encoded_body_arrives_byte_for_byte() -> None:
    echo, app = cutting()
    packed = gzip.compress(LONG)

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(raw_request(packed, "content-encoding: gzip"))
        assert await answer(reader) == (200, packed)

    drive(app, client)
    assert echo.bodies == [packed]


@pytest.mark.parametrize("is_chunked", [False, True])
@pytest.mark.parametrize("refuse_large", [False, True])
def test_a_large_body_passes_or_is_refused(is_chunked: bool, refuse_large: bool) -> None:
    echo, app = cutting(max_body_bytes=1_000, refuse_large=refuse_large)
    body = conversation("x = 1\n" * 100_000)

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if is_chunked:
            writer.write(raw_request(b"", "transfer-encoding: chunked"))
            writer.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
        else:
            writer.write(raw_request(body))
        status, found = await answer(reader)
        assert status == (413 if refuse_large else 200)
        assert (found == body) is not refuse_large

    drive(app, client)
    assert bool(echo.bodies) is not refuse_large


def test_each_chunk_of_a_response_is_there_before_the_next_is_made() -> None:
    seen = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for number in range(5):
            await send({"type": "http.response.body", "body": b"%d" % number, "more_body": True})
            await seen.wait()  # for the client to have read it
            seen.clear()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    transformer = NamingTransformer()
    middleware = ToolCarryMiddleware(app, RequestPipeline(transformer=transformer))

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(raw_request(LONG))
        await reader.readuntil(b"\r\n\r\n")
        for number in range(5):
            assert await reader.readexactly(6) == b"1\r\n%d\r\n" % number
            assert transformer.told == []
            seen.set()
        assert await reader.readexactly(5) == b"0\r\n\r\n"
        await async_wait_until(lambda: transformer.told)

    drive(middleware, client)


def test_a_client_that_hangs_up_in_the_middle_of_a_response_is_heard_of() -> None:
    heard: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        heard.append((await receive())["type"])
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        heard.append("end")

    transformer = NamingTransformer()
    middleware = ToolCarryMiddleware(app, RequestPipeline(transformer=transformer))

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(raw_request(LONG))
        await reader.readuntil(b"first")
        writer.close()
        await async_wait_until(lambda: len(heard) == 2)

    drive(middleware, client)
    assert heard == ["http.disconnect", "end"]
    assert transformer.told == []


def test_a_client_that_hangs_up_while_it_sends_is_heard_of() -> None:
    echo, app = cutting()

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(raw_request(LONG)[:-50])
        await writer.drain()
        writer.close()
        await async_wait_until(lambda: echo.received)

    drive(app, client)
    assert [message["type"] for message in echo.received] in (
        ["http.request", "http.disconnect"],
        ["http.disconnect"],
    )
    assert echo.bodies == []


def test_the_stream_of_a_framework_is_closed_when_its_client_leaves() -> None:
    closed: list[bool] = []

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"data: {}\n\n"
                await asyncio.sleep(0)
        finally:
            closed.append(True)

    async def complete(request: Request) -> StreamingResponse:
        await request.json()
        return StreamingResponse(endless(), media_type="text/event-stream")

    app = Starlette(routes=[Route("/v1/messages", complete, methods=["POST"])])
    transformer = NamingTransformer()
    pipeline = RequestPipeline(transformer=transformer, projection=CUT)
    app.add_middleware(ToolCarryMiddleware, pipeline=pipeline)

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(raw_request(LONG))
        await reader.readuntil(b"data: {}")
        writer.close()
        await async_wait_until(lambda: closed)

    drive(app, client)
    assert transformer.told == []
    assert pipeline.counts["projected"] == 1


class Flawed(NamingTransformer):
    """Fails, hangs or answers nonsense by turns, as what it would ask may do."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    async def atransform_body(self, body: bytes, **_: Any) -> Changed:
        self.asked += 1
        match self.asked % 4:
            case 0:
                raise ConnectionError
            case 1:
                await asyncio.Event().wait()
            case 2:
                return None
        return Changed(body, False)

    async def aanswered(self, *_: Any, **__: Any) -> None:
        if self.asked % 2:
            raise OSError
        await asyncio.Event().wait()


@pytest.mark.slow
def test_no_request_of_many_clients_fails_whatever_does() -> None:
    transformer = Flawed()
    pipeline = RequestPipeline(transformer=transformer, projection=CUT, timeout=0.05)
    app = ToolCarryMiddleware(Echo(), pipeline)
    bodies = [LONG, conversation("x = 1\n" * 60_000), b"{", b""]

    async def run() -> None:
        headers = {"x-api-key": "k", "x-session-id": "s", "content-type": "application/json"}
        limits = httpx.Limits(max_connections=32)
        async with (
            asyncio.timeout(WAIT * 2),
            served(app) as port,
            httpx.AsyncClient(limits=limits, headers=headers, timeout=WAIT) as client,
        ):
            url = f"http://127.0.0.1:{port}/v1/chat/completions"
            found = await asyncio.gather(
                *[client.post(url, content=bodies[number % 4]) for number in range(200)]
            )
        for number, response in enumerate(found):
            assert response.status_code == 200
            sent = bodies[number % 4]
            if sent is LONG:
                assert len(response.content) < len(sent)
            elif sent is bodies[1]:  # where a thread took too long it is as it was sent
                assert len(response.json()["messages"]) == 3
            else:
                assert response.content == sent

    asyncio.run(run())
    assert pipeline.counts["failed_open.switch"] >= 75
    assert pipeline.counts["processed"] == 200
