"""A thousand threads and a thousand tasks on one cache: nobody gets another's tools, and no count is lost."""

from __future__ import annotations

import asyncio
import json
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from toolcarry.tool_cache import STYLES, MemoryToolCache, SQLiteToolCache, ToolCache

THREADS = 1_000
OWNERS = [(scope, model) for scope in ("a", "ab", "b") for model in ("m", "bm", "n", "o")]
TURNS = 4


@pytest.fixture(autouse=True)
def switching() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def tools_of(owner: tuple[str, str], version: int) -> list[Any]:
    """Return tools that name their owner and the version of their list."""
    return [
        {
            "type": "function",
            "function": {"name": f"f{number}", "description": json.dumps([*owner, version])},
        }
        for number in range(version % 3 + 1)
    ]


def functions_in(tools: list[Any]) -> list[Any]:
    if tools and "functionDeclarations" in tools[0]:
        return list(tools[0]["functionDeclarations"])
    return [tool.get("function", tool.get("toolSpec", tool)) for tool in tools]


def check(owner: tuple[str, str], found: Any) -> None:
    """Check that the tools are one whole list of the owner."""
    functions = functions_in(found.tools)
    assert json.loads(found.to_bytes()) == found.tools
    says = {function["description"] for function in functions}
    if found.source == "none":
        assert not functions
        return
    (said,) = says
    scope, model, version = json.loads(said)
    assert (scope, model) == owner
    assert [function["name"] for function in functions] == [
        f"f{number}" for number in range(version % 3 + 1)
    ]


def requests_of(seed: int) -> Iterator[tuple[tuple[str, str], list[Any] | None, Any]]:
    """Yield the requests of one client: with tools, then without, in any style."""
    chance = random.Random(seed)
    for _ in range(TURNS):
        owner = chance.choice(OWNERS)
        if chance.random() < 0.3:
            yield owner, tools_of(owner, chance.randrange(5)), "openai"
        else:
            yield owner, None, chance.choice(STYLES)


def sent(number: int) -> Counter[str]:
    """Count the requests of *number* clients that bring tools and those that ask for them."""
    kinds = (tools for seed in range(number) for _, tools, _ in requests_of(seed))
    return Counter("ask" if tools is None else "bring" for tools in kinds)


def run(number: int, work: Callable[[int], None]) -> list[BaseException]:
    """Run work in *number* threads that start at once; return the exceptions that it raised."""
    errors: list[BaseException] = []
    barrier = threading.Barrier(number)

    def guarded(seed: int) -> None:
        try:
            barrier.wait(60)
            work(seed)
        except BaseException as error:  # noqa: BLE001 - told in the main thread
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(seed,)) for seed in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return errors


def check_counts(cache: ToolCache, number: int, results: Counter[str]) -> None:
    """All that was sent is counted, and counted as what came of it."""
    expected, counts = sent(number), cache.counts
    assert results["request"] == expected["bring"]
    assert counts["hit"] + counts["miss"] == expected["ask"]
    assert (counts["hit"], counts["miss"]) == (results["cache"], results["none"])
    assert len(OWNERS) <= counts["store"] <= expected["bring"]
    assert counts["hit"] > 100
    assert counts["evict"] == counts["dropped"] == 0


@pytest.mark.slow
def test_a_thousand_threads() -> None:
    cache = ToolCache()
    results: Counter[str] = Counter()
    lock = threading.Lock()

    def work(seed: int) -> None:
        for owner, tools, style in requests_of(seed):
            scope, model = owner
            found = cache.resolve(model, tools, scope=scope, style=style)
            check(owner, found)
            found.tools.clear()
            with lock:
                results[found.source] += 1

    assert run(THREADS, work) == []
    check_counts(cache, THREADS, results)
    for scope, model in OWNERS:
        check((scope, model), cache.resolve(model, None, scope=scope))


