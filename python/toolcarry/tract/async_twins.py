"""Async twins of methods: the same method run in a thread, since a store waits for its disk."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from itertools import islice
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

__all__ = ["in_thread", "iterate_in_thread"]

BATCH: Final = 100
"""The number of items that one call in a thread fetches."""

S = TypeVar("S")
P = ParamSpec("P")
T = TypeVar("T")


def in_thread(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Return a coroutine function that runs ``method`` in a thread."""

    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(method, self, *args, **kwargs)

    functools.update_wrapper(run, method)
    run.__name__ = f"a{method.__name__}"
    run.__qualname__ = run.__qualname__.replace(f".{method.__name__}", f".a{method.__name__}")
    run.__doc__ = f"``{method.__name__}``, in a thread."
    return run


async def iterate_in_thread(items: Iterator[T]) -> AsyncIterator[T]:
    """Yield the items; a thread fetches them in batches."""
    while batch := await asyncio.to_thread(lambda: list(islice(items, BATCH))):
        for item in batch:
            yield item
