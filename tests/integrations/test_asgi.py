"""The middleware, called the way an ASGI server calls it: the requests that it handles, and what it gets from the host."""

import asyncio
import gc
import gzip
import tracemalloc
from typing import Any

import pytest
from support.rows import for_each
from support.servers.hosts import (
    CUT,
    JSON,
    KEY,
    LONG,
    Echo,
    NamingTransformer,
    call,
    cutting,
    messages_of,
    post,
    scope_for,
)

from toolcarry import ConfigError
from toolcarry.integrations.asgi import ToolCarryMiddleware, is_model_path
from toolcarry.integrations.identity import RequestIdentity
from toolcarry.integrations.pipeline import RequestPipeline

# What is looked at


@for_each(
    "path",
    [
        "/v1/messages",
        "/v1/messages/",
        "/v1/messages/count_tokens",
        "/anthropic/v1/messages",
        "/v1/chat/completions",
        "/openai/deployments/gpt/chat/completions",
        "/v1/responses",
        "/api/chat",
        "/v1beta/models/gemini-2.5-pro:generateContent",
        "/v1beta/models/gemini-2.5-pro:streamGenerateContent",
        "/model/us.anthropic.claude/converse",
        "/model/arn:aws:x/y/converse-stream",
    ],
)
def test_a_model_request_is_processed(path: str) -> None:
    echo, app = cutting()
    post(app, LONG, path)
    assert len(echo.bodies[0]) < len(LONG)


@for_each(
    "path",
    [
        "/",
        "/v1/models",
        "/v1/messages/batches",
        "/rooms/5/messages",
        "/v1/responses/resp_1/cancel",
        "/v1/chat/completions\n",
        "/model/" * 5_000,
    ],
)
def test_other_paths_are_not_for_us(path: str) -> None:
    assert not is_model_path(path)
    echo, app = cutting()
    scope = scope_for(path)
    asyncio.run(call(app, scope, messages_of(LONG[:9], LONG[9:])))
    assert echo.scopes[0] is scope
    assert len(echo.received) == 2
    assert not app.pipeline.counts


def test_the_host_selects_paths() -> None:
    echo, app = cutting(matches=lambda path: path == "/ask")
    post(app, LONG, "/ask")
    post(app, LONG, "/v1/messages")
    assert [len(body) < len(LONG) for body in echo.bodies] == [True, False]


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "OPTIONS"])
def test_other_methods_are_not_for_us(method: str) -> None:
    echo, app = cutting()
    scope = {**scope_for(), "method": method}
    asyncio.run(call(app, scope, messages_of(LONG)))
    assert (echo.scopes[0], echo.bodies) == (scope, [LONG])


@pytest.mark.parametrize("kind", ["lifespan", "websocket", "other"])
def test_other_protocols_pass_with_their_own_channels(kind: str) -> None:
    seen: list[Any] = []

    async def app(*given: Any) -> None:
        seen.extend(given)

    async def nothing(*_: Any) -> Any:
        raise AssertionError

    given = ({"type": kind}, nothing, nothing)
    middleware = ToolCarryMiddleware(app, RequestPipeline(projection=CUT))
    asyncio.run(middleware(*given))
    assert all(one is other for one, other in zip(seen, given, strict=True))


def test_a_pipeline_without_parts_reads_nothing() -> None:
    echo = Echo()
    scope = scope_for()
    asyncio.run(call(ToolCarryMiddleware(echo, RequestPipeline()), scope, messages_of(LONG)))
    assert echo.scopes[0] is scope