def test_a_thousand_tasks() -> None:
    cache = ToolCache()
    results: Counter[str] = Counter()

    async def work(seed: int) -> None:
        for owner, tools, style in requests_of(seed):
            scope, model = owner
            found = await cache.aresolve(model, tools, scope=scope, style=style)
            check(owner, found)
            found.tools.clear()
            results[found.source] += 1
            await asyncio.sleep(0)

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for seed in range(THREADS):
                group.create_task(work(seed))

    asyncio.run(main())
    check_counts(cache, THREADS, results)


def test_event_loops_next_to_threads() -> None:
    """Twenty loops with twenty tasks each, and the same number of threads without one."""
    cache = ToolCache()
    results: Counter[str] = Counter()
    lock = threading.Lock()

    def note(owner: tuple[str, str], found: Any) -> None:
        check(owner, found)
        with lock:
            results[found.source] += 1

    async def loop(first: int) -> None:
        async def task(seed: int) -> None:
            for owner, tools, style in requests_of(seed):
                note(owner, await cache.aresolve(owner[1], tools, scope=owner[0], style=style))
                await asyncio.sleep(0)

        await asyncio.gather(*(task(seed) for seed in range(first, first + 20)))

    def work(number: int) -> None:
        if number < 20:
            asyncio.run(loop(number * 20))
            return
        for seed in range(380 + number, 381 + number):
            for owner, tools, style in requests_of(seed):
                note(owner, cache.resolve(owner[1], tools, scope=owner[0], style=style))

    assert run(40, work) == []
    check_counts(cache, 420, results)


def test_too_many_for_the_room_there_is() -> None:
    """Where others have to go, what is found is still one's own, and what is counted as kept is there or has gone."""
    store = MemoryToolCache(max_entries=4)
    cache = ToolCache(store)

    def work(seed: int) -> None:
        for owner, tools, style in requests_of(seed):
            scope, model = owner
            check(owner, cache.resolve(model, tools, scope=scope, style=style))

    assert run(200, work) == []
    counts, expected = cache.counts, sent(200)
    assert counts["hit"] + counts["miss"] == expected["ask"]
    assert len(store) == 4
    assert 0 < counts["evict"] <= counts["store"] - 4


def test_entries_that_die_all_the_time() -> None:
    cache = ToolCache(MemoryToolCache(ttl=0.002))

    def work(seed: int) -> None:
        for owner, tools, style in [*requests_of(seed)] * 5:
            scope, model = owner
            check(owner, cache.resolve(model, tools, scope=scope, style=style))

    assert run(200, work) == []
    counts, expected = cache.counts, sent(200)
    assert counts["hit"] + counts["miss"] == 5 * expected["ask"]


def test_counts_may_be_read_meanwhile() -> None:
    cache = ToolCache()
    is_done = threading.Event()
    read: list[int] = []

    def look() -> None:
        while not is_done.is_set():
            read.append(sum(cache.counts.values()))

    looking = threading.Thread(target=look)
    looking.start()

    def work(seed: int) -> None:
        for owner, tools, style in requests_of(seed):
            cache.resolve(owner[1], tools, scope=owner[0], style=style)

    try:
        assert run(100, work) == []
    finally:
        is_done.set()
        looking.join(10)
    assert read == sorted(read)


def test_threads_on_one_file(tmp_path: Path) -> None:
    cache = ToolCache(SQLiteToolCache(tmp_path / "tools.db"))

    def work(seed: int) -> None:
        for owner, tools, style in requests_of(seed):
            scope, model = owner
            check(owner, cache.resolve(model, tools, scope=scope, style=style))

    assert run(100, work) == []
    counts, expected = cache.counts, sent(100)
    assert counts["hit"] + counts["miss"] == expected["ask"]
    cache.close()


def test_tasks_on_one_file(tmp_path: Path) -> None:
    """More of them than may wait for the file: some have to do with what is in memory, which is their own, too."""
    cache = ToolCache(SQLiteToolCache(tmp_path / "tools.db"))

    async def work(seed: int) -> None:
        for owner, tools, style in requests_of(seed):
            found = await cache.aresolve(owner[1], tools, scope=owner[0], style=style)
            check(owner, found)

    async def main() -> None:
        await asyncio.gather(*(work(seed) for seed in range(200)))

    asyncio.run(main())
    cache.close()
