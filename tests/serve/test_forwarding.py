"""Requests to the upstreams and their answers: forwarded byte for byte, as they arrive."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from itertools import islice

import httpx
import pytest
from support.clocks import wait_until
from support.providers.fakes import AnthropicFake, OllamaFake, OpenAIFake, ScriptedTurn
from support.providers.sdk_turns import PROVIDERS, SAY
from support.servers.forwarded import FAKES, LONG, MESSAGES, Echo

from toolcarry.config import Config
from toolcarry.config.tables import Projection
from toolcarry.integrations.asgi import headers_of
from toolcarry.integrations.identity import RequestView
from toolcarry.integrations.proxy import upstream_of

pytestmark = pytest.mark.sdk


def test_a_request_goes_on_to_the_byte(echo, http):
    app = Echo(b"{}")
    url = echo(app)
    body = b' {"b":1.00, "a":"\xc3\xa9\\u00e9", "a":2}\n'
    headers = [
        ("X-Api-Key", "client's"),
        ("Authorization", "Bearer client's"),
        ("Accept-Encoding", "zstd"),
        ("Anthropic-Beta", "one"),
        ("Anthropic-Beta", "two"),
        ("X-Odd", "caf\u00e9"),
        ("X-ToolCarry-Conversation", "talk"),
        ("Connection", "keep-alive, X-Hop"),
        ("X-Hop", "1"),
        ("TE", "trailers"),
        ("Proxy-Authorization", "Basic eA=="),
        ("Cookie", "c=1"),
        ("User-Agent", "theirs/1"),
    ]
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    target = "/v1/files/a%2Fb%20c;d?x=%41&x=+%20&y"
    with httpx.Client(headers={}) as client:
        client.headers.clear()
        assert client.post(url + target, content=body, headers=raw).status_code == 200
    (scope,) = app.scopes
    assert app.bodies == [body]
    assert (scope["method"], scope["raw_path"]) == ("POST", b"/v1/files/a%2Fb%20c;d")
    assert scope["query_string"] == b"x=%41&x=+%20&y"
    assert sorted(scope["headers"]) == sorted([
        (b"host", scope["headers"][0][1]),
        (b"content-length", str(len(body)).encode()),
        (b"x-api-key", b"client's"),
        (b"authorization", b"Bearer client's"),
        (b"accept-encoding", b"zstd"),
        (b"anthropic-beta", b"one"),
        (b"anthropic-beta", b"two"),
        (b"x-odd", "caf\u00e9".encode("latin-1")),
        (b"cookie", b"c=1"),
        (b"user-agent", b"theirs/1"),
    ])  # fmt: skip
    assert url.removeprefix("http://").encode() != scope["headers"][0][1]


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "OPTIONS"])
def test_every_method(echo, http, method):
    app = Echo()
    answer = http.request(method, f"{echo(app)}/v1/files/1")
    assert (answer.status_code, app.scopes[0]["method"]) == (200, method)


@pytest.mark.parametrize(
    ("path", "before"), [("/", ""), ("/v1", ""), ("/up/v1/", "/up"), ("/up", "/up")]
)
def test_the_path_of_an_upstream(echo, http, path, before):
    app = Echo()
    http.get(f"{echo(app, path)}/v1/models")
    assert app.scopes[0]["path"] == f"{before}/v1/models"


@pytest.mark.parametrize(
    "path", ["/v1/../admin", "/v1/%2e%2e/admin", "/v1/x/..%2f..%2fadmin", "/api/.."]
)
def test_no_path_leads_out(echo, path):
    app = Echo()
    url = httpx.URL(echo(app))
    with socket.create_connection((url.host, url.port)) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        assert connection.recv(12) == b"HTTP/1.1 404"
    assert app.scopes == []


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/v2/x",
        "/v1",
        "/v1beta/models/gemini-2.5-pro:generateContent",
        "/openai/deployments/a/chat/completions",
        "/model/anthropic.claude%3A0/converse",
        "/v1internal:generateContent",
    ],
)
def test_every_path_is_forwarded(echo, http, path):
    app = Echo()
    assert http.post(echo(app) + path, json={"contents": []}).status_code == 200
    assert app.scopes[0]["raw_path"] == path.encode()


@pytest.mark.parametrize("base", ["", "/v1beta"])
def test_a_request_to_gemini_is_projected(echo, http, base):
    app = Echo(b"{}")
    config = Config(projection=Projection(enabled=True, max_result_chars=300))
    url = echo(app, base, config=config)
    call = {"functionCall": {"name": "f", "args": {}}}
    answer = {"functionResponse": {"name": "f", "response": {"output": "word " * 900}}}
    contents = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [answer]},
    ]
    path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent"
    assert http.post(f"{url}{path}?alt=sse", json={"contents": contents}).status_code == 200
    assert app.scopes[0]["raw_path"] == path.encode()
    assert len(app.bodies[0]) < 1_000


def test_an_answer_comes_back_to_the_byte(echo, http):
    packed = gzip.compress(b'{"a": 1}')
    headers = [
        (b"Content-Type", b"application/json"),
        (b"Content-Encoding", b"gzip"),
        (b"Content-Length", str(len(packed)).encode()),
        (b"Set-Cookie", b"a=1"),
        (b"Set-Cookie", b"b=2"),
        (b"Connection", b"X-Hop"),
        (b"X-Hop", b"1"),
        (b"Retry-After", b"7"),
    ]
    url = echo(Echo(packed[:10], packed[10:], status=429, headers=headers))
    with http.stream("GET", f"{url}/v1/models") as answer:
        assert b"".join(answer.iter_raw()) == packed
    assert answer.status_code == 429
    found = [
        (name, value) for name, value in answer.headers.raw if name not in (b"date", b"server")
    ]
    assert sorted(found) == [
        (b"content-encoding", b"gzip"),
        (b"content-length", str(len(packed)).encode()),
        (b"content-type", b"application/json"),
        (b"retry-after", b"7"),
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
        (b"x-toolcarry-upstream", b"a"),
    ]


def test_no_cookie_of_one_client_goes_out_with_anothers_request(echo, http):
    app = Echo(headers=[(b"set-cookie", b"session=1; Path=/")])
    url = echo(app)
    for _ in range(2):
        http.cookies.clear()
        http.get(f"{url}/v1/models")
    assert not any(name == b"cookie" for scope in app.scopes for name, _ in scope["headers"])


@pytest.mark.parametrize("shape", ["anthropic", "openai", "ollama"])
def test_an_upstreams_own_key(echo, http, monkeypatch, shape):
    monkeypatch.setenv("OWN_KEY", "ours")
    app = Echo()
    url = echo(app, shape=shape, upstream_options={"api_key_env": "OWN_KEY"})
    given = {"x-api-key": "client's", "authorization": "Bearer client's"}
    http.get(f"{url}/v1/models", headers=given)
    found = {name: value for name, value in app.scopes[0]["headers"] if name.decode() in given}
    is_anthropic = shape == "anthropic"
    assert found == (
        {b"x-api-key": b"ours"} if is_anthropic else {b"authorization": b"Bearer ours"}
    )


@pytest.mark.parametrize("api", list(SAY))
def test_pieces_come_as_they_are_said(start, clients, api):
    fake = FAKES[PROVIDERS[api]]([LONG])
    client = clients(PROVIDERS[api], start({"a": fake}))
    after = {"anthropic": 5, "chat": 3, "responses": 6, "ollama": 3}[api]
    held = fake.hold(after)
    given = {"model": "m", "stream": True}
    if api == "anthropic":
        events = client.messages.create(max_tokens=9, messages=MESSAGES, **given)
    elif api == "chat":
        events = client.chat.completions.create(messages=MESSAGES, **given)
    elif api == "responses":
        events = client.responses.create(input="Hi", **given)
    else:
        events = client.chat(messages=MESSAGES, **given)
    events = iter(events)
    count = after - 1 if api == "anthropic" else after  # its SDK keeps pings to itself
    assert len(list(islice(events, count))) == count
    assert held.is_held.wait(10)  # they are here, and the rest is not said yet
    held.may_go.set()
    assert list(events)


@pytest.mark.parametrize("after", [0, 5])
def test_a_disconnect_reaches_the_upstream(start, clients, http, after):
    fake = AnthropicFake([LONG])
    url = start({"a": fake})
    held = fake.hold(after)
    if after:
        client = clients("anthropic", url)
        with client.messages.stream(model="m", max_tokens=9, messages=MESSAGES) as events:
            next(iter(events))
            assert held.is_held.wait(10)
    else:
        body = json.dumps({"model": "m", "max_tokens": 9, "messages": MESSAGES})
        given = {"x-api-key": "test-key", "anthropic-version": "2023-06-01"}
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{url}/v1/messages", content=body, headers=given, timeout=0.5)
        assert held.is_held.is_set()
    assert held.is_left.wait(10)
    wait_until(lambda: "requests_in_flight 0" in http.get(f"{url.control}/metrics").text)


def test_the_middleware_is_between_client_and_server(start, clients):
    """It knows the backend by the client's body, changes the body, and cannot change the route by it."""
    fakes = {"a": OpenAIFake([ScriptedTurn("A")]), "b": OpenAIFake([ScriptedTurn("B")])}
    seen = []

    def wrap(app):
        async def middleware(scope, receive, send):
            message = await receive()
            assert not message.get("more_body")
            request = RequestView(scope["path"], headers_of(scope), message["body"], scope)
            seen.append(upstream_of(request).name)
            body = message["body"].replace(b'"gpt-a"', b'"changed"')
            scope = {
                **scope,
                "headers": [
                    (name, str(len(body)).encode() if name == b"content-length" else value)
                    for name, value in scope["headers"]
                ],
            }
            messages = [{"type": "http.request", "body": body, "more_body": False}]

            async def replay():
                return messages.pop() if messages else await receive()

            await app(scope, replay, send)

        return middleware

    url = start(fakes, models={"b": ("gpt-*",)}, app_options={"wrap": wrap})
    assert SAY["chat"](clients("openai", url), MESSAGES, stream=True)[0] == "B"
    assert seen == ["b"]
    assert fakes["b"].recorded[0].json["model"] == "changed"


def test_many_at_a_time(start, http):
    fake = OllamaFake([LONG])
    url = start({"a": fake})
    answers = []

    def ask(number):
        body = {"model": "m", "messages": [{"role": "user", "content": f"{number}"}]}
        answers.append(httpx.post(f"{url}/api/chat", json=body, timeout=60).text)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == len(fake.recorded) == 40
    assert len(set(answers)) == 1
