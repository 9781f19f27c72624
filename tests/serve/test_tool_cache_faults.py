"""The proxy gives requests their tools while the Redis that it shares with others is stopped, killed and restarted."""

from __future__ import annotations

import itertools
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.clocks import wait_until
from support.processes.proxy import running
from support.providers.fakes import OllamaFake, ScriptedTurn
from support.sdk import sdk
from support.servers.redis import RedisServer

ollama = sdk("ollama")
pytestmark = pytest.mark.sdk

SETTINGS = """
[sessions]
single_user = true
[tool_cache]
redis_url = "{redis}"
[[serve.upstreams]]
name = "fake"
url = "{upstream}"
shape = "ollama"
"""
CLIENTS = 12
MOST = 0.05
"""The promise: a request waits for Redis at most this many seconds."""

numbers = itertools.count(1)


def tools_of(number: int) -> list[dict[str, Any]]:
    """Return the tools of one conversation; no other conversation has them."""
    properties = {"path": {"type": "string", "description": "Where it is."}}
    parameters = {"type": "object", "properties": properties, "required": ["path"]}
    function = {"description": "Reads.", "parameters": parameters}
    return [
        {"type": "function", "function": {"name": f"read_{number}_{each}", **function}}
        for each in range(5)
    ]


def messages_of(number: int, turns: int) -> list[dict[str, Any]]:
    """Return a conversation of *turns* tool calls."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Talk {number}."}]
    for turn in range(turns):
        name = f"read_{number}_{turn % 5}"
        call = {"function": {"name": name, "arguments": {"path": f"{turn}.txt"}}}
        messages += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_name": name, "content": f"text {turn}"},
        ]
    return messages


class Talk:
    """A conversation of one client, who sends the tools once."""

    def __init__(self, url: str, number: int | None = None) -> None:
        self.number = next(numbers) if number is None else number
        self.times: list[float] = []
        self._turns = 0
        headers = {"x-session-id": f"talk-{self.number}"}
        self._client = ollama.Client(host=url, headers=headers, timeout=30)

    def say(self, *, with_tools: bool = False) -> None:
        """Make a request; ``ollama`` raises for each that is not answered with 200."""
        tools = tools_of(self.number) if with_tools else None
        start = time.perf_counter()
        said = messages_of(self.number, self._turns)
        answer = self._client.chat(model="llama-fake", messages=said, tools=tools, stream=False)
        self.times.append(time.perf_counter() - start)
        assert answer.message.content == "Done."
        self._turns = self._turns % 5 + 1

    def close(self) -> None:
        self._client.close()


StartTalk = Callable[..., Talk]
StartProxy = Callable[[], str]


@contextmanager
def talking(talks: list[Talk]) -> Iterator[list[str]]:
    """All of them talk at the same time, for as long as the block runs; what failed."""
    is_over = threading.Event()
    failed: list[str] = []

    def talk_on(talk: Talk) -> None:
        try:
            while not is_over.is_set():
                talk.say()
        except Exception as error:  # noqa: BLE001 - all that may happen to a client
            failed.append(repr(error))

    threads = [threading.Thread(target=talk_on, args=(talk,)) for talk in talks]
    for thread in threads:
        thread.start()
    try:
        yield failed
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


@pytest.fixture
def fake() -> OllamaFake:
    return OllamaFake([ScriptedTurn("Done.")])


@pytest.fixture
def start_talk() -> Iterator[StartTalk]:
    """Begin a conversation through a proxy."""
    with ExitStack() as stack:

        def start(*args: Any) -> Talk:
            talk = Talk(*args)
            stack.callback(talk.close)
            return talk

        yield start


@pytest.fixture
def start_proxy(
    tmp_path: Path, serve: Callable[..., str], fake: OllamaFake, redis_server: RedisServer
) -> Iterator[StartProxy]:
    """Start a proxy in a separate process; return its URL. All proxies share the upstream and Redis."""
    path = tmp_path / "toolcarry.toml"
    path.write_text(SETTINGS.format(redis=redis_server.url, upstream=serve(fake)))
    log = tmp_path / "log"
    with ExitStack() as stack:
        file = stack.enter_context(log.open("wb"))

        def start() -> str:
            return stack.enter_context(running("--config", path, stderr=file))[1]

        yield start
    assert "Traceback" not in log.read_text()


def check(fake: OllamaFake) -> None:
    """Each request reached the upstream, with the tools of its conversation."""
    assert fake.refusals == []
    for recorded in fake.recorded:
        asked = recorded.json
        number = int(asked["messages"][0]["content"].removeprefix("Talk ").rstrip("."))
        assert asked["tools"] == tools_of(number)


def count_of(url: str, name: str) -> int:
    """A counter of the proxy's."""
    lines = httpx.get(f"{url.control}/metrics").text.splitlines()
    return sum(int(line.split()[-1]) for line in lines if f'"{name}"' in line)


