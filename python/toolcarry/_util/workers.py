"""Worker threads for work that grows with a request, which an event loop must not do itself.

A loop that reads a large body serves nobody else meanwhile. The workers are few, since each that computes in Python makes
the loop wait for the interpreter up to 5 ms, and they are nobody else's, so that a name can be resolved while all are busy.
A thread can't be stopped: who waits longer than their time limit leaves it, and it ends by itself.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

__all__ = ["LARGE", "in_worker", "in_worker_if"]

P = ParamSpec("P")
T = TypeVar("T")

LARGE: Final = 64 * 1024
"""From this many bytes on the work on a body is done by a worker. A thread costs a tenth of a millisecond."""
MOST_WORKERS: Final = 4

_lock = threading.Lock()
_workers: dict[int, ThreadPoolExecutor] = {}
"""By the process: a fork has none of its parent's threads."""


async def in_worker(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a worker, in the context of the caller, and return what it returns.

    >>> asyncio.run(in_worker(len, b"abc"))
    3
    """
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(
        workers(), lambda: context.run(call, *args, **kwargs)
    )


async def in_worker_if(
    is_large: bool, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Call a function, in a worker if there is much to do."""
    return await in_worker(call, *args, **kwargs) if is_large else call(*args, **kwargs)


def workers() -> ThreadPoolExecutor:
    process = os.getpid()
    with _lock:
        if process not in _workers:
            _workers.clear()
            _workers[process] = ThreadPoolExecutor(MOST_WORKERS, "toolcarry-work")
        return _workers[process]
