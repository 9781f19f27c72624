"""Upstreams that break off, are down or do not answer, and bodies that are too large: the error that the client gets."""

from __future__ import annotations

import json
import socket
import threading

import httpx
import pytest
from support.clocks import wait_until
from support.providers.fakes import AnthropicFake, ScriptedTurn
from support.providers.sdk_turns import PROVIDERS, SAY
from support.sdk import sdk
from support.servers.forwarded import FAKES, LONG, MESSAGES, Echo

anthropic = sdk("anthropic")
openai = sdk("openai")
pytestmark = pytest.mark.sdk


@pytest.mark.parametrize("after", [0, 1, 4])
def test_an_upstream_that_breaks_off(start, http, after):
    """A part must not look like the whole: neither a part of a body, nor one of a stream."""
    fake = AnthropicFake([LONG])
    url = start({"a": fake})
    fake.cut(after)
    body = {"model": "m", "max_tokens": 9, "messages": MESSAGES, "stream": after > 0}
    given = {"x-api-key": "test-key", "anthropic-version": "2023-06-01"}
    seen = []
    with http.stream("POST", f"{url}/v1/messages", json=body, headers=given) as answer:
        chunks = answer.iter_raw()
        with pytest.raises(httpx.RemoteProtocolError):
            seen.extend(chunks)
    assert b"".join(seen).count(b"event: ") == after
    assert http.post(f"{url}/v1/messages", json=body, headers=given).status_code == 200


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", list(SAY))
def test_sdks_see_that_it_broke_off(start, clients, api, stream):
    fake = FAKES[PROVIDERS[api]]([LONG])
    client = clients(PROVIDERS[api], start({"a": fake}))
    fake.cut(2 if stream else 0)
    with pytest.raises(Exception, match=r"(?i)peer closed|connection error"):
        SAY[api](client, MESSAGES, stream=stream)
    assert SAY[api](client, MESSAGES, stream=stream)[0] == LONG.text


def test_an_upstream_that_closes_without_a_word(start, clients):
    def close(listener):
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=close, args=(listener,), daemon=True).start()
        url = start({"a": f"http://127.0.0.1:{listener.getsockname()[1]}"})
        with pytest.raises(anthropic.InternalServerError, match="cannot be reached") as caught:
            SAY["anthropic"](clients("anthropic", url), MESSAGES, stream=True)
    assert caught.value.status_code == 502


@pytest.fixture
def nowhere():
    """The URL of a port that is bound, so that it stays free, and refuses connections."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/v1/messages", {"type": "error", "error": {"type": "api_error", "message": "MESSAGE"}}),
        ("/v1/responses", {"error": {"message": "MESSAGE", "type": "server_error", "param": None, "code": None}}),
        ("/api/chat", {"error": "MESSAGE"}),
    ],
)  # fmt: skip
def test_an_upstream_that_is_down(start, http, nowhere, path, error):
    answer = http.post(f"{start({'a': nowhere})}{path}", json={})
    told = json.dumps(error).replace("MESSAGE", "upstream 'a' cannot be reached")
    assert (answer.status_code, answer.json()) == (502, json.loads(told))


def test_sdks_read_those_errors(start, clients, nowhere):
    url = start({"a": nowhere})
    with pytest.raises(anthropic.InternalServerError, match="cannot be reached"):
        SAY["anthropic"](clients("anthropic", url), MESSAGES, stream=True)
    with pytest.raises(openai.InternalServerError, match="cannot be reached"):
        SAY["chat"](clients("openai", url), MESSAGES, stream=True)


def test_an_upstream_that_says_nothing(start, clients):
    fake = AnthropicFake()
    url = start({"a": fake}, upstream_options={"timeout": 0.3})
    fake.hold()
    with pytest.raises(anthropic.InternalServerError, match="did not answer in time") as caught:
        SAY["anthropic"](clients("anthropic", url), MESSAGES, stream=False)
    assert caught.value.status_code == 504
    assert len(fake.recorded) == 1  # whether to try again is the client's to decide


def test_upstream_failures_are_left_to_the_client(start):
    fake = AnthropicFake([ScriptedTurn("Now.")])
    url = start({"a": fake})
    fake.fail(2, 529)
    with anthropic.Anthropic(base_url=url, api_key="test-key", max_retries=2) as client:
        assert SAY["anthropic"](client, MESSAGES, stream=False)[0] == "Now."
    assert len(fake.recorded) == 3


@pytest.mark.parametrize("is_chunked", [False, True])
@pytest.mark.parametrize("size", [1_001, 1_999, 400_000])
def test_a_body_that_is_too_large(start, http, is_chunked, size):
    fake = AnthropicFake()
    url = start({"a": fake}, max_body_bytes=1_000)
    content = (b"x" * 100 for _ in range(size // 100 + 1)) if is_chunked else b"x" * size
    answer = http.post(f"{url}/v1/messages", content=content)
    assert answer.status_code == 413
    assert answer.json()["error"]["type"] == "request_too_large"
    assert "1,000 bytes are allowed" in answer.json()["error"]["message"]
    assert fake.recorded == []


def test_a_body_of_the_most_that_is_allowed(echo, http):
    app = Echo()
    url = echo(app, max_body_bytes=1_000)
    assert http.post(f"{url}/v1/x", content=b"x" * 1_000).status_code == 200
    assert app.bodies == [b"x" * 1_000]


def test_a_client_that_goes_while_it_sends(echo, http):
    app = Echo()
    url = echo(app)
    place = httpx.URL(url)
    with socket.create_connection((place.host, place.port)) as connection:
        connection.sendall(b"POST /v1/x HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc")
    line = 'toolcarry_requests_total{upstream="none",status="none"} 1'
    wait_until(
        lambda: line in http.get(f"{url.control}/metrics").text, what="the request to be counted"
    )
    assert app.scopes == []
