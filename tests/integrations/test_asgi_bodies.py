"""The middleware, called as an ASGI server calls it: what the application receives."""

import asyncio
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.servers.hosts import (
    CUT,
    JSON,
    KEY,
    LONG,
    call,
    conversation,
    cutting,
    messages_of,
    post,
    scope_for,
)

from toolcarry.integrations.asgi import ToolCarryMiddleware
from toolcarry.integrations.pipeline import RequestPipeline


def test_a_body_that_stays_comes_with_the_scope_as_it_was() -> None:
    echo, app = cutting()
    scope = scope_for()
    body = conversation("short")
    asyncio.run(call(app, scope, messages_of(body)))
    assert echo.scopes[0] is scope
    assert echo.received[0]["body"] is body


def test_a_new_body_comes_with_its_length_and_all_other_headers() -> None:
    echo, app = cutting()
    length = (b"Content-Length", str(len(LONG)).encode())
    headers = [(b"Host", b"h"), length, (b"X-A", b"1"), JSON, (b"x-a", b"2"), KEY]
    scope = scope_for("/v1/messages", *headers, state={"user": "u"})
    before = {**scope, "headers": list(headers)}
    asyncio.run(call(app, scope, messages_of(LONG)))
    assert scope == before
    written = (b"content-length", str(len(echo.bodies[0])).encode())
    assert echo.scopes[0]["headers"] == [headers[0], written, *headers[2:]]
    assert echo.scopes[0]["state"] is scope["state"]
    assert len(echo.received) == 1


def test_a_new_body_that_came_in_chunks_comes_in_one_piece() -> None:
    echo, app = cutting()
    scope = scope_for("/v1/messages", JSON, (b"transfer-encoding", b"chunked"))
    asyncio.run(call(app, scope, messages_of(LONG[:9], LONG[9:99], LONG[99:])))
    length = (b"content-length", str(len(echo.bodies[0])).encode())
    assert echo.scopes[0]["headers"] == [JSON, length]


@given(st.lists(st.integers(0, len(LONG)), max_size=8), st.booleans())
def test_chunks_make_no_difference(cuts: list[int], ends_empty: bool) -> None:
    places = [0, *sorted(cuts), len(LONG)]
    parts = [LONG[start:end] for start, end in pairwise(places)]
    parts += [b""] * ends_empty
    whole, app = cutting()
    post(app, LONG)
    echo, app = cutting()
    asyncio.run(call(app, scope_for(), messages_of(*parts)))
    assert echo.bodies == whole.bodies


@given(st.binary(max_size=300))
def test_any_body_is_passed_on(body: bytes) -> None:
    echo, app = cutting()
    assert post(app, body)[0]["status"] == 200
    assert echo.bodies == [body]


def test_a_large_body_is_streamed_on_as_it_comes() -> None:
    echo, app = cutting(max_body_bytes=100)
    scope = scope_for()
    asyncio.run(call(app, scope, messages_of(LONG[:60], LONG[60:120], LONG[120:])))
    assert echo.scopes[0] is scope
    assert echo.bodies == [LONG]
    assert echo.received == messages_of(LONG[:120], LONG[120:])
    assert app.pipeline.counts == {"skipped.too_large": 1}


def test_a_body_of_just_the_size_is_processed() -> None:
    for size, is_processed in ((len(LONG), True), (len(LONG) - 1, False)):
        echo, app = cutting(max_body_bytes=size)
        post(app, LONG)
        assert (len(echo.bodies[0]) < len(LONG)) is is_processed


@pytest.mark.parametrize("length", [(), ((b"content-length", b"500"),)])
def test_a_large_body_is_refused_where_the_host_wants_it(
    length: tuple[tuple[bytes, bytes], ...],
) -> None:
    echo, app = cutting(max_body_bytes=100, refuse_large=True)
    sent = post(app, LONG, "/v1/messages", JSON, *length)
    assert sent[0]["status"] == 413
    assert json.loads(sent[1]["body"])["error"]["type"] == "request_too_large"
    assert echo.scopes == []


def test_a_client_that_leaves_while_it_sends_is_passed_on() -> None:
    echo, app = cutting()
    scope = scope_for()
    asyncio.run(call(app, scope, messages_of(LONG[:10], LONG[10:20], b"")[:2]))
    assert echo.received == [
        {"type": "http.request", "body": LONG[:20], "more_body": True},
        {"type": "http.disconnect"},
    ]
    assert app.pipeline.counts == {"skipped.disconnected": 1}


def test_a_disconnect_reaches_the_application_after_the_body() -> None:
    heard: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        heard.extend([(await receive())["type"] for _ in range(3)])

    middleware = ToolCarryMiddleware(app, RequestPipeline(projection=CUT))
    post(middleware, LONG)
    assert heard == ["http.request", "http.disconnect", "http.disconnect"]