@for_each(
    ("headers", "reason"),
    [
        ([(b"content-type", b"text/plain")], "not_json_type"),
        ([(b"content-type", b"application/jsonl")], "not_json_type"),
        ([], "not_json_type"),
        ([JSON, (b"Content-Encoding", b"gzip")], "encoded"),
        ([JSON, (b"content-encoding", b"ZSTD")], "encoded"),
        ([JSON, (b"authorization", b"AWS4-HMAC-SHA256 Credential=x")], "signed"),
        ([JSON, (b"content-digest", b"sha-256=:x:")], "signed"),
        ([JSON, (b"content-length", b"99999999999")], "too_large"),
    ],
)
def test_unselected_requests_pass_unchanged(
    headers: list[tuple[bytes, bytes]], reason: str
) -> None:
    echo, app = cutting()
    scope = scope_for("/v1/messages", (b"host", b"h"), *headers)
    asyncio.run(call(app, scope, messages_of(LONG[:5], LONG[5:])))
    assert echo.scopes[0] is scope
    assert echo.received == messages_of(LONG[:5], LONG[5:])
    assert app.pipeline.counts == {f"skipped.{reason}": 1}


@for_each(
    "kind", [b"application/json", b"Application/JSON; charset=utf-8", b"application/vnd.x+json"]
)
@for_each("more", [(), ((b"content-encoding", b"identity"),)])
def test_json_is_read_under_any_file_name(
    kind: bytes, more: tuple[tuple[bytes, bytes], ...]
) -> None:
    echo, app = cutting()
    post(app, LONG, "/v1/messages", (b"content-type", kind), *more)
    assert len(echo.bodies[0]) < len(LONG)


def test_a_packed_body_is_passed_on_though_nothing_says_that_it_is_one() -> None:
    echo, app = cutting()
    packed = gzip.compress(LONG)
    post(app, packed)
    assert echo.bodies == [packed]


# Faults, and options


@pytest.mark.parametrize("option", ["identify", "matches"])
def test_a_function_of_the_hosts_that_fails_fails_no_request(option: str) -> None:
    def fail(_: object) -> Any:
        raise RuntimeError("secret")

    echo, app = cutting(**{option: fail})
    assert post(app, LONG)[0]["status"] == 200
    assert len(echo.bodies) == 1
    assert app.pipeline.counts[f"failed_open.{option}"] == 1


def test_a_host_that_knows_better_is_asked() -> None:
    transformer = NamingTransformer()
    app = ToolCarryMiddleware(
        Echo(),
        RequestPipeline(transformer=transformer),
        identify=lambda request: RequestIdentity(request.scope["user"], request.path, "b"),
    )
    post(app, LONG, user="u")
    assert transformer.told == [("u", "/v1/messages", "b", "line of /v1/messages")]


def test_a_request_keeps_the_pipeline_that_it_came_to() -> None:
    old = RequestPipeline(transformer=NamingTransformer())
    app: ToolCarryMiddleware

    async def replace(scope: Any, receive: Any, send: Any) -> None:
        app.pipeline = RequestPipeline()
        await Echo()(scope, receive, send)

    app = ToolCarryMiddleware(replace, old)
    post(app, LONG)
    assert old._transformer.told


@pytest.mark.parametrize(
    "options", [{"max_body_bytes": -1}, {"max_body_bytes": "1"}, {"identify": 1}, {"matches": None}]
)
def test_a_wrong_option_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        cutting(**options)


@pytest.mark.slow
def test_memory_stays_flat() -> None:
    async def nowhere(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"data: {}\n\n", "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    class Forgetful(NamingTransformer):
        async def aanswered(self, *_: Any, **__: Any) -> None:
            return None

    app = ToolCarryMiddleware(
        nowhere, RequestPipeline(transformer=Forgetful(), projection=CUT, max_decisions=60)
    )

    async def requests(first: int, last: int) -> None:
        for number in range(first, last):
            scope = scope_for("/v1/messages", JSON, KEY, (b"x-session-id", b"%d" % number))
            await call(app, scope, messages_of(LONG))
            await asyncio.sleep(0)  # for the loop to let go of time limits that were kept

    asyncio.run(requests(0, 500))
    tracemalloc.start()
    try:
        asyncio.run(requests(500, 1_000))
        gc.collect()  # it also empties the interpreter's lists of freed tuples, which are counted as used
        before = tracemalloc.get_traced_memory()[0]
        asyncio.run(requests(1_000, 2_500))
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 45_000  # 30 bytes a request
    assert app.pipeline.counts["processed"] == 2_500
