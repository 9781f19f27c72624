"""Answers with a content coding, and answers that are too long to be recorded."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from toolcarry._input.answers import MOST_ANSWER
from toolcarry._input.archive import zstandard
from toolcarry.integrations.asgi import ToolCarryMiddleware
from toolcarry.integrations.identity import Identification
from toolcarry.integrations.pipeline import RequestPipeline
from toolcarry.integrations.recorder import Recorder
from toolcarry.tract import Tract

TEXT = "The tests pass, and this is said at some length. " * 200


def brotli(body: bytes) -> bytes:
    packed: bytes = pytest.importorskip("brotli").compress(body)
    return packed


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "zstd": lambda body: zstandard().compress(body),
    "br": brotli,
    "gzip, br": lambda body: brotli(gzip.compress(body)),
    "identity": bytes,
}


def recorded(
    tmp_path: Any, chunks: list[bytes], coding: str, kind: bytes = b"application/json"
) -> tuple[list[str], dict[str, int], str]:
    """Let an answer of these chunks pass, and return what was recorded, the counts, and the accepted codings."""
    target, accepted = str(tmp_path / "history.db"), ""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal accepted
        await receive()
        accepted = dict(scope["headers"]).get(b"accept-encoding", b"").decode()
        headers = [(b"content-type", kind), (b"content-encoding", coding.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for chunk in chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    recorder = Recorder(target)
    pipeline = RequestPipeline(recorder=recorder)
    application = ToolCarryMiddleware(app, pipeline, identify=Identification(tenant="me"))

    async def ask() -> None:
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://m") as client:
            body = {"model": "m", "messages": [{"role": "user", "content": "Go."}]}
            headers = {"x-session-id": "c1", "accept-encoding": "gzip, snappy;q=0.5, br"}
            async with client.stream("POST", "/v1/messages", json=body, headers=headers) as answer:
                async for _ in answer.aiter_raw():
                    pass

    asyncio.run(ask())
    recorder.close()
    with Tract.open(target, tenant="me", conversation="c1") as tract:
        said = [tract.get_content(commit) for commit in reversed(tract.log())]
    return said, dict(pipeline.counts), accepted


def message(text: str) -> bytes:
    content = [{"type": "text", "text": text}]
    return json.dumps({"type": "message", "role": "assistant", "content": content}).encode()


@pytest.mark.parametrize("coding", PACK)
def test_an_answer_in_any_coding_is_recorded(tmp_path: Any, coding: str) -> None:
    packed = PACK[coding](message(TEXT))
    half = len(packed) // 2
    said, counts, accepted = recorded(tmp_path, [packed[:half], packed[half:]], coding)
    assert said == ["Go.", TEXT]
    assert counts["history.recorded"] == 1
    assert "snappy" not in accepted
    assert accepted.startswith("gzip")


@pytest.mark.parametrize("coding", PACK)
def test_a_stream_that_breaks_off_is_recorded_in_any_coding(tmp_path: Any, coding: str) -> None:
    events = [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": f"{n} "},
            }
            for n in range(3_000)
        ),
    ]
    stream = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)
    packed = PACK[coding](stream)
    said, _, _ = recorded(tmp_path, [packed[: len(packed) - 40]], coding, b"text/event-stream")
    assert said[0] == "Go."
    assert said[1].startswith("0 1 2 3")


@pytest.mark.parametrize("coding", ["snappy", "gzip"])
def test_an_answer_that_cannot_be_read_is_counted(tmp_path: Any, coding: str) -> None:
    said, counts, _ = recorded(tmp_path, [b"\x00\x01\x02"], coding)
    assert said == ["Go."]
    assert counts["history.unread"] == 1


@pytest.mark.parametrize(
    ("coding", "make"),
    [
        pytest.param(
            "identity",
            lambda: [b" " * (1 << 20)] * (MOST_ANSWER // (1 << 20) * 3),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "gzip", lambda: [gzip.compress(b" " * (MOST_ANSWER * 8))], marks=pytest.mark.slow
        ),
        ("gzip", lambda: [gzip.compress(b'{"type":"message","content":[' + b"[]," * 9_000_000)]),
        ("zstd", lambda: [zstandard().compress(b" " * (MOST_ANSWER * 8))]),
    ],
    ids=["long", "gzip", "values", "zstd"],
)
def test_a_long_answer_takes_little_memory(
    tmp_path: Any, coding: str, make: Callable[[], list[bytes]]
) -> None:
    chunks = make()
    tracemalloc.start()
    try:
        said, counts, _ = recorded(tmp_path, chunks, coding)
        assert tracemalloc.get_traced_memory()[1] < 4 * MOST_ANSWER
    finally:
        tracemalloc.stop()
    assert said == ["Go."]
    assert counts["history.unread"] == 1


def test_a_stream_of_many_events_is_recorded(tmp_path: Any) -> None:
    """The limit on the values of a document is one on each event."""
    events = [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": "a "},
            },
        )
        * 60_000,
        {"type": "message_stop"},
    ]
    stream = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)
    said, _, _ = recorded(tmp_path, [stream], "identity", b"text/event-stream")
    assert said == ["Go.", "a " * 60_000]
