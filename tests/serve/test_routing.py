"""The choice of an upstream for a request, and the permission to change it."""

from __future__ import annotations

import json

import pytest
from support.providers.fakes import AnthropicFake, OpenAIFake, ScriptedTurn
from support.providers.sdk_turns import SAY

from toolcarry.config import Serve, Upstream
from toolcarry.errors import ConfigError
from toolcarry.integrations.identity import RequestView
from toolcarry.integrations.proxy import create_app
from toolcarry.integrations.proxy.routing import RoutingError, Switches, route

pytestmark = pytest.mark.sdk

A = Upstream(name="a", url="http://a", shape="anthropic", models=("claude-*", "*-large"))
B = Upstream(name="b", url="http://b", shape="anthropic", models=("claude-b", "b/*"))
C = Upstream(name="c", url="http://c", shape="openai", models=("gpt-*",))
D = Upstream(name="d", url="http://d", shape="ollama")
SETTINGS = Serve(upstreams=(A, B, C, D), default="b", tenant_header="X-Tenant")

MESSAGES, CHAT, LLAMA = "/v1/messages", "/v1/chat/completions", "/api/chat"


def routed(path=MESSAGES, model="", headers=(), switches=None, talk=""):
    body = json.dumps({"messages": [], "model": model}).encode()
    request = RequestView(path, dict(headers), body)
    return route(request, SETTINGS, switches or Switches(), talk).name


@pytest.mark.parametrize(
    ("path", "model", "name"),
    [
        (MESSAGES, "claude-b", "a"),
        (MESSAGES, "x-large", "a"),
        (MESSAGES, "b/x", "b"),
        (MESSAGES, "B/x", "b"),
        (MESSAGES, "other", "b"),
        (CHAT, "gpt-5", "c"),
        (CHAT, "claude-b", "a"),
        (CHAT, "other", "c"),
        (LLAMA, "other", "d"),
        ("/v1/models", "", "b"),
        ("/v1/responses/resp_1/cancel", "", "c"),
    ],
)
def test_by_model_then_by_shape(path, model, name):
    assert routed(path, model) == name


def test_the_header_comes_first():
    switches = Switches()
    switches.set("b")
    assert (
        routed(model="claude-x", headers=[("x-toolcarry-upstream", "c")], switches=switches) == "c"
    )
    with pytest.raises(RoutingError, match="no such upstream; allowed: a, b, c, d"):
        routed(headers=[("x-toolcarry-upstream", "e")])


def test_a_switch_comes_before_the_model_and_is_for_its_shape():
    switches = Switches()
    switches.set("b")
    assert routed(model="claude-x", switches=switches) == "b"
    assert routed(CHAT, "gpt-5", switches=switches) == "c"
    switches.set("a", conversation="talk")
    assert routed(model="b/x", switches=switches, talk="talk") == "a"
    assert routed(model="b/x", switches=switches, talk="other") == "b"
    switches.set("", conversation="talk")
    assert routed(model="claude-x", switches=switches, talk="talk") == "b"
    switches.reset()
    assert routed(model="claude-x", switches=switches) == "a"


def test_a_switch_is_one_tenants():
    switches = Switches()
    switches.set("a", conversation="talk", tenant="t")
    for tenant, name in [("t", "a"), ("u", "b"), ("", "b")]:
        headers = [("x-tenant", tenant)]
        assert routed(headers=headers, switches=switches, talk="talk") == name


def test_switches_are_bounded(caplog):
    switches = Switches(max_entries=3)
    for number in range(5):
        switches.set("a", conversation=f"t{number}")
        list(switches.of("", "t0"))
    kept = [entry["conversation"] for entry in switches.to_dict()["conversations"]]
    assert sorted(kept) == ["t0", "t3", "t4"]
    told = "3 conversations are switched, the maximum: one of them returns to its route"
    assert [record.getMessage() for record in caplog.records] == [told] * 2


@pytest.mark.parametrize(
    ("body", "model"),
    [
        (b'{"messages":[{"model":"no"}],"model":"m"}', "m"),
        (b'{"messages":["\\ud800"],"model":"m"}', "m"),
        (b'\xef\xbb\xbf{"model":"m"}', "m"),
        (b'{"model":"\xc3\xa9"}', "é"),
        (b'{"model":5}', ""),
        (b'{"model":"m"', ""),
        (b'["model"]', ""),
        (b'"model"', ""),
        (b"", ""),
        (b"\x1f\x8b\x00\xff", ""),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b',"model":"m"}', ""),
    ],
)
def test_the_model_of_a_body(body, model):
    """However it is written: an odd character elsewhere must not send a conversation to another upstream."""
    settings = Serve(
        upstreams=(A, Upstream(name="m", url="http://m", shape="openai", models=("m", "é")))
    )
    request = RequestView("/v1/models", {}, body)
    assert route(request, settings, Switches(), "").name == ("m" if model else "a")


