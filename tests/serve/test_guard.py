"""Requests that no client of a model sends: from pages, under foreign names, of odd framing, and without an end."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import ExitStack, suppress
from itertools import product

import httpx
import pytest
from starlette.testclient import TestClient
from support.processes.proxy import running
from support.providers.fakes import AnthropicFake
from support.rows import for_each
from support.servers.forwarded import Echo

from toolcarry.config import Serve, Upstream
from toolcarry.integrations.proxy import create_app
from toolcarry.integrations.proxy.guard import Guard, is_own_name

JSON = {"content-type": "application/json"}
PATHS = ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/api/chat", "/v1/models", "/healthz"]  # fmt: skip


@pytest.fixture
def keyed(echo, monkeypatch):
    """A proxy whose upstream has a key of its own, and the application that it forwards to."""
    monkeypatch.setenv("UPSTREAM_KEY", "upstream-key")

    def make(**options):
        app = Echo()
        return app, echo(app, upstream_options={"api_key_env": "UPSTREAM_KEY"}, **options)

    return make


PAGES = [
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:8787"},
    {"origin": "http://evil.example", "sec-fetch-site": "same-origin"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "Cross-Site"},
    {"sec-fetch-site": "something new"},
    {"host": "evil.example"},
    {"host": "evil.example:8787"},
    {"host": "127.0.0.1.evil.example"},
    {"host": "localhost.evil.example:80"},
    {"host": "user@localhost"},
    {"host": "[::1].evil.example"},
]


@for_each("headers", PAGES, ids=str)
def test_no_page_of_another_site_gets_through(keyed, http, headers):
    app, url = keyed()
    for path in PATHS:
        for method in ("GET", "POST", "OPTIONS"):
            answer = http.request(
                method, f"{url}{path}", headers={**JSON, **headers}, content=b"{}"
            )
            assert answer.status_code == 403, (method, path)
            assert "access-control-allow-origin" not in answer.headers
    for method in ("GET", "POST", "DELETE"):
        answer = http.request(
            method, f"{url.control}/switch", headers=headers, content=b'{"upstream":"a"}'
        )
        assert answer.status_code == 403
    assert http.get(f"{url.control}/metrics", headers=headers).status_code == 403
    assert app.scopes == []


@for_each(
    "headers",
    [
        {},
        {"sec-fetch-site": "none"},
        {"host": "localhost:8787"},
        {"host": "[::1]:8787"},
        {"host": "10.0.0.7"},
        {"host": "toolcarry:8787"},
        {"host": "toolcarry.default.svc.cluster.local"},
        {"host": "api.example.com"},
        {"host": "API.example.com.:443"},
        {"origin": "app://editor", "sec-fetch-site": "cross-site"},
        {"x-forwarded-for": "10.0.0.1", "via": "1.1 gateway"},
    ],
    ids=str,
)
def test_clients_and_what_is_allowed_get_through(keyed, http, headers):
    app, url = keyed(allowed_hosts=("api.example.com",), allowed_origins=("app://editor",))
    answer = http.post(f"{url}/v1/messages", headers={**JSON, **headers}, content=b"{}")
    assert answer.status_code == 200
    assert len(app.scopes) == 1


@for_each(
    ("host", "expected"),
    [("", True), ("a", True), ("a.b", False), ("0x7f.1", False), ("::1", False), ("[::1]:x", False), ("a:1:2", False)],
)  # fmt: skip
def test_names(host, expected):
    assert is_own_name(host, frozenset()) is expected


SIMPLE = ["text/plain", "Text/Plain; charset=utf-8", "text/plain; application/json", "application/x-www-form-urlencoded", ""]  # fmt: skip


@for_each("kind", [*SIMPLE, "multipart/form-data; boundary=x"])
@for_each("path", ["/v1/messages", "/v1/chat/completions", "/v1/embeddings"])
def test_no_other_type_is_served_with_the_upstreams_key(keyed, http, kind, path):
    app, url = keyed()
    headers = [(b"content-type", kind.encode())] if kind else []
    answer = http.post(f"{url}{path}", headers=headers, content=b'{"model":"m"}')
    assert answer.status_code == 415
    assert app.scopes == []


def test_other_content_types_with_the_clients_key(echo, http, keyed):
    """Curl sends a form by default. Files are uploaded as forms, and a cancellation has no body."""
    app = Echo()
    url = echo(app)
    assert http.post(
        f"{url}/api/chat", headers={"content-type": SIMPLE[3]}, content=b"{}"
    ).is_success
    app, url = keyed()
    assert http.post(f"{url}/v1/files", files={"file": b"x"}).is_success
    assert http.post(f"{url}/v1/responses/r/cancel").is_success
    assert http.get(f"{url}/v1/models").is_success
    assert len(app.scopes) == 3


def raw(url, data):
    """Return the answer to bytes, until the connection is closed or nothing more comes."""
    place = httpx.URL(url)
    with socket.create_connection((place.host, place.port), timeout=10) as connection:
        connection.sendall(data)
        found = b""
        while part := connection.recv(65_536):
            found += part
    return found


@for_each("method", ["TRACE", "TRACK", "CONNECT", "PROPFIND", "get"])
def test_other_methods_are_refused(keyed, method):
    app, url = keyed()
    for base in (url, url.control):
        head = f"{method} /v1/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        assert raw(base, head.encode()).split(b" ")[1] in (b"405", b"400")
    assert app.scopes == []


FRAMINGS = [
    b"content-length: 2\r\ntransfer-encoding: chunked",
    b"transfer-encoding: chunked\r\ncontent-length: 2",
    b"Content-Length: 9\r\nTransfer-Encoding:chunked",
    b"content-length: 2\r\ntransfer-encoding: identity",
    b"content-length: 2\r\ncontent-length: 3",
    b"transfer-encoding: xchunked",
]


@for_each("framing", FRAMINGS)
def test_a_request_that_may_be_cut_in_two_ways_is_refused(keyed, framing):
    """The connection is closed, so that the rest of it is no request."""
    app, url = keyed()
    head = b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    rest = b"2\r\n{}\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
    answer = raw(url, head + framing + b"\r\n\r\n" + rest)
    assert answer.count(b"HTTP/1.1 ") == 1
    assert answer.split(b" ")[1][:1] in (b"4", b"5")
    assert app.scopes == []


@pytest.mark.parametrize("sent", [b"", b"{", b'{"a":1'])
def test_a_body_has_to_arrive_in_time(keyed, sent):
    app, url = keyed(body_timeout=0.2)
    head = b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n"
    answer = raw(url, head + b"content-type: application/json\r\n\r\n" + sent)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"the body took longer than 0.2 seconds" in answer
    assert app.scopes == []
    assert (
        raw(url.control, head.replace(b"/v1/messages", b"/switch") + b"\r\n" + sent)[9:12] == b"408"
    )


WAITS = {
    "nothing": [],
    "a part": [b"GET /heal"],
    "no end": [b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n"],
    "byte by byte": [b"GET /healthz HTTP/1.1\r\nx: ", *[b"x"] * 10_000],
    "after a request": [
        b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"GET /healthz",
    ],
}


@pytest.fixture(scope="module")
def hasty(tmp_path_factory):
    """A proxy in a process of its own, where heads and bodies have half a second."""
    path = tmp_path_factory.mktemp("hasty") / "toolcarry.toml"
    table = "[[serve.upstreams]]\nname = 'a'\nurl = 'http://127.0.0.1:9'\nshape = 'anthropic'\n"
    path.write_text(f"[serve]\nbody_timeout = 0.5\n{table}")
    with running("--config", path) as (_, url):
        yield url


def test_a_head_has_to_arrive_in_time(hasty):
    """The connection is closed, however often something more of the head arrives. All of them wait at once."""
    waiting = {}
    with ExitStack() as stack:
        for (kind, parts), base in product(WAITS.items(), (hasty, hasty.control)):
            place = httpx.URL(base)
            opened = socket.create_connection((place.host, place.port), timeout=10)
            connection = stack.enter_context(opened)
            first, *others = parts or [b""]
            connection.sendall(first)
            connection.settimeout(0.002)
            waiting[kind, base] = connection, others
        for _ in range(500):
            for each, (connection, others) in [*waiting.items()]:
                found = None
                with suppress(TimeoutError):
                    try:
                        found = connection.recv(65_536)
                    except ConnectionResetError:
                        found = b""
                if found == b"":
                    del waiting[each]
                elif others:
                    with suppress(ConnectionError):
                        connection.sendall(others.pop(0))
            if not waiting:
                break
    assert not waiting


def test_a_connection_may_be_idle_longer_than_a_head_may_take(hasty):
    place = httpx.URL(hasty)
    head = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with socket.create_connection((place.host, place.port), timeout=1) as connection:
        for _ in range(2):
            connection.sendall(head)
            found = b""
            while not found.endswith(b"ok\n"):
                found += connection.recv(65_536)
            with pytest.raises(TimeoutError):
                connection.recv(1)


def test_control_is_not_on_the_address_of_clients(start, http):
    url = start({"a": AnthropicFake()})
    for path in ("/switch", "/metrics"):
        assert http.get(f"{url}{path}").status_code == 404
        assert http.get(f"{url.control}{path}").status_code == 200
    assert http.post(f"{url.control}/v1/messages", json={}).status_code == 404


UPSTREAM = Upstream(name="a", url="http://127.0.0.1:9", shape="anthropic")


@pytest.mark.parametrize("client", ["127.0.0.1", "::1", "10.0.0.1", "testclient"])
def test_a_token_is_required_from_every_address(client, monkeypatch):
    """A gateway on the same machine has this machine's address, whatever headers it adds or leaves out."""
    monkeypatch.setenv("SWITCH_TOKEN", "s3cret")
    app = create_app(Serve(upstreams=(UPSTREAM,), token_env="SWITCH_TOKEN"))
    asked = TestClient(app.state.control, base_url="http://localhost", client=(client, 5))
    for headers in ({}, {"x-forwarded-for": "127.0.0.1"}, {"cf-connecting-ip": "127.0.0.1"}):
        for method in ("GET", "POST", "DELETE"):
            answer = asked.request(method, "/switch", headers=headers, content=b'{"upstream":"a"}')
            assert answer.status_code == 401
    named = {"authorization": "Bearer s3cret"}
    assert asked.get("/switch", headers=named).json()["upstream"] is None


