"""The protocol of summarizers: callables that shorten text according to instructions."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from toolcarry.types.values import ToolBlock

__all__ = ["BlockSummarizer", "Summarizer", "coroutine_of", "run_summarizer"]


class Summarizer(Protocol):
    """A function or a coroutine function. Its ``model``, if it has one, is recorded with each summary.

    A summarizer that supports both styles, such as a model's client, also has a coroutine function ``acall`` with the
    same arguments, which is awaited in a running loop.
    """

    def __call__(self, text: str, instructions: str, /) -> str | Awaitable[str]:
        """Return the short text. The caller handles all errors."""


@runtime_checkable
class BlockSummarizer(Protocol):
    """A summarizer that also uses the tool calls and results."""

    def __call__(self, text: str, instructions: str, /) -> str | Awaitable[str]:
        """Return the short text."""

    def with_blocks(self, blocks: Sequence[ToolBlock], /) -> Summarizer:
        """Return a summarizer of a dialogue with these blocks, oldest first as ``extract_tool_blocks`` returns them.

        Its summaries are cached only if it has an ``identity``: a string that covers everything it uses of the blocks.
        """


Coroutine: TypeAlias = Callable[[str, str], Awaitable[str]]


def coroutine_of(summarizer: object) -> Coroutine | None:
    """Return the coroutine function of a summarizer; ``None`` if calling it would block a running loop.

    >>> async def summarize(text: str, instructions: str) -> str:
    ...     return text[:4]
    >>> coroutine_of(summarize) is summarize, coroutine_of(lambda text, instructions: text) is None
    (True, True)
    """
    for found in (getattr(summarizer, "acall", None), summarizer):
        is_awaited = inspect.iscoroutinefunction(found) or inspect.iscoroutinefunction(
            getattr(found, "__call__", None)  # noqa: B004 - checks the kind of function, not if it is callable
        )
        if is_awaited:
            return found  # type: ignore[return-value]
    return None


def run_summarizer(
    summarizer: Summarizer, text: str, instructions: str, timeout: float | None = None
) -> str:
    """Call a summarizer and return its text; wait for a coroutine up to ``timeout`` seconds.

    >>> run_summarizer(lambda text, instructions: text[:4], "3 passed in 0.1 s", "Be brief.")
    '3 pa'
    """
    answer: str = finished(summarizer(text, instructions), timeout)
    return answer


def finished(answer: Any, timeout: float | None = None) -> Any:
    """Return the result of a user function; run it first, for up to ``timeout`` seconds, if it is a coroutine."""
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