def say_more(talks: list[Talk]) -> None:
    """Wait until each of them has made some more requests."""
    counts = [len(talk.times) + 3 for talk in talks]
    wait_until(
        lambda: all(len(talk.times) >= count for talk, count in zip(talks, counts, strict=True)),
        what="all clients to be answered",
    )


def reads_of(server: RedisServer) -> int:
    """Return how often Redis was asked for tools since it was started."""
    with server.client() as client:
        return client.info("commandstats").get("cmdstat_getex", {"calls": 0})["calls"]


def until_redis_is_asked(server: RedisServer) -> None:
    """Wait for a request that asks Redis, as after the time for which it is left alone."""
    before = reads_of(server)
    wait_until(lambda: reads_of(server) > before, what="Redis to be asked again")


def test_many_clients_while_redis_fails_in_turn(
    start_proxy: StartProxy, start_talk: StartTalk, fake: OllamaFake, redis_server: RedisServer
) -> None:
    url = start_proxy()
    talks = [start_talk(url) for _ in range(CLIENTS)]
    for talk in talks:
        talk.say(with_tools=True)
    with talking(talks) as failed:
        say_more(talks)
        before = [len(talk.times) for talk in talks]
        for _ in range(2):
            for fail, heal in (
                (redis_server.stop, redis_server.go_on),
                (redis_server.kill, redis_server.start),
            ):
                fail()
                newcomer = start_talk(url)  # whose tools only memory ever has, until Redis is back
                newcomer.say(with_tools=True)
                say_more(talks)
                newcomer.say()
                heal()
                say_more(talks)
                newcomer.say()
            until_redis_is_asked(redis_server)
    usual = [each for talk, end in zip(talks, before, strict=True) for each in talk.times[1:end]]
    times = [each for talk, end in zip(talks, before, strict=True) for each in talk.times[end:]]
    assert failed == []
    assert len(times) > 20 * CLIENTS
    assert statistics.median(times) < statistics.median(usual) + MOST
    assert max(times) < 2  # with all that many clients do to one another
    check(fake)
    assert count_of(url, "tools.degrade") > 0
    assert count_of(url, "tools.hit") >= len(times)


def has_tools(talk: Talk, fake: OllamaFake) -> bool:
    """True if the client's next request reaches the upstream with tools."""
    talk.say()
    return bool(fake.recorded[-1].json.get("tools"))


def test_two_proxies_share_tools_and_use_memory_without_redis(
    start_proxy: StartProxy, start_talk: StartTalk, fake: OllamaFake, redis_server: RedisServer
) -> None:
    one, two = start_proxy(), start_proxy()
    talks = [start_talk(one) for _ in range(CLIENTS)]
    others = [start_talk(two, talk.number) for talk in talks]
    for talk, other in zip(talks, others, strict=True):
        talk.say(with_tools=True)
        other.say()  # in a conversation without a call nothing comes back
        wait_until(partial(has_tools, other, fake))  # at once, where the machine isn't busy
    redis_server.kill()
    fake.recorded.clear()
    for talk in (*talks, *others):
        talk.say()
    check(fake)
    assert len(fake.recorded) == 2 * CLIENTS


def test_a_proxy_that_starts_before_redis(
    start_proxy: StartProxy, start_talk: StartTalk, fake: OllamaFake, redis_server: RedisServer
) -> None:
    redis_server.kill()
    one = start_proxy()
    talk = start_talk(one)
    talk.say(with_tools=True)
    talk.say()
    redis_server.start()
    other = start_talk(start_proxy(), talk.number)
    other.say(with_tools=True)  # nothing is known to this one
    before = -1

    def is_redis_asked_again() -> bool:
        nonlocal before
        talk.say()
        last, before = before, count_of(one, "tools.degrade")
        return before == last

    wait_until(is_redis_asked_again, what="Redis to be asked again")
    redis_server.kill()
    talk.say()
    other.say()
    check(fake)
