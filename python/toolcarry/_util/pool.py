"""Jobs for many files or rows at once, with their outcomes in their order.

The extension releases the interpreter while it works on bytes, so that threads are enough for its jobs; what Python does
itself needs processes. An interrupt is answered at once: the threads and processes are left or ended, never waited for.
"""

from __future__ import annotations

import queue
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from typing import Final, NoReturn, TypeVar

__all__ = ["in_processes", "in_threads", "is_busy"]

S = TypeVar("S")
T = TypeVar("T")

AHEAD: Final = 2
"""The number of outcomes for each worker that may wait until an earlier one is taken."""
NAME: Final = "toolcarry-job"
"""The name of the threads."""


def in_threads(items: Sequence[S], job: Callable[[S], T], workers: int) -> Generator[T, None, None]:
    """Yield the outcome of a job for each item, in their order. The error of a job is raised in its place.

    >>> list(in_threads(["a", "bc"], len, 2))
    [1, 2]
    """
    waiting: queue.Queue[tuple[int, S] | None] = queue.Queue()
    outcomes: dict[int, Callable[[], T]] = {}
    changed = threading.Condition()

    def work() -> None:
        while (item := waiting.get()) is not None:
            outcome = done(job, item[1])
            with changed:
                outcomes[item[0]] = outcome
                changed.notify_all()

    for _ in range(min(workers, len(items))):
        threading.Thread(target=work, name=NAME, daemon=True).start()
    try:
        given = 0
        for number in range(len(items)):
            while given < len(items) and given < number + workers * AHEAD:
                waiting.put((given, items[given]))
                given += 1
            with changed:
                changed.wait_for(lambda wanted=number: wanted in outcomes)  # type: ignore[misc]
                outcome = outcomes.pop(number)
            yield outcome()
    finally:
        with suppress(queue.Empty):
            while True:
                waiting.get_nowait()
        for _ in range(workers):
            waiting.put(None)


def is_busy() -> bool:
    """Return true if a thread that was left still works."""
    return any(thread.name == NAME for thread in threading.enumerate())


def done(job: Callable[[S], T], item: S) -> Callable[[], T]:
    """Do a job, and return a function that returns its value or raises its error."""
    try:
        value = job(item)
    except BaseException as error:  # noqa: BLE001 - raised again where the outcome is taken
        return lambda error=error: throw(error)  # type: ignore[misc]
    return lambda: value


def throw(error: BaseException) -> NoReturn:
    raise error


def in_processes(
    names: Sequence[str], job: Callable[[str], T], workers: int
) -> Generator[T, None, None]:
    """Yield the outcome of a job, which must be picklable, for each name, in their order."""
    with get_context("spawn").Pool(min(workers, len(names)) or 1, ignore_interrupts) as pool:
        yield from pool.imap(job, names)


def ignore_interrupts() -> None:
    """Leave an interrupt to the parent, which ends its children."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
