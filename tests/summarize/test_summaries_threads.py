"""A summarizer that is late, and many that ask for the same."""

import asyncio
import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from support.clocks import wait_until
from support.interrupts import interrupted
from support.providers.summarizers import (
    SOON,
    TALK,
    Ask,
    AsyncRecorder,
    Recorder,
)

from toolcarry.summarize import (
    Summaries,
    Summary,
)
from toolcarry.summarize.guard import MAX_THREADS, Calls, TooManyCallsError


def test_a_thread_that_is_late_is_abandoned(ask: Ask) -> None:
    over = threading.Event()

    def hang(text: str, instructions: str) -> str:
        over.wait(SOON)
        return text

    summaries = Summaries(hang, timeout=0.01, retries=1, backoff=0)
    try:
        assert ask(summaries, TALK) == Summary(
            "", "failed", "TimeoutError: no answer within 0.01 s", 2
        )
        assert summaries.counts["calls_late"] == 2
    finally:
        over.set()


def test_an_interrupted_call_takes_no_thread() -> None:
    """One that is lost each time would be the end of two."""
    calls = Calls(max_threads=2)
    files = ("summarize/guard.py", "contextvars", "futures/_base.py")
    for step in itertools.count():
        work = partial(calls.run, lambda text, _: text, "text", "", SOON)
        if not interrupted(work, step, *files):
            break
        wait_until(lambda: can_run_two(calls))
    assert step > 10


def can_run_two(calls: Calls) -> bool:
    """Return true if two threads are free; a thread of an interrupted call may still be ending."""
    start = threading.Barrier(2)

    def meet(text: str, _: str) -> str:
        start.wait(SOON)
        return text

    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(calls.run, meet, "text", "", SOON) for _ in range(2)]
        try:
            return [each.result() for each in asked] == ["text", "text"]
        except (TooManyCallsError, threading.BrokenBarrierError):
            return False
        finally:
            start.abort()


def test_the_allowed_number_of_threads_is_abandoned(ask: Ask) -> None:
    over = threading.Event()
    started = threading.Semaphore(0)

    def hang(text: str, instructions: str) -> str:
        started.release()
        over.wait(SOON)
        return text

    summaries = Summaries(hang, timeout=0.001, retries=MAX_THREADS + 1, backoff=0)
    try:
        summary = ask(summaries, TALK)
        assert summary.error == "too many calls of the summarizer are under way"
        for _ in range(MAX_THREADS):
            assert started.acquire(timeout=SOON)
        assert not started.acquire(blocking=False)
    finally:
        over.set()
    wait_until(  # the threads end, and give their places back
        lambda: summaries.summarize("[USER]\nAgain.\n[/USER]").status == "made",
        what="a thread to give its place back",
    )


def test_a_coroutine_that_is_late_is_cancelled(ask: Ask) -> None:
    cancelled = threading.Event()

    async def hang(text: str, instructions: str) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return text

    summary = ask(Summaries(hang, timeout=0.01, retries=0), TALK)
    assert (summary.status, summary.attempts) == ("failed", 1)
    assert cancelled.wait(SOON)


def test_a_loop_goes_on_while_a_function_works() -> None:
    may_end = threading.Event()

    def wait(text: str, instructions: str) -> str:
        assert may_end.wait(SOON)
        return "Short."

    async def run() -> Summary:
        task = asyncio.create_task(Summaries(wait).asummarize(TALK))
        await asyncio.sleep(0)
        may_end.set()  # by the loop, which would never come here if it were blocked
        return await task

    assert asyncio.run(run()).status == "made"


def test_threads_that_ask_the_same_share_one_call() -> None:
    both_asked = threading.Event()

    def answer(text: str, instructions: str) -> str:
        calls.append(text)
        assert both_asked.wait(SOON)
        return "Short."

    calls: list[str] = []
    summaries = Summaries(answer)
    with ThreadPoolExecutor(8) as pool:
        found = [pool.submit(summaries.summarize, TALK) for _ in range(8)]
        both_asked.set()
        statuses = [each.result(SOON).status for each in found]
    assert sorted(statuses) == ["cached"] * 7 + ["made"]
    assert len(calls) == 1


def test_tasks_that_ask_the_same_share_one_call() -> None:
    summarizer = AsyncRecorder("Short.")
    summaries = Summaries(summarizer)

    async def run() -> list[Summary]:
        return list(await asyncio.gather(*[summaries.asummarize(TALK) for _ in range(8)]))

    assert sorted(each.status for each in asyncio.run(run())) == ["cached"] * 7 + ["made"]
    assert len(summarizer.asked) == 1


def test_where_the_first_task_is_cancelled_another_one_asks() -> None:
    class Waiting(Recorder):
        async def __call__(self, text: str, instructions: str) -> Any:
            self.asked.append((text, instructions))
            if len(self.asked) == 1:
                await asyncio.Event().wait()
            return "Short."

    summarizer = Waiting()
    summaries = Summaries(summarizer)

    async def run() -> Summary:
        first = asyncio.create_task(summaries.asummarize(TALK))
        second = asyncio.create_task(summaries.asummarize(TALK))
        while not summarizer.asked:
            await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await second

    assert asyncio.run(run()).status == "made"
    assert len(summarizer.asked) == 2


def test_a_task_that_waits_may_go_away() -> None:
    may_end = threading.Event()

    def wait(text: str, instructions: str) -> str:
        assert may_end.wait(SOON)
        return "Short."

    async def run() -> Summary:
        first = asyncio.create_task(summaries.asummarize(TALK))
        await asyncio.sleep(0)
        second = asyncio.create_task(summaries.asummarize(TALK))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        may_end.set()
        return await first

    summaries = Summaries(wait)
    assert asyncio.run(run()).status == "made"


def test_a_loop_that_waits_for_a_task_can_start_another() -> None:
    """A thread that waited here for a task of its own event loop would wait forever."""

    async def answer(text: str, instructions: str) -> str:
        await asyncio.sleep(0)
        return "Short."

    summaries = Summaries(answer)

    async def run() -> tuple[str, str]:
        task = asyncio.create_task(summaries.asummarize(TALK))
        await asyncio.sleep(0)
        return summaries.summarize(TALK).text, (await task).text

    assert asyncio.run(run()) == ("Short.", "Short.")
