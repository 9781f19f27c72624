"""What goes to the upstreams and what comes back: to the byte, as it comes, and when something fails."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from itertools import islice

import anthropic
import httpx
import openai
import pytest
from sdk_turns import PROVIDERS, SAY
from upstreams import AnthropicFake, OllamaFake, OpenAIFake, Turn

from toolcarry.integrations.asgi import headers_of
from toolcarry.integrations.request import RequestView
from toolcarry.serve import upstream_of

MESSAGES = [{"role": "user", "content": "Hi"}]
LONG = Turn("A long answer that comes in many pieces, one by one, to its end.")
FAKES = {"anthropic": AnthropicFake, "openai": OpenAIFake, "ollama": OllamaFake}


class Echo:
    """An upstream that keeps the request as it came, and answers with what it is given."""

    def __init__(self, *chunks, status=200, headers=()):
        self.chunks, self.status, self.headers = chunks, status, headers
        self.scopes, self.bodies = [], []

    async def __call__(self, scope, receive, send):
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        self.scopes.append(scope)
        self.bodies.append(body)
        start = {"type": "http.response.start", "status": self.status}
        await send({**start, "headers": list(self.headers)})
        for chunk in self.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body"})


@pytest.fixture
def echo(serve, start):
    def make(echo, path="", **options):
        return start({"a": f"{serve(echo)}{path}"}, **options)

    return make


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


def test_other_paths_are_nobodys(echo, http):
    app = Echo()
    url = echo(app)
    assert [http.get(url + path).status_code for path in ("/", "/v2/x", "/v1")] == [404] * 3
    assert app.scopes == []


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
def test_a_client_that_hangs_up_is_told_to_the_upstream(start, clients, http, after):
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
    while "requests_in_flight 0" not in http.get(f"{url}/metrics").text:
        pass


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
    with pytest.raises(anthropic.InternalServerError, match="gave no answer in time") as caught:
        SAY["anthropic"](clients("anthropic", url), MESSAGES, stream=False)
    assert caught.value.status_code == 504
    assert len(fake.recorded) == 1  # whether to try again is the client's to decide


def test_what_the_upstream_fails_with_is_the_clients_to_repeat(start):
    fake = AnthropicFake([Turn("Now.")])
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
    url = httpx.URL(echo(app))
    with socket.create_connection((url.host, url.port)) as connection:
        connection.sendall(b"POST /v1/x HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc")
    text = ""
    while 'status="none"' not in text:
        text = http.get(f"{url}/metrics").text
    assert 'toolcarry_requests_total{upstream="none",status="none"} 1' in text
    assert app.scopes == []


def test_the_middleware_stands_in_between(start, clients):
    """It knows the backend by the client's body, changes the body, and cannot change the route by it."""
    fakes = {"a": OpenAIFake([Turn("A")]), "b": OpenAIFake([Turn("B")])}
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
