"""The middleware, called as an ASGI server calls it: what the client receives, and when it counts as an answer."""

import asyncio
import json
from typing import Any

import pytest
from support.rows import for_each
from support.servers.hosts import (
    CUT,
    JSON,
    LONG,
    SESSION,
    Echo,
    NamingTransformer,
    conversation,
    messages_of,
    post,
    scope_for,
    switching,
)

from toolcarry.integrations.asgi import ToolCarryMiddleware
from toolcarry.integrations.pipeline import RequestPipeline


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


def test_the_pipeline_gets_the_answer_before_the_client_ends() -> None:
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


@for_each("status", [302, 400, 429, 500, 529])
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


@for_each("chunks", GOOD)
def test_a_stream_that_ends_well_is_an_answer(chunks: list[bytes]) -> None:
    transformer, app = switching(Echo(chunks=chunks))
    assert [message.get("body") for message in post(app, conversation())][1:-1] == chunks
    assert len(transformer.told) == 1


@for_each("chunks", BAD)
def test_an_error_in_the_middle_of_a_stream_is_no_answer(chunks: list[bytes]) -> None:
    transformer, app = switching(Echo(chunks=chunks))
    assert [message.get("body") for message in post(app, conversation())][1:-1] == chunks
    assert transformer.told == []


@for_each("chunks", GOOD + BAD)
def test_it_makes_no_difference_where_a_stream_is_cut(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    transformer, app = switching(Echo(chunks=[whole[at : at + 1] for at in range(len(whole))]))
    post(app, conversation())
    assert bool(transformer.told) is (chunks in GOOD)


def test_a_count_of_tokens_is_no_answer() -> None:
    transformer, app = switching(Echo())
    post(app, conversation(), "/v1/messages/count_tokens")
    assert transformer.told == []


def test_an_aborted_response_is_not_an_answer() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        assert (await receive())["type"] == "http.disconnect"
        await send({"type": "http.response.body", "body": b"rest", "more_body": False})

    transformer = NamingTransformer()
    post(ToolCarryMiddleware(app, RequestPipeline(transformer=transformer)), conversation())
    assert transformer.told == []


def test_an_application_that_breaks_off_gives_no_answer_and_its_error_is_raised() -> None:
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
