"""Worker threads for work that grows with a request, which an event loop must not do itself.

A loop that reads a large body serves nobody else meanwhile. The workers are few, since each that computes in Python makes
the loop wait for the interpreter up to 5 ms, and they are nobody else's, so that a name can be resolved while all are busy.
Owners of requests share them: they take turns, and none has more than ``MOST_OF_ONE`` at once, so that the others need
not wait for it. A thread can't be stopped: work whose caller waits no longer is dropped if it has not begun, and else
ends by itself where it calls ``check_wanted``.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, ParamSpec, TypeVar

__all__ = ["LARGE", "check_wanted", "in_worker", "in_worker_if", "owned_by"]

P = ParamSpec("P")
T = TypeVar("T")

LARGE: Final = 64 * 1024
"""From this many bytes on the work on a body is done by a worker. A thread costs a tenth of a millisecond."""
MOST_WORKERS: Final = 4
MOST_OF_ONE: Final = 2
"""The maximum number of workers for one owner; work without an owner may have all."""

_lock = threading.Lock()
_workers: dict[int, Workers] = {}
"""By the process: a fork has none of its parent's threads."""
_owner: contextvars.ContextVar[str] = contextvars.ContextVar("toolcarry_owner", default="")
_left: contextvars.ContextVar[threading.Event | None] = contextvars.ContextVar(
    "toolcarry_left", default=None
)


@contextmanager
def owned_by(owner: str) -> Iterator[None]:
    """Do the work of the block for this owner; for the owner of an outer block, if there is one."""
    token = _owner.set(_owner.get() or owner)
    try:
        yield
    finally:
        _owner.reset(token)


def check_wanted() -> None:
    """Raise ``TimeoutError`` in a worker whose caller waits no longer. Steps that may take long call it."""
    left = _left.get()
    if left is not None and left.is_set():
        raise TimeoutError("nobody waits for this work any longer")


async def in_worker(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a worker, in the context of the caller, and return what it returns.

    >>> asyncio.run(in_worker(len, b"abc"))
    3
    """
    left = threading.Event()
    context = contextvars.copy_context()
    context.run(_left.set, left)
    work = workers().submit(_owner.get(), lambda: context.run(call, *args, **kwargs))
    try:
        return await asyncio.wrap_future(work)
    finally:
        left.set()


async def in_worker_if(
    is_large: bool, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Call a function, in a worker if there is much to do."""
    return await in_worker(call, *args, **kwargs) if is_large else call(*args, **kwargs)


def workers() -> Workers:
    process = os.getpid()
    with _lock:
        if process not in _workers:
            _workers.clear()
            _workers[process] = Workers()
        return _workers[process]


class Workers:
    """Threads that take the work of each owner in its order, and that of several owners by turns."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MOST_WORKERS, "toolcarry-work")
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[tuple[Future[Any], Callable[[], Any]]]] = {}
        """The work that has not begun, by its owner, that whose turn is next first."""
        self._busy: Counter[str] = Counter()

    def submit(self, owner: str, call: Callable[[], T]) -> Future[T]:
        """Have a function called as soon as it is its turn."""
        future: Future[T] = Future()
        with self._lock:
            self._waiting.setdefault(owner, deque()).append((future, call))
            self._begin()
        return future

    def _begin(self) -> None:
        """Give work to the threads that have none; the caller holds the lock."""
        while self._busy.total() < MOST_WORKERS:
            ready = (each for each in self._waiting if not each or self._busy[each] < MOST_OF_ONE)
            owner = next(ready, None)
            if owner is None:
                return
            work = self._waiting.pop(owner)
            future, call = work.popleft()
            if work:
                self._waiting[owner] = work  # behind the others
            if future.set_running_or_notify_cancel():
                self._busy[owner] += 1
                self._threads.submit(self._run, owner, future, call)

    def _run(self, owner: str, future: Future[Any], call: Callable[[], Any]) -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again for the caller
            future.set_exception(error)
        finally:
            with self._lock:
                self._busy -= Counter([owner])
                self._begin()
