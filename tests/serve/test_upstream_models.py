"""The model that an upstream is asked for, after a switch that the client does not know of."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.builders.ollama_talks import HELLO, TALK, TOOLS, names_in
from support.providers.fakes import AnthropicFake, OllamaFake, OpenAIFake, ScriptedTurn
from support.servers.addresses import Address

from toolcarry.config import Config, Serve, Upstream
from toolcarry.integrations.proxy import Proxy

pytestmark = pytest.mark.sdk

HEADERS = {"x-api-key": "test-key", "anthropic-version": "2023-06-01"}


@pytest.fixture
def proxy(serve: Any) -> Any:
    """Start a proxy in front of two fakes, of which the second has these settings."""

    def start(fakes: tuple[Any, Any], shape: Any, **options: Any) -> Address:
        one, two = (
            Upstream(name=name, url=serve(fake), shape=shape, **more)
            for name, fake, more in zip("ab", fakes, ({"models": ("glm-*",)}, options), strict=True)
        )
        app = Proxy(Config(serve=Serve(upstreams=(one, two)))).app
        return Address(serve(app, lifespan="on"), serve(app.state.control))

    return start


@pytest.mark.parametrize(
    ("options", "asked", "got"),
    [
        ({"models": ("claude-*",), "model": "claude-b"}, "glm-4.6", "claude-b"),
        ({"models": ("claude-*",), "model": "claude-b"}, "claude-opus", "claude-opus"),
        ({"model": "claude-b"}, "claude-opus", "claude-b"),
        ({"models": ("claude-*",)}, "glm-4.6", "glm-4.6"),
        ({}, "glm-4.6", "glm-4.6"),
    ],
)
@pytest.mark.parametrize("size", [10, 100_000])
def test_the_upstream_of_a_switch_is_asked_for_its_model(
    proxy: Any, http: Any, caplog: Any, size: int, options: Any, asked: str, got: str
) -> None:
    fakes = AnthropicFake([ScriptedTurn("A")]), AnthropicFake([ScriptedTurn("B")])
    url = proxy(fakes, "anthropic", **options)
    body = {"max_tokens": 9, "model": asked, "messages": [{"role": "user", "content": "x" * size}]}
    http.post(f"{url.control}/switch", json={"upstream": "b"}).raise_for_status()
    for _ in range(2):
        http.post(f"{url}/v1/messages", json=body, headers=HEADERS).raise_for_status()
    assert [each.json["model"] for each in fakes[1].recorded] == [got, got]
    assert {**fakes[1].recorded[0].json, "model": asked} == body
    is_told = bool(options) and got == "glm-4.6"
    assert caplog.text.count("gets a request for the model 'glm-4.6'") == is_told
    http.delete(f"{url.control}/switch")
    http.post(f"{url}/v1/messages", json={**body, "model": "glm-4.6"}, headers=HEADERS)
    assert fakes[0].recorded[-1].json["model"] == "glm-4.6"


def test_the_tools_of_a_client_follow_it_to_the_other_model(proxy: Any, http: Any) -> None:
    fakes = [OllamaFake(lambda asked: TALK[bool(asked.exchanges)]) for _ in range(2)]
    url = proxy(tuple(fakes), "ollama", model="qwen3")
    body = {"model": "glm-4.6", "messages": HELLO, "stream": False}
    first = http.post(f"{url}/api/chat", json={**body, "tools": TOOLS}).json()["message"]
    http.post(f"{url.control}/switch", json={"upstream": "b"})
    call = {"role": "assistant", "content": "", "tool_calls": first["tool_calls"]}
    result = {"role": "tool", "tool_name": "read", "content": "x = 1"}
    talk = [*HELLO, call, result]
    http.post(f"{url}/api/chat", json={**body, "messages": talk}).raise_for_status()
    assert fakes[1].recorded[-1].json["model"] == "qwen3"
    assert names_in(fakes[1]) == [tool["function"]["name"] for tool in TOOLS]


def test_a_body_that_cannot_be_read_passes_unchanged(proxy: Any, http: Any, serve: Any) -> None:
    fakes = AnthropicFake([ScriptedTurn("A")]), AnthropicFake([ScriptedTurn("B")])
    url = proxy(fakes, "anthropic", model="claude-b")
    http.post(f"{url.control}/switch", json={"upstream": "b"})
    for body in (b"{", b"[]", json.dumps({"model": 7, "messages": []}).encode()):
        headers = {**HEADERS, "content-type": "application/json"}
        http.post(f"{url}/v1/messages", content=body, headers=headers)
        assert fakes[1].recorded[-1].body == body


@pytest.mark.parametrize(
    ("fake", "shape", "path", "got"),
    [
        (OpenAIFake, "openai", "/v1/embeddings", "glm-4.6"),
        (OllamaFake, "ollama", "/api/pull", "glm-4.6"),
        (OllamaFake, "ollama", "/api/create", "glm-4.6"),
        (OllamaFake, "ollama", "/api/show", "glm-4.6"),
        (AnthropicFake, "anthropic", "/v1/messages/count_tokens", "own"),
        (OpenAIFake, "openai", "/v1/responses/input_tokens", "own"),
    ],
)
def test_only_conversations_go_to_the_model(
    proxy: Any, http: Any, fake: Any, shape: Any, path: str, got: str
) -> None:
    fakes = fake([ScriptedTurn("A")]), fake([ScriptedTurn("B")])
    url = proxy(fakes, shape, model="own")
    http.post(f"{url.control}/switch", json={"upstream": "b"}).raise_for_status()
    body = {"model": "glm-4.6", "messages": [{"role": "user", "content": "Go."}]}
    http.post(f"{url}{path}", json=body, headers=HEADERS)
    assert [each.json for each in fakes[1].recorded] == [{**body, "model": got}]
