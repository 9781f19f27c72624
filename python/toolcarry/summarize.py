"""What a summarizer is: anything that makes a short text of a long one, by instructions."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable
from typing import Protocol

__all__ = ["Summarizer", "run_summarizer"]


class Summarizer(Protocol):
    """A callable, or a coroutine function. Where it has a ``model``, that is noted beside what it wrote."""

    def __call__(self, text: str, instructions: str, /) -> str | Awaitable[str]:
        """The short text. Whatever it raises is the caller's to handle."""


def run_summarizer(summarizer: Summarizer, text: str, instructions: str) -> str:
    """What a summarizer makes of a text; waits where it is a coroutine.

    >>> run_summarizer(lambda text, instructions: text[:4], "3 passed in 0.1 s", "Be brief.")
    '3 pa'
    """
    answer = summarizer(text, instructions)
    if not inspect.isawaitable(answer):
        return answer
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait_for(answer))
    found: list[str] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(asyncio.run(wait_for(answer)))
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            failed.append(error)

    thread = threading.Thread(target=run)  # this thread's loop is busy with the caller
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]


async def wait_for(answer: Awaitable[str]) -> str:
    """What ``asyncio.run`` takes, of anything that can be awaited."""
    return await answer
