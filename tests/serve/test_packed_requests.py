"""Requests with a compressed body: projected, and forwarded without compression; and requests for a WebSocket."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.wire import bash, join
from support.servers.forwarded import Echo

from toolcarry._input.archive import zstandard
from toolcarry._input.codings import TooLargeError, unpack_body
from toolcarry.config import Config
from toolcarry.config.tables import Projection

MESSAGES = join(bash("ls", "word " * 900, "t1"), [{"role": "user", "content": "next"}])
PLAIN = json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": MESSAGES}).encode()
PROJECTING = Config(projection=Projection(enabled=True, max_result_chars=300))


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


def brotli(body: bytes) -> bytes:
    packed: bytes = pytest.importorskip("brotli").compress(body)
    return packed


def zstd(body: bytes) -> bytes:
    packed: bytes = zstandard().compress(body)
    return packed


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "X-GZip": gzip.compress,
    "zstd": zstd,
    "br": brotli,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "gzip, zstd": lambda body: zstd(gzip.compress(body)),
    "identity, gzip": lambda body: gzip.compress(body[:100]) + gzip.compress(body[100:]),
}


def post(http: httpx.Client, url: str, body: bytes, coding: str, **headers: str) -> httpx.Response:
    given = {"content-type": "application/json", "content-encoding": coding, **headers}
    return http.post(f"{url}/v1/messages", content=body, headers=given)


@pytest.mark.parametrize("coding", PACK)
def test_a_packed_request_is_projected_and_sent_on_plain(echo, http, coding):
    app = Echo(b"{}")
    url = echo(app, config=PROJECTING)
    assert post(http, url, PACK[coding](PLAIN), coding).status_code == 200
    sent = json.loads(app.bodies[0])
    assert len(app.bodies[0]) < 1_500
    assert sent["messages"][-1] == MESSAGES[-1]
    headers = dict(app.scopes[0]["headers"])
    assert b"content-encoding" not in headers
    assert headers[b"content-length"] == str(len(app.bodies[0])).encode()


@pytest.mark.parametrize("coding", PACK)
def test_without_work_it_is_the_body_to_the_byte(echo, http, coding):
    app = Echo(b"{}")
    assert post(http, echo(app), PACK[coding](PLAIN), coding).status_code == 200
    assert app.bodies == [PLAIN]
    assert b"content-encoding" not in dict(app.scopes[0]["headers"])


def test_the_model_in_a_packed_body_decides_the_route(serve, start, http):
    first, second = Echo(b"{}"), Echo(b"{}")
    upstreams = {"a": serve(first), "b": serve(second)}
    url = start(upstreams, models={"b": ("claude-*",)})
    assert post(http, url, zstd(PLAIN), "zstd").headers["x-toolcarry-upstream"] == "b"
    assert second.bodies == [PLAIN]


@pytest.mark.parametrize(
    ("coding", "body", "headers"),
    [
        ("gzip", PLAIN, {}),
        ("gzip", gzip.compress(PLAIN)[:-9], {}),
        ("zstd", zstd(PLAIN)[:-3], {}),
        ("zstd", zstd(PLAIN) + b"x", {}),
        ("deflate", b"\xff\xff", {}),
        ("compress", PLAIN, {}),
        ("gzip, gzip, gzip, gzip", PLAIN, {}),
        ("gzip", gzip.compress(PLAIN), {"content-digest": "sha-256=:x:"}),
        ("gzip", gzip.compress(PLAIN), {"content-type": "application/octet-stream"}),
    ],
)
def test_what_cannot_be_unpacked_goes_on_as_it_came(echo, http, coding, body, headers):
    app = Echo(b"{}")
    url = echo(app, config=PROJECTING)
    assert post(http, url, body, coding, **headers).status_code == 200
    assert app.bodies == [body]
    assert dict(app.scopes[0]["headers"])[b"content-encoding"] == coding.encode()


@pytest.mark.parametrize("coding", ["gzip", "zstd", "br", "deflate", "gzip, zstd"])
def test_a_small_body_that_unpacks_to_a_large_one_is_refused(echo, http, coding):
    app = Echo(b"{}")
    url = echo(app, max_body_bytes=1_000_000)
    bomb = PACK[coding](b" " * 50_000_000)
    assert len(bomb) < 1_000_000
    answer = post(http, url, bomb, coding)
    assert answer.status_code == 413
    assert "1,000,000 bytes" in answer.json()["error"]["message"]
    assert app.bodies == []


@given(
    body=st.binary(max_size=2_000),
    codings=st.lists(st.sampled_from(["gzip", "zstd", "deflate"]), min_size=1, max_size=3),
    most=st.integers(0, 3_000),
)
def test_unpacking_undoes_packing_within_the_limit(
    body: bytes, codings: list[str], most: int
) -> None:
    packed = body
    for coding in codings:
        packed = PACK[coding](packed)
    try:
        found = unpack_body(packed, codings, most)
    except TooLargeError:
        assert len(body) > most - 200
    else:
        assert found == body
        assert len(body) <= most


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/realtime", "/"])
def test_a_websocket_is_refused_at_once(echo, http, path):
    app = Echo()
    upgrade = {
        "connection": "Upgrade",
        "upgrade": "WebSocket",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-version": "13",
    }
    answer = http.get(f"{echo(app)}{path}", headers=upgrade)
    assert answer.status_code == 426
    assert answer.headers["upgrade"] == "HTTP/1.1"
    assert app.scopes == []
