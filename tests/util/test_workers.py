"""Workers are shared fairly, and none works for a caller that has gone."""

import asyncio
import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcarry._util.workers import (
    MOST_OF_ONE,
    MOST_WORKERS,
    Workers,
    check_wanted,
    in_worker,
    owned_by,
)

DEADLINE = 20.0


async def work_of(owner: str, call: Callable[[], object]) -> object:
    with owned_by(owner):
        return await in_worker(call)


def test_an_owner_whose_work_does_not_end_holds_nobody_else_up() -> None:
    held = threading.Event()

    async def main() -> None:
        hog = [asyncio.create_task(work_of("hog", held.wait)) for _ in range(3 * MOST_WORKERS)]
        others = [work_of(f"other {number}", lambda: True) for number in range(20)]
        try:
            async with asyncio.timeout(DEADLINE):
                assert await asyncio.gather(*others) == [True] * 20
            assert not any(task.done() for task in hog)
        finally:
            held.set()
        assert await asyncio.gather(*hog) == [True] * len(hog)

    asyncio.run(main())


def test_work_that_nobody_waits_for_is_not_begun_or_ends() -> None:
    begun = threading.Semaphore(0)
    ended = threading.Semaphore(0)
    late: list[int] = []

    def work() -> None:
        begun.release()
        try:
            while True:
                check_wanted()
        finally:
            ended.release()

    async def main() -> None:
        tasks = [asyncio.create_task(work_of("hog", work)) for _ in range(MOST_OF_ONE)]
        while sum(begun.acquire(blocking=False) for _ in tasks) == 0:
            await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await work_of("hog", lambda: late.append(1))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        async with asyncio.timeout(DEADLINE):
            assert await work_of("hog", lambda: 7) == 7  # the workers are free again

    asyncio.run(main())
    assert ended.acquire(timeout=DEADLINE)
    assert late == []
    check_wanted()  # outside of a worker, everything is wanted


@given(st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=40))
def test_all_work_is_done_and_no_owner_has_more_than_its_share(owners: list[str]) -> None:
    workers = Workers()
    lock = threading.Lock()
    running: dict[str, int] = dict.fromkeys(owners, 0)
    most: dict[str, int] = dict.fromkeys(owners, 0)

    def work(owner: str, number: int) -> int:
        with lock:
            running[owner] += 1
            most[owner] = max(most[owner], running[owner])
        with lock:
            running[owner] -= 1
        return number

    waiting = [
        workers.submit(owner, lambda owner=owner, number=number: work(owner, number))  # type: ignore[misc]
        for number, owner in enumerate(owners)
    ]
    assert [each.result(DEADLINE) for each in waiting] == list(range(len(owners)))
    assert all(most[owner] <= (MOST_OF_ONE if owner else MOST_WORKERS) for owner in most)


def test_an_error_is_raised_for_the_caller() -> None:
    def fail() -> None:
        raise KeyError("t1")

    with pytest.raises(KeyError, match="t1"):
        asyncio.run(in_worker(fail))
