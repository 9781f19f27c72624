"""Time in tests: a clock that only a test moves, and waiting for what happens in another thread or process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

T = TypeVar("T")

INTERVAL = 0.005
"""Seconds between two looks at a condition."""
SECONDS = 30.0
"""Seconds until a condition counts as failed. Most take milliseconds, but the machine may be busy."""


class Clock:
    """A clock, in seconds, that moves only when it is advanced.

    >>> clock = Clock()
    >>> before = clock()
    >>> clock.advance(60)
    >>> clock() - before
    60.0
    """

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


def wait_until(
    condition: Callable[[], T],
    *,
    seconds: float = SECONDS,
    what: str = "a condition",
    again: Callable[[], object] | None = None,
) -> T:
    """Look at a condition until it holds, and return what it returned; fail after ``seconds``.

    ``again`` is called every half second until then, for an event that may have been missed.
    """
    __tracebackhide__ = True
    looks = looks_until(seconds, what)
    while not (found := condition()):
        look = next(looks)
        if again is not None and look % round(0.5 / INTERVAL) == 0:
            again()
        time.sleep(INTERVAL)  # noqa: TID251 - here every test waits
    return found


async def async_wait_until(
    condition: Callable[[], T], *, seconds: float = SECONDS, what: str = "a condition"
) -> T:
    """``wait_until`` in a running loop, which goes on meanwhile."""
    __tracebackhide__ = True
    looks = looks_until(seconds, what)
    while not (found := condition()):
        next(looks)
        await asyncio.sleep(INTERVAL)
    return found


def looks_until(seconds: float, what: str) -> Iterator[int]:
    """Count looks, from 1 on; raise ``AssertionError`` for one after the deadline."""
    deadline = time.monotonic() + seconds
    look = 0
    while time.monotonic() < deadline:
        look += 1
        yield look
    raise AssertionError(f"waited {seconds:g} seconds for {what}")
