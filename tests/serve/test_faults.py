"""The proxy while what it leans on is stopped, slow or gone: not one request fails by it."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
from support.providers import failing_summarizer
from support.providers.fakes import AnthropicFake, ScriptedTurn
from support.servers.postgres import PostgresServer
from support.servers.redis import RedisServer

from toolcarry.config import parse_config

SETTINGS = """
[thinking.summarize]
summarizer = "support.providers.failing_summarizer:summarize"
timeout = 0.3
retries = 0
[projection]
enabled = true
[history]
target = "{target}"
[tool_cache]
redis_url = "{redis}"
"""
TOOLS = [{"name": "Bash", "input_schema": {"type": "object", "properties": {}}}]
numbers = itertools.count(1)


def talk(number: int, turns: int) -> list[dict[str, Any]]:
    """Return a conversation of *turns* tool calls."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Talk {number}."}]
    for turn in range(turns):
        name = f"t{number}_{turn}"
        use = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": f"make {turn}"}}
        result = {"type": "tool_result", "tool_use_id": name, "content": f"built {turn}"}
        messages += [
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": f"Built {turn}."},
            {"role": "user", "content": "Go on."},
        ]
    return messages


class Client:
    """Conversations that change their backend at every request, for as long as a fault lasts.

    Their tools are in the first request alone.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx.Client(timeout=30)
        self.statuses: list[int] = []
        self.slowest = 0.0

    def converse(self, requests: int = 6) -> None:
        number = next(numbers)
        for turn in range(requests):
            headers = {
                "x-api-key": "test-key",
                "anthropic-version": "2023-06-01",
                "x-session-id": f"talk-{number}",
                "x-toolcarry-upstream": "ab"[turn % 2],
            }
            body = {"model": "claude", "max_tokens": 9, "messages": talk(number, turn)}
            if turn == 0:
                body["tools"] = TOOLS
            start = time.monotonic()
            answer = self.http.post(f"{self.url}/v1/messages", json=body, headers=headers)
            self.slowest = max(self.slowest, time.monotonic() - start)
            self.statuses.append(answer.status_code)

    def many(self, count: int = 4) -> None:
        """Several conversations at a time."""
        threads = [threading.Thread(target=self.converse) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


@pytest.fixture
def upstreams() -> dict[str, AnthropicFake]:
    return {"a": AnthropicFake([ScriptedTurn("A")]), "b": AnthropicFake([ScriptedTurn("B")])}


@pytest.fixture
def proxy(
    start: Callable[..., str],
    upstreams: dict[str, AnthropicFake],
    postgres: PostgresServer,
    redis_server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Client]:
    """A client of a proxy whose sessions and tools are on servers, and whose summarizer is another's."""
    monkeypatch.setattr("toolcarry.tract.store.postgres.PATIENCE", 0.5)
    config = parse_config(SETTINGS.format(target=postgres.url(), redis=redis_server.url))
    client = Client(start(upstreams, config=config))
    failing_summarizer.may_end.clear()
    yield client
    failing_summarizer.way = "works"
    failing_summarizer.may_end.set()
    with suppress(ProcessLookupError):
        postgres.go_on()
    client.http.close()


def check(proxy: Client, upstreams: dict[str, AnthropicFake]) -> None:
    assert proxy.statuses == [200] * len(proxy.statuses)
    assert len(proxy.statuses) > 5
    assert [fake.refusals for fake in upstreams.values()] == [[], []]
    assert all(each.json["tools"] == TOOLS for fake in upstreams.values() for each in fake.recorded)


def contexts(upstreams: dict[str, AnthropicFake]) -> list[str]:
    """The carried contexts that reached the providers."""
    return [
        text
        for fake in upstreams.values()
        for recorded in fake.recorded
        if "[CONTEXT FROM PREVIOUS SESSION]" in (text := str(recorded.json["messages"][0]))
    ]


@pytest.mark.parametrize("way", failing_summarizer.WAYS)
def test_a_summarizer_in_every_mood(
    proxy: Client, upstreams: dict[str, AnthropicFake], way: str
) -> None:
    failing_summarizer.way = way
    proxy.many(3)
    check(proxy, upstreams)
    found = contexts(upstreams)
    assert len(found) == 3 * 5
    assert all("built 0" in text for text in found)
    assert all(("Summed up." in text) == (way == "works") for text in found)


def test_a_hanging_store(
    proxy: Client, upstreams: dict[str, AnthropicFake], postgres: PostgresServer
) -> None:
    proxy.many(2)
    postgres.halt()
    proxy.many(4)
    postgres.go_on()
    proxy.many(2)
    check(proxy, upstreams)
    assert len(contexts(upstreams)) == 8 * 5
    assert proxy.slowest < 15


def test_a_store_that_is_gone_and_comes_back(
    proxy: Client, upstreams: dict[str, AnthropicFake], postgres: PostgresServer
) -> None:
    proxy.many(2)
    postgres.stop()
    try:
        proxy.many(4)
    finally:
        postgres.start()
    proxy.many(2)
    check(proxy, upstreams)
    assert len(contexts(upstreams)) == 8 * 5


def test_a_hanging_redis_and_one_that_restarts(
    proxy: Client, upstreams: dict[str, AnthropicFake], redis_server: RedisServer
) -> None:
    proxy.many(2)
    redis_server.stop()
    proxy.many(2)
    redis_server.kill()
    proxy.many(2)
    redis_server.start()
    proxy.many(2)
    check(proxy, upstreams)
    assert len(contexts(upstreams)) == 8 * 5


def test_all_at_once(
    proxy: Client,
    upstreams: dict[str, AnthropicFake],
    postgres: PostgresServer,
    redis_server: RedisServer,
) -> None:
    failing_summarizer.way = "hangs"
    postgres.halt()
    redis_server.stop()
    proxy.many(3)
    check(proxy, upstreams)
    assert len(contexts(upstreams)) == 3 * 5