@pytest.mark.parametrize("address", ["0.0.0.0:90", "[::]:90", "10.0.0.1:90", "toolcarry:90"])
def test_control_that_others_reach_needs_a_token(address):
    with pytest.raises(ValueError, match="is not allowed without token_env"):
        Serve(upstreams=(UPSTREAM,), control_listen=address)
    assert (
        Serve(upstreams=(UPSTREAM,), control_listen=address, token_env="T").control_address()[1]
        == 90
    )


@pytest.mark.parametrize("address", ["127.0.0.1:8787", "127.0.0.1:70000"])
def test_control_has_a_separate_port(address):
    with pytest.raises(ValueError, match=r"control_listen: port \d+ is not allowed"):
        Serve(upstreams=(UPSTREAM,), control_listen=address)


def test_a_process_serves_both(tmp_path, http, monkeypatch):
    path = tmp_path / "toolcarry.toml"
    table = "[[serve.upstreams]]\nname = 'a'\nurl = 'http://127.0.0.1:9'\nshape = 'anthropic'\n"
    path.write_text(table)
    with running("--config", path) as (_, url):
        assert url.control != url
        assert http.get(f"{url}/healthz").status_code == 200
        assert http.get(f"{url}/switch").status_code == 404
        assert http.get(f"{url.control}/switch").json()["upstreams"] == ["a"]
        assert http.get(f"{url.control}/healthz").status_code == 404
        body = json.dumps({"upstream": "a"})
        page = {"content-type": "text/plain", "origin": "http://evil.example"}
        assert http.post(f"{url.control}/switch", content=body, headers=page).status_code == 403


