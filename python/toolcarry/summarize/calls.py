"""A summarizer's call with a time limit, and what its failures mean.

A thread can't be stopped, so one that is late is left behind; how many there may be at once is bounded.
"""

from __future__ import annotations

import contextvars
import inspect
import threading
from concurrent.futures import Future
from typing import Final

from toolcarry.errors import ConfigError, ToolcarryError
from toolcarry.summarize.injected import strip_injected, strip_reasoning
from toolcarry.summarize.protocol import Summarizer, coroutine_of, run_summarizer
from toolcarry.summarize.redacted import RedactionFailedError

__all__ = ["Calls", "EmptyAnswerError", "TooManyCallsError", "check_answer", "is_lasting", "reason"]

MAX_THREADS: Final = 32
REPEATABLE: Final = (408, 409, 425, 429)
LASTING: Final = (TypeError, ValueError, ImportError, NotImplementedError, ToolcarryError)


class EmptyAnswerError(Exception):
    """The summarizer wrote nothing."""


class ExitedError(Exception):
    """The summarizer ended its thread."""


class TooManyCallsError(Exception):
    """As many calls as may run at once are running, or were left behind."""


class Calls:
    """Calls of summarizers, each in a thread of its own, or awaited where it can be."""

    def __init__(self, max_threads: int = MAX_THREADS) -> None:
        self._free = threading.BoundedSemaphore(max_threads)

    def run(self, summarizer: Summarizer, text: str, instructions: str, timeout: float) -> str:
        """What the summarizer makes of a text. Raises ``TimeoutError``, and whatever it raises."""
        return self._start(summarizer, text, instructions, timeout).result(timeout)

    async def arun(
        self, summarizer: Summarizer, text: str, instructions: str, timeout: float
    ) -> str:
        """``run`` for a loop, which goes on meanwhile; what can't be awaited runs in a thread."""
        import asyncio  # noqa: PLC0415 - it takes longer to import than all of toolcarry

        coroutine = coroutine_of(summarizer)
        async with asyncio.timeout(timeout):
            if coroutine is not None:
                return await coroutine(text, instructions)
            return await asyncio.wrap_future(self._start(summarizer, text, instructions, timeout))

    def _start(
        self, summarizer: Summarizer, text: str, instructions: str, timeout: float
    ) -> Future[str]:
        future: Future[str] = Future()
        future.set_running_or_notify_cancel()  # who waits may go away, and the thread doesn't care
        if not self._free.acquire(blocking=False):
            raise TooManyCallsError
        context = contextvars.copy_context()

        def call() -> None:
            try:
                future.set_result(
                    context.run(run_summarizer, summarizer, text, instructions, timeout)
                )
            except SystemExit:  # of the thread, and not of the process that asked for a summary
                future.set_exception(ExitedError())
            except BaseException as error:  # noqa: BLE001 - raised again by who waits
                future.set_exception(error)
            finally:
                self._free.release()

        try:
            threading.Thread(target=call, name="toolcarry-summarizer", daemon=True).start()
        except BaseException:
            self._free.release()
            raise
        return future


def check_answer(answer: object) -> str:
    """The answer without reasoning and injected tags. Raises ``TypeError`` and ``EmptyAnswerError``.

    >>> check_answer("<think>Hm.</think>The test is fixed.")
    'The test is fixed.'
    """
    if not isinstance(answer, str):
        if inspect.iscoroutine(answer):
            answer.close()
        raise TypeError(f"a summarizer returns a text, not {type(answer).__name__}")
    text = strip_injected(strip_reasoning(answer)).strip()
    if not text:
        raise EmptyAnswerError
    return text


def is_lasting(error: BaseException) -> bool:
    """Whether the same call would fail again: by the status of the answer, else by the kind of the error.

    >>> is_lasting(TypeError("takes 1 argument")), is_lasting(ConnectionResetError())
    (True, False)
    """
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return 400 <= status < 500 and status not in REPEATABLE
    return isinstance(error, LASTING)


def reason(error: BaseException, timeout: float) -> str:
    """Why a call failed, without a word of what the error says, which may be anybody's; settings are ours.

    >>> reason(TimeoutError(), 30.0), reason(PermissionError("key sk-1"), 30.0)
    ('TimeoutError: no answer within 30 s', 'PermissionError')
    """
    name = type(error).__name__
    status = getattr(error, "status_code", None)
    if isinstance(error, (ConfigError, RedactionFailedError)):
        return str(error)
    if isinstance(error, EmptyAnswerError):
        return "the summarizer wrote nothing"
    if isinstance(error, TooManyCallsError):
        return "too many calls of the summarizer are under way"
    if isinstance(error, TimeoutError):
        return f"{name}: no answer within {timeout:g} s"
    return f"{name}: status {status}" if isinstance(status, int) else name
