"""A store that stops answering: a request waits for it once, within its limit, and holds no other request up."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.builders.recorded_talks import call, result, user
from support.clocks import Clock

from toolcarry.integrations.identity import ModelRequest, RequestIdentity
from toolcarry.integrations.pipeline import Processed, RequestPipeline
from toolcarry.integrations.recorder import Recorder

LIMIT = 0.5
CLEARED = "[Old tool result content cleared]"
SMALL = [user("Go."), call("t1"), result("t1", CLEARED)]
LARGE = [user("x" * 90_000), call("t1"), result("t1", CLEARED)]


class Stalled:
    """A pipeline whose recorder reads a store that answers only once ``answers`` is set."""

    def __init__(self, target: Path) -> None:
        self.clock = Clock()
        self.answers = threading.Event()
        self.reads = 0
        self.recorder = Recorder(target, busy_timeout=LIMIT, pause=10.0, clock=self.clock)
        self.pipeline = RequestPipeline(recorder=self.recorder)
        load = self.recorder._load

        def stalled(key: Any) -> Any:
            self.reads += 1
            self.answers.wait(30)
            return load(key)

        self.recorder._load = stalled  # type: ignore[method-assign]

    async def ask(self, messages: list[Any], conversation: str, tenant: str = "me") -> Processed:
        body = orjson.dumps({"model": "m", "messages": messages})
        identity = RequestIdentity(tenant, conversation, "b")
        return await self.pipeline.process(ModelRequest(body, identity))


@pytest.fixture
def stalled(tmp_path: Path) -> Iterator[Stalled]:
    made = Stalled(tmp_path / "history.db")
    yield made
    made.answers.set()
    made.recorder.close()


@pytest.mark.parametrize("messages", [SMALL, LARGE], ids=["small", "large"])
def test_many_requests_at_once_wait_no_longer_than_one(stalled: Stalled, messages: Any) -> None:
    async def ask() -> tuple[float, float]:
        begun = time.monotonic()
        done = await asyncio.gather(*(stalled.ask(messages, f"c{number}") for number in range(40)))
        first = time.monotonic() - begun
        assert all(orjson.loads(each.body)["messages"] == messages for each in done)
        begun = time.monotonic()
        await stalled.ask(messages, "later")
        return first, time.monotonic() - begun

    first, later = asyncio.run(ask())
    assert first < LIMIT * 6
    assert later < LIMIT
    assert stalled.reads <= 2
    assert stalled.pipeline.counts["failed_open.history"] == 40


def test_work_without_a_history_goes_on_meanwhile(stalled: Stalled) -> None:
    async def ask() -> float:
        waiting = [asyncio.ensure_future(stalled.ask(LARGE, f"c{number}")) for number in range(40)]
        await asyncio.sleep(0)
        begun = time.monotonic()
        body = orjson.dumps({"model": "m", "messages": [user("x" * 90_000)]})
        await RequestPipeline().process(ModelRequest(body))
        taken = time.monotonic() - begun
        await asyncio.gather(*waiting)
        return taken

    assert asyncio.run(ask()) < LIMIT * 6


def test_the_store_is_read_again_after_a_pause(stalled: Stalled) -> None:
    asyncio.run(stalled.ask(SMALL, "c1"))
    assert stalled.pipeline.counts["failed_open.history"] == 1
    stalled.answers.set()
    asyncio.run(stalled.ask(SMALL, "c2"))
    reads = stalled.reads
    stalled.clock.advance(11)
    asyncio.run(stalled.ask(SMALL, "c2"))
    assert stalled.reads == reads + 1
    assert stalled.pipeline.counts["failed_open.history"] == 1