def events_of(chunks, headers=(), status=415):
    """Send a request through a guard to an application that refuses it unread; return what was received and sent."""
    events = []
    rest = iter(chunks)

    async def refuses(scope, receive, send):
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body"})

    async def receive():
        body = next(rest, None)
        if body is None:
            await asyncio.Event().wait()
        events.append(len(body))
        return {"type": "http.request", "body": body, "more_body": len(body) > 2}

    async def send(message):
        events.append(message.get("status", "end"))

    given = [(b"host", b"localhost"), *headers]
    scope = {"type": "http", "method": "POST", "path": "/v1/messages", "headers": given}
    asyncio.run(Guard(refuses, Serve(body_timeout=0.1))(scope, receive, send))
    return events


FOREIGN = ((b"origin", b"http://evil.example"),)


@pytest.mark.parametrize(("headers", "status"), [((), 415), (FOREIGN, 403)])
def test_a_refused_body_is_received_before_the_answer(headers, status):
    """Unread data resets the connection when it is closed, and the client may lose the answer."""
    assert events_of([b"abc", b"d"], headers) == [3, 1, status, "end"]


def test_a_refused_body_without_an_end_is_not_waited_for():
    assert events_of([b"abc"]) == [3, 415, "end"]
    large = [b"x" * 40_000] * 9
    assert events_of(large) == [40_000, 40_000, 415, "end"]


def test_a_body_stays_unread_if_the_request_is_answered():
    assert events_of([b"abc", b"d"], status=200) == [200, "end"]