def test_invalid_upstreams_are_refused(monkeypatch):
    with pytest.raises(ConfigError, match=r"serve\.upstreams: is empty"):
        create_app(Serve())
    monkeypatch.delenv("ABSENT", raising=False)
    with pytest.raises(
        ConfigError, match=r"serve\.token_env: the environment variable ABSENT is not set"
    ):
        create_app(Serve(upstreams=(A,), token_env="ABSENT"))
    with pytest.raises(
        ConfigError, match="'a': api_key_env: the environment variable ABSENT is not set"
    ):
        create_app(
            Serve(
                upstreams=(
                    Upstream(name="a", url="http://a", shape="openai", api_key_env="ABSENT"),
                )
            )
        )


# With clients, over sockets


@pytest.fixture
def two():
    return {"a": AnthropicFake([ScriptedTurn("A")]), "b": AnthropicFake([ScriptedTurn("B")])}


@pytest.fixture
def ask(clients):
    def ask(url, stream=False, **headers):
        named = {f"x-toolcarry-{name}": value for name, value in headers.items()}
        client = clients("anthropic", url, default_headers=named)
        return SAY["anthropic"](client, [{"role": "user", "content": "Hi"}], stream=stream)[0]

    return ask


@pytest.mark.parametrize("stream", [False, True])
def test_every_way_to_switch(start, two, ask, http, stream):
    url = start(two)
    assert ask(url, stream) == "A"
    assert ask(url, stream, upstream="b") == "B"
    assert http.post(f"{url.control}/switch", json={"upstream": "b"}).json()["upstream"] == "b"
    assert ask(url, stream) == "B"
    assert ask(url, stream, upstream="a") == "A"
    http.post(f"{url.control}/switch", json={"upstream": "a", "conversation": "talk"})
    assert ask(url, stream, conversation="talk") == "A"
    assert ask(url, stream, conversation="other") == "B"
    assert http.get(f"{url.control}/switch").json() == {
        "upstreams": ["a", "b"],
        "default": "a",
        "upstream": "b",
        "conversations": [{"tenant": "", "conversation": "talk", "upstream": "a"}],
    }
    http.post(f"{url.control}/switch", json={"upstream": None})
    assert ask(url, stream) == "A"
    http.post(f"{url.control}/switch", json={"upstream": "b"})
    assert http.delete(f"{url.control}/switch").json()["conversations"] == []
    assert ask(url, stream) == "A"


def test_by_model(start, clients):
    one, two = OpenAIFake([ScriptedTurn("1")]), OpenAIFake([ScriptedTurn("2")])
    url = start({"one": one, "two": two}, models={"two": ("gpt-*",)}, default="one")
    client = clients("openai", url)
    messages = [{"role": "user", "content": "Hi"}]
    assert SAY["chat"](client, messages, stream=False)[0] == "2"
    assert SAY["responses"](client, messages, stream=False, model="o9")[0] == "1"


def test_an_upstream_that_there_is_not(start, two, http):
    url = start(two)
    named = {"x-toolcarry-upstream": "c"}
    answer = http.post(f"{url}/v1/messages", json={}, headers=named)
    assert answer.status_code == 400
    told = "x-toolcarry-upstream: no such upstream; allowed: a, b"
    assert answer.json()["error"] == {"type": "invalid_request_error", "message": told}


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b'{"upstream":"c"}', b'{"upstream":"b","x":1}', b'{"upstream":1}', b"\xff"],
)
def test_a_switch_that_is_not_allowed(start, two, http, body):
    url = start(two)
    answer = http.post(f"{url.control}/switch", content=body)
    assert (answer.status_code, list(answer.json())) == (400, ["error"])
    assert http.get(f"{url.control}/switch").json()["upstream"] is None


def test_a_switch_without_end(start, two, http):
    url = start(two)
    body = b'{"upstream":"b"' + b" " * 100_000 + b"}"
    assert http.post(f"{url.control}/switch", content=body).status_code == 400


def test_who_may_switch(start, two, http, monkeypatch):
    monkeypatch.setenv("SWITCH_TOKEN", "s3cret-é")
    url = f"{start(two, token_env='SWITCH_TOKEN').control}/switch"

    def status(token=None, method="POST"):
        headers = [] if token is None else [(b"authorization", token.encode())]
        return http.request(method, url, headers=headers, content=b'{"upstream":"b"}').status_code

    refused = [None, "", "Bearer", "Bearer s3cret", "Basic s3cret-é", "s3cret-é"]
    assert [status(token) for token in refused] == [401] * len(refused)
    assert [status(method=method) for method in ("GET", "DELETE")] == [401, 401]
    assert [status(token) for token in ("Bearer s3cret-é", "bearer  s3cret-é")] == [200, 200]
