"""The middleware, called as an ASGI server calls it."""

import asyncio
import gzip
import json
import tracemalloc
from itertools import pairwise
from typing import Any

import pytest
from hosts import (
    JSON,
    KEY,
    SESSION,
    Echo,
    NamingTransformer,
    call,
    conversation,
    messages_of,
    post,
    scope_for,
)
from hypothesis import given
from hypothesis import strategies as st

from toolcarry import ConfigError, Policy
from toolcarry.integrations.asgi import ToolCarryMiddleware, is_model_path
from toolcarry.integrations.identity import RequestIdentity
from toolcarry.integrations.pipeline import RequestPipeline

CUT = Policy(max_tool_result_chars=200)
LONG = conversation("x = 1\n" * 400)


def cutting(**options: Any) -> tuple[Echo, ToolCarryMiddleware]:
    echo = Echo()
    return echo, ToolCarryMiddleware(echo, RequestPipeline(projection=CUT), **options)


def switching(echo: Echo) -> tuple[NamingTransformer, ToolCarryMiddleware]:
    transformer = NamingTransformer()
    return transformer, ToolCarryMiddleware(echo, RequestPipeline(transformer=transformer))


# What is looked at


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


def test_the_host_says_which_paths_are_for_us() -> None:
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


@pytest.mark.parametrize(
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
def test_what_is_not_to_be_read_is_passed_on_as_it_comes(
    headers: list[tuple[bytes, bytes]], reason: str
) -> None:
    echo, app = cutting()
    scope = scope_for("/v1/messages", (b"host", b"h"), *headers)
    asyncio.run(call(app, scope, messages_of(LONG[:5], LONG[5:])))
    assert echo.scopes[0] is scope
    assert echo.received == messages_of(LONG[:5], LONG[5:])
    assert app.pipeline.counts == {f"skipped.{reason}": 1}


@pytest.mark.parametrize(
    "kind", [b"application/json", b"Application/JSON; charset=utf-8", b"application/vnd.x+json"]
)
@pytest.mark.parametrize("more", [(), ((b"content-encoding", b"identity"),)])
def test_json_is_read_whatever_it_is_called(
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


# What the application receives


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


# What the client receives, and when it counts as an answer


def test_each_message_is_sent_on_as_it_is() -> None:
    messages: list[dict[str, Any]] = [
        {"type": "http.response.debug", "info": {}},
        {"type": "http.response.start", "status": 200, "headers": [], "trailers": True},
        {"type": "http.response.body", "body": b"a", "more_body": True},
        {"type": "http.response.body", "more_body": True},
        {"type": "http.response.body", "body": memoryview(b"b"), "more_body": True},
        {"type": "http.response.body"},
        {"type": "http.response.trailers", "headers": [(b"x", b"y")]},
    ]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        for message in messages:
            await send(message)

    transformer = NamingTransformer()
    middleware = ToolCarryMiddleware(app, RequestPipeline(transformer=transformer))
    assert post(middleware, LONG) == messages
    assert len(transformer.told) == 1


def test_a_file_is_sent_on_and_is_no_answer() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.pathsend", "path": "/file"})

    transformer = NamingTransformer()
    middleware = ToolCarryMiddleware(app, RequestPipeline(transformer=transformer))
    assert [message["type"] for message in post(middleware, LONG)][1] == "http.response.pathsend"
    assert transformer.told == []


def test_the_pipeline_is_told_before_the_client_has_all() -> None:
    """Its next request may come at once."""
    order: list[str] = []

    class Telling(NamingTransformer):
        async def aanswered(self, *_: Any, **__: Any) -> None:
            order.append("told")

    async def drive() -> None:
        middleware = ToolCarryMiddleware(
            Echo(chunks=[b"a", b"b"]), RequestPipeline(transformer=Telling())
        )
        waiting = messages_of(LONG)

        async def receive() -> dict[str, Any]:
            return waiting.pop()

        async def send(message: Any) -> None:
            order.append(message["type"])

        await middleware(scope_for(), receive, send)

    asyncio.run(drive())
    body = "http.response.body"
    assert order == ["http.response.start", body, body, "told", body]


@pytest.mark.parametrize("status", [201, 204, 299])
def test_a_success_is_an_answer(status: int) -> None:
    transformer, app = switching(Echo(status))
    post(app, conversation())
    assert [(talk, backend) for _, talk, backend, _ in transformer.told] == [("s1", "a")]


@pytest.mark.parametrize("status", [302, 400, 429, 500, 529])
def test_a_failure_is_no_answer(status: int) -> None:
    transformer, app = switching(Echo(status))
    post(app, conversation())
    assert transformer.told == []


GOOD = [
    [b'{"error": null, "output": []}'],
    [b'{"content": "\\nevent: error\\ndata: {\\"error\\": 1}"}'],
    [b'event: message_start\ndata: {"type":"message_start"}\n\n', b"event: message_stop\n\n"],
    [b'data: {"choices":[{"delta":{"content":"\\n{\\"error\\": failed"}}]}\n\n', b"data: [DONE]\n\n"],
    [b'event: response.completed\ndata: {"type":"response.completed","response":{"error":null}}\n\n'],
    [b'data: {"x":', b'{"error": 1}}\n\n'],
    [b"event: errors_are_fine\n\n"],
]  # fmt: skip
BAD = [
    [b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n'],
    [b"event: message_start\ndata: {}\n\n", b"event: er", b"ror\ndata: {}\n\n", b": bye\n\n"],
    [b'data: {"choices":[]}\n\ndata: {"error":{"message":"no"}}\n\n', b"data: [DONE]\n\n"],
    [b'data:{"error":{"message":"no"}}\r\n\r\n'],
    [b'event: response.failed\ndata: {"type":"response.failed"}\n\n'],
    [b'data: {"type":"error","message":"no"}\n\n'],
    [b'{"message":{"content":"Hi"}}\n', b'{"error":"model runner has stopped"}\n'],
    [b'[{"candidates":[]}\n,\r\n', b'{\n  "error": {"code": 503}}]'],
    [b'{"error": {"message": "no"}}'],
    [b"\x00\x00\x00\x80\x0f:exception-type\x07\x00\x13throttlingException"],
]


@pytest.mark.parametrize("chunks", GOOD)
def test_a_stream_that_ends_well_is_an_answer(chunks: list[bytes]) -> None:
    transformer, app = switching(Echo(chunks=chunks))
    assert [message.get("body") for message in post(app, conversation())][1:-1] == chunks
    assert len(transformer.told) == 1


@pytest.mark.parametrize("chunks", BAD)
def test_an_error_in_the_middle_of_a_stream_is_no_answer(chunks: list[bytes]) -> None:
    transformer, app = switching(Echo(chunks=chunks))
    assert [message.get("body") for message in post(app, conversation())][1:-1] == chunks
    assert transformer.told == []


@pytest.mark.parametrize("chunks", GOOD + BAD)
def test_it_makes_no_difference_where_a_stream_is_cut(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    transformer, app = switching(Echo(chunks=[whole[at : at + 1] for at in range(len(whole))]))
    post(app, conversation())
    assert bool(transformer.told) is (chunks in GOOD)


def test_a_count_of_tokens_is_no_answer() -> None:
    transformer, app = switching(Echo())
    post(app, conversation(), "/v1/messages/count_tokens")
    assert transformer.told == []


def test_what_the_client_did_not_wait_for_is_no_answer() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        assert (await receive())["type"] == "http.disconnect"
        await send({"type": "http.response.body", "body": b"rest", "more_body": False})

    transformer = NamingTransformer()
    post(ToolCarryMiddleware(app, RequestPipeline(transformer=transformer)), conversation())
    assert transformer.told == []


def test_an_application_that_breaks_off_is_no_answer_and_its_error_its_own() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        raise ConnectionResetError

    transformer = NamingTransformer()
    middleware = ToolCarryMiddleware(app, RequestPipeline(transformer=transformer))
    with pytest.raises(ConnectionResetError):
        post(middleware, conversation())
    assert transformer.told == []
    assert "failed_open" not in str(middleware.pipeline.counts)


def test_the_next_backend_is_switched_to_only_after_the_first_has_answered() -> None:
    _, app = switching(Echo(500))
    post(app, conversation(model="a"))
    assert "switched" not in json.loads(post(app, conversation(model="b"))[1]["body"])
    app.app = Echo()
    post(app, conversation(model="a"))
    assert json.loads(post(app, conversation(model="b"))[1]["body"])["switched"] == "a to b"


def test_tenants_with_the_same_session_share_nothing() -> None:
    _, app = switching(Echo())
    mine, theirs = [(JSON, (b"x-api-key", key), SESSION) for key in (b"mine", b"theirs")]
    post(app, conversation(model="a"), "/v1/messages", *mine)
    sent = post(app, conversation(model="b"), "/v1/messages", *theirs)
    assert "switched" not in json.loads(sent[1]["body"])
    sent = post(app, conversation(model="b"), "/v1/messages", *mine)
    assert json.loads(sent[1]["body"])["switched"] == "a to b"


def test_without_a_tenant_a_request_is_only_projected() -> None:
    transformer = NamingTransformer()
    echo = Echo()
    app = ToolCarryMiddleware(echo, RequestPipeline(transformer=transformer, projection=CUT))
    post(app, LONG, "/v1/messages", JSON, SESSION)
    assert len(echo.bodies[0]) < len(LONG)
    assert (transformer.told, transformer.last) == ([], {})


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
        before = tracemalloc.get_traced_memory()[0]
        asyncio.run(requests(1_000, 2_500))
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 100_000  # 67 bytes a request
    assert app.pipeline.counts["processed"] == 2_500
