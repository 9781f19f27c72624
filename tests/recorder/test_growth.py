"""Everything on the way of a request takes time in proportion to it, whatever it is made of.

The long run (``TOOLCARRY_LONG=1``) takes larger sizes, and structures that are made at random, other ones each time.
"""

import asyncio
import gc
import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.examples import IS_LONG

from toolcarry import ProjectPolicy, SummarizeTransformer, ToolCache
from toolcarry.integrations.identity import ModelRequest, RequestIdentity
from toolcarry.integrations.pipeline import RequestPipeline
from toolcarry.integrations.recorder import Recorder
from toolcarry.tract import Tract

JsonObject = dict[str, Any]
SIZES = (1_000, 16_000) if IS_LONG else (500, 4_000)
MOST = 1.5
"""The largest exponent: 1 is linear, 2 is quadratic."""
ROUNDS = 5
CLEARED = "[Old tool result content cleared]"
ME = RequestIdentity("me", "c1", "m")


@pytest.fixture(autouse=True)
def only_own_objects() -> Iterator[None]:
    """Keep the collector from what earlier tests left, which would make long jobs look slower."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def one_message(count: int, name: Callable[[int], str], text: Callable[[int], str]) -> Any:
    """A message with all calls, and one with all results."""
    uses = [
        {"type": "tool_use", "id": name(number), "name": "Bash", "input": {"c": number % 7}}
        for number in range(count)
    ]
    results = [
        {"type": "tool_result", "tool_use_id": name(number), "content": text(number)}
        for number in range(count)
    ]
    return [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]


def turns(count: int, name: Callable[[int], str], text: Callable[[int], str]) -> Any:
    """A message for each call and each result, with ids or without."""
    messages: list[JsonObject] = []
    for number in range(count):
        function = {"name": "Bash", "arguments": {"c": number % 7}}
        call_id = name(number)
        use = {"id": call_id, "function": function} if call_id else {"function": function}
        named = {"tool_call_id": call_id} if call_id else {"tool_name": "Bash"}
        messages += [
            {"role": "assistant", "content": "", "tool_calls": [use]},
            {"role": "tool", **named, "content": text(number)},
        ]
    return messages


def at_random(seed: int) -> Callable[[int, Callable[[int], str]], Any]:
    """A structure in which messages of some results follow one another, with ids that are given again now and then."""
    draw = random.Random(seed)
    width = draw.choice((1, 2, 7, 100, 10_000))
    names = draw.choice((1, 3, 1_000, 100_000))
    tools = draw.choice((("Bash",), ("Bash", "Read", "Edit"), ("mcp__a__look", "mcp__b__look")))
    paths = draw.choice((1, 5, 1_000))

    def make(count: int, text: Callable[[int], str]) -> Any:
        messages: list[JsonObject] = []
        for start in range(0, count, width):
            numbers = range(start, min(start + width, count))
            uses, results = [], []
            for number in numbers:
                call_id = f"t{number % names}"
                given = {"command": f"look {number % paths}", "file_path": f"/f{number % paths}"}
                tool = tools[number % len(tools)]
                uses.append({"type": "tool_use", "id": call_id, "name": tool, "input": given})
                results.append({"type": "tool_result", "tool_use_id": call_id, "content": text(number)})  # fmt: skip
            messages += [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]  # fmt: skip
        return messages

    return make


SEEDS = [random.SystemRandom().randrange(1 << 32) for _ in range(12)] if IS_LONG else [1]
STRUCTURES: dict[str, Callable[[int, Callable[[int], str]], Any]] = {
    "one message": lambda count, text: one_message(count, lambda number: f"t{number}", text),
    "one message, one id": lambda count, text: one_message(count, lambda _: "t", text),
    "one message, long ids": lambda count, text: one_message(
        count, lambda number: f"{number}".rjust(600, "t"), text
    ),
    "turns": lambda count, text: turns(count, lambda number: f"t{number}", text),
    "turns, one id": lambda count, text: turns(count, lambda _: "t", text),
    "turns, no ids": lambda count, text: turns(count, lambda _: "", text),
    **{f"at random, {number}": at_random(seed) for number, seed in enumerate(SEEDS)},
}
TEXTS: dict[str, Callable[[int], str]] = {
    "whole": lambda number: f"result {number}",
    "cut": lambda number: f"{number} lines... [truncated]",
    "empty": lambda _: "",
}


def time_of(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def jobs(folder: Path, messages: list[JsonObject], cleared: list[JsonObject]) -> dict[str, float]:
    """Return the time of each job on a conversation."""
    go = {"role": "user", "content": "Go."}
    body, other = (
        orjson.dumps({"model": "gpt-5", "messages": [go, *each]}) for each in (messages, cleared)
    )
    recorder = Recorder(folder / "history.db", on_truncated_write="count")

    def record(sent: bytes) -> None:
        exchange = recorder.begin(ME, ModelRequest(sent, ME))
        assert exchange is not None
        exchange.start(200)
        exchange.write()
        recorder.flush()

    def load() -> None:
        other_process = Recorder(folder / "history.db")
        other_process.hydrated(ME, other)
        other_process.close()

    times = {
        "record": time_of(lambda: record(body)),
        "hydrate": time_of(lambda: recorder.hydrated(ME, other)),
        "hydrate what is missing": time_of(lambda: recorder.hydrated(ME, without_results(other))),
        "load": time_of(load),
        "record again": time_of(lambda: record(other)),
    }
    times["process"] = time_of(lambda: asyncio.run(process(recorder, body, other)))
    recorder.close()
    with Tract.open(folder / "history.db", tenant="me", conversation="c1") as tract:
        times["search"] = time_of(lambda: tract.search_tool_results("nowhere"))
        times["find"] = time_of(lambda: tract.search_tool_results("result"))
        times["turns"] = time_of(tract.find_tool_turns)
        times["compile"] = time_of(tract.compile)
        times["legacy"] = time_of(tract.legacy_results)
    return times


async def process(recorder: Recorder, *bodies: bytes) -> None:
    """Send requests through every step of a pipeline, each to another model than the one before.

    The largest ones have more values than a pipeline reads; it counts them and lets them through.
    """
    pipeline = RequestPipeline(
        transformer=SummarizeTransformer(),
        projection=ProjectPolicy(max_result_chars=100, max_request_tokens=50_000, repair=True),
        tool_cache=ToolCache(),
        recorder=recorder,
        timeout=1_000,
    )
    for number, body in enumerate(bodies):
        identity = replace(ME, backend=f"m{number}")
        done = await pipeline.process(ModelRequest(body, identity))
        await pipeline.answered(done)
    assert pipeline.counts["switched"] + pipeline.counts["skipped.too_many_values"] // 2 == 1
    assert not [name for name in pipeline.counts if name.startswith("failed_open")]


def without_results(body: bytes) -> bytes:
    """Return a request in which every second result is missing."""
    request = orjson.loads(body)
    for message in request["messages"]:
        if message["role"] == "user" and isinstance(message["content"], list):
            message["content"] = message["content"][::2]
    request["messages"] = [
        message
        for number, message in enumerate(request["messages"])
        if message["role"] != "tool" or number % 4
    ]
    return orjson.dumps(request)


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_time_is_linear(tmp_path: Path, structure: str, text: str) -> None:
    best: dict[int, dict[str, float]] = {count: {} for count in SIZES}
    for number in range(ROUNDS):  # the shortest time is the least disturbed by others
        for count in SIZES:
            folder = tmp_path / f"{count}.{number}"
            folder.mkdir()
            whole = STRUCTURES[structure](count, TEXTS[text])
            times = jobs(folder, whole, STRUCTURES[structure](count, lambda _: CLEARED))
            best[count] = {
                name: min(best[count].get(name, spent), spent) for name, spent in times.items()
            }
        small, large = best.values()
        growth = math.log(SIZES[1] / SIZES[0])
        exponents = {
            name: math.log(large[name] / max(small[name], 0.002)) / growth
            for name in large
            if large[name] > 0.2
        }
        steep = {name: exponent for name, exponent in exponents.items() if exponent > MOST}
        if not steep:
            return
    pytest.fail(f"not linear in {ROUNDS} rounds: {steep}; seeds: {SEEDS}")
