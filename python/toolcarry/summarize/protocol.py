"""The protocol of summarizers: callables that make a short text of a long one, by instructions."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from toolcarry.types import ToolBlock

__all__ = ["BlockSummarizer", "Summarizer", "coroutine_of", "run_summarizer"]


class Summarizer(Protocol):
    """A callable, or a coroutine function. Where it has a ``model``, that is noted beside what it wrote.

    One that can do both, as a model's client can, has a coroutine function ``acall`` with the same arguments, which is
    what a running loop awaits.
    """

    def __call__(self, text: str, instructions: str, /) -> str | Awaitable[str]:
        """The short text. Whatever it raises is the caller's to handle."""


@runtime_checkable
class BlockSummarizer(Protocol):
    """A summarizer that wants to see what the tools did, too."""

    def __call__(self, text: str, instructions: str, /) -> str | Awaitable[str]:
        """The short text."""

    def with_blocks(self, blocks: Sequence[ToolBlock], /) -> Summarizer:
        """A summarizer of a dialogue with these blocks, oldest first as ``extract_tool_blocks`` has them.

        Where it has an ``identity``, a text that says all that it took of them, what it writes may be remembered.
        """


Coroutine: TypeAlias = Callable[[str, str], Awaitable[str]]


def coroutine_of(summarizer: object) -> Coroutine | None:
    """What of a summarizer a running loop can await; ``None`` where it would block the loop.

    >>> async def summarize(text: str, instructions: str) -> str:
    ...     return text[:4]
    >>> coroutine_of(summarize) is summarize, coroutine_of(lambda text, instructions: text) is None
    (True, True)
    """
    for found in (getattr(summarizer, "acall", None), summarizer):
        is_awaited = inspect.iscoroutinefunction(found) or inspect.iscoroutinefunction(
            getattr(found, "__call__", None)  # noqa: B004 - asked for what it is, not whether it is there
        )
        if is_awaited:
            return found  # type: ignore[return-value]
    return None


def run_summarizer(
    summarizer: Summarizer, text: str, instructions: str, timeout: float | None = None
) -> str:
    """What a summarizer makes of a text; waits where it is a coroutine, ``timeout`` seconds at most.

    >>> run_summarizer(lambda text, instructions: text[:4], "3 passed in 0.1 s", "Be brief.")
    '3 pa'
    """
    answer: str = finished(summarizer(text, instructions), timeout)
    return answer


def finished(answer: Any, timeout: float | None = None) -> Any:
    """What a function of somebody else's gave; of a coroutine, what it gives when it is through, in ``timeout`` seconds."""
    if not inspect.isawaitable(answer):
        return answer
    import asyncio  # noqa: PLC0415 - it takes longer to import than all of toolcarry

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(asyncio.wait_for(answer, timeout))
    found: list[Any] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(asyncio.run(asyncio.wait_for(answer, timeout)))
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            failed.append(error)

    thread = threading.Thread(target=run)  # this thread's loop is busy with the caller
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]
