"""``Summaries``: call a summarizer so that it can't harm a request and gets only cleaned text.

Injected text is removed first. Then ``redact`` is applied to every text; if it fails, no text is sent. Each call has a
time limit and is retried if that may help. Summaries are cached by a hash of all their inputs. A thread can't be
stopped, so a late one is abandoned; the number of threads is bounded. Equal requests at the same time share one call.
Only the types of errors are logged, since their messages may contain conversation text or keys.
"""

from __future__ import annotations

import contextvars
import hashlib
import inspect
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Final, Generic, Literal, NamedTuple, TypeVar

from cachetools import LRUCache
from msgspec import structs

from toolcarry._util.plural import counted
from toolcarry.errors import ConfigError, RedactionError, ToolcarryError
from toolcarry.redact.hook import Redact, redact_text
from toolcarry.redact.logs import get_logger
from toolcarry.redact.messages import Cleaner
from toolcarry.summarize.dialogue import (
    cut_turns,
    join_turns,
    read_turns,
    split_turns,
    strip_injected,
    strip_reasoning,
)
from toolcarry.summarize.prompts import CONVERSATION_SUMMARIZE_SYSTEM, instructions_for
from toolcarry.summarize.protocol import BlockSummarizer, Summarizer, coroutine_of, run_summarizer
from toolcarry.types.values import ToolBlock, check_limit

__all__ = ["Summaries", "Summary"]


def redact_blocks(blocks: Sequence[ToolBlock], redact: Redact) -> list[ToolBlock]:
    """Return copies of the blocks in which calls, results and names are redacted. Raises ``RedactionError``."""
    cleaner = Cleaner(redact)
    return [
        structs.replace(
            block,
            tool_use=cleaner.wire(block.tool_use, 1),
            tool_result=cleaner.wire(block.tool_result, 1),
            tool_name=cleaner.name(block.tool_name),
            dedup_key=block.dedup_key and redact_text(block.dedup_key, redact),
            notes=structs.replace(
                block.notes,
                second_results=tuple(cleaner.wire(each, 1) for each in block.notes.second_results),
                directory=block.notes.directory and redact_text(block.notes.directory, redact),
            ),
        )
        for block in blocks
    ]


T = TypeVar("T")


class SharedWork(Generic[T]):
    """Shares work among concurrent callers: the first does it, the others wait for its future.

    The result is ``None`` if the first caller left without a result. Then the waiting callers start again.

    >>> work: SharedWork[str] = SharedWork()
    >>> future, is_first = work.start("a")
    >>> work.start("a") == (future, False), work.finish("a", "done"), future.result(), is_first
    (True, None, 'done', True)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[Hashable, Future[T | None]] = {}

    def start(self, key: Hashable) -> tuple[Future[T | None], bool]:
        """Return the future of a key, and ``True`` if the caller must do the work."""
        with self._lock:
            found = self._under_way.get(key)
            if found is not None:
                return found, False
            future: Future[T | None] = Future()
            future.set_running_or_notify_cancel()  # a waiting caller that is cancelled must not cancel the others
            self._under_way[key] = future
            return future, True

    def finish(self, key: Hashable, result: T | None) -> None:
        """Give the result to all waiting callers."""
        with self._lock:
            future = self._under_way.pop(key)
        future.set_result(result)


MAX_THREADS: Final = 32
REPEATABLE: Final = (408, 409, 425, 429)
LASTING: Final = (TypeError, ValueError, ImportError, NotImplementedError, ToolcarryError)


class EmptyAnswerError(Exception):
    """The summarizer wrote nothing."""


class ExitedError(Exception):
    """The summarizer ended its thread."""


class TooManyCallsError(Exception):
    """The limit on concurrent calls is reached, counting abandoned ones."""


class Calls:
    """Calls summarizers, each call in its own thread, or awaited if possible."""

    def __init__(self, max_threads: int = MAX_THREADS) -> None:
        self._max_threads: Final = max_threads
        self._lock = threading.Lock()
        self._running: set[Future[str]] = set()

    def run(self, summarizer: Summarizer, text: str, instructions: str, timeout: float) -> str:
        """Return the summarizer's text. Raises ``TimeoutError``, and all errors of the summarizer."""
        return self._start(summarizer, text, instructions, timeout).result(timeout)

    async def arun(
        self, summarizer: Summarizer, text: str, instructions: str, timeout: float
    ) -> str:
        """``run`` without blocking the loop; a summarizer that can't be awaited runs in a thread."""
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
        future.set_running_or_notify_cancel()  # cancelling the caller does not stop the thread
        context = contextvars.copy_context()

        def call() -> None:
            try:
                future.set_result(
                    context.run(run_summarizer, summarizer, text, instructions, timeout)
                )
            except SystemExit:  # ends this thread, not the process that asked for a summary
                future.set_exception(ExitedError())
            except BaseException as error:  # noqa: BLE001 - raised again in the waiting caller
                future.set_exception(error)
            finally:
                self._running.discard(future)

        try:  # an interrupt may come as the call is counted, or as its thread has started
            with self._lock:
                has_room = len(self._running) < self._max_threads
                if has_room:
                    self._running.add(future)
            if has_room:
                threading.Thread(target=call, name="toolcarry-summarizer", daemon=True).start()
        except BaseException:
            self._running.discard(future)
            raise
        if not has_room:
            raise TooManyCallsError
        return future


def check_answer(answer: object) -> str:
    """Return the answer without reasoning and injected tags. Raises ``TypeError`` and ``EmptyAnswerError``.

    >>> check_answer("<think>Hm.</think>The test is fixed.")
    'The test is fixed.'
    """
    if not isinstance(answer, str):
        if inspect.iscoroutine(answer):
            answer.close()
        raise TypeError(f"a summarizer must return a string, not {type(answer).__name__}")
    text = strip_injected(strip_reasoning(answer)).strip()
    if not text:
        raise EmptyAnswerError
    return text


def is_lasting(error: BaseException) -> bool:
    """True if the same call would fail again, judged by the HTTP status, or else by the type of the error.

    >>> is_lasting(TypeError("takes 1 argument")), is_lasting(ConnectionResetError())
    (True, False)
    """
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return 400 <= status < 500 and status not in REPEATABLE
    return isinstance(error, LASTING)


def failure_reason(error: BaseException, timeout: float) -> str:
    """Return the reason for a failed call, without the error's message, which may contain conversation text.

    Errors in toolcarry's own settings are quoted in full.

    >>> failure_reason(TimeoutError(), 30.0), failure_reason(PermissionError("key sk-1"), 30.0)
    ('TimeoutError: no answer within 30 s', 'PermissionError')
    """
    name = type(error).__name__
    status = getattr(error, "status_code", None)
    if isinstance(error, (ConfigError, RedactionError)):
        return str(error)
    if isinstance(error, EmptyAnswerError):
        return "the summarizer wrote nothing"
    if isinstance(error, TooManyCallsError):
        return "too many calls of the summarizer are under way"
    if isinstance(error, TimeoutError):
        return f"{name}: no answer within {timeout:g} s"
    return f"{name}: status {status}" if isinstance(status, int) else name


logger = get_logger("toolcarry.summarize")

ENTRY_BYTES: Final = 16_384
"""The least size that a cached summary is charged; a longer one takes the place of several."""

Status = Literal["made", "cached", "empty", "off", "failed"]


@dataclass(frozen=True, slots=True)
class Summary:
    """The outcome of a summary: its text, which is empty unless it was made or cached, and the reason for a failure.

    The status ``empty`` means that nothing was said in the conversation, ``off`` that no summarizer is set.
    ``attempts`` counts the calls of the summarizer for this summary.
    """

    text: str
    status: Status
    error: str = ""
    attempts: int = 0


class Job(NamedTuple):
    """A prepared call of the summarizer. Without ``key`` its result is not cached."""

    summarizer: Summarizer
    text: str
    key: str | None


class Summaries:
    """A summarizer with a time limit, retries, redaction and a cache. Never raises because of a summarizer's failure.

    It may be shared by threads and tasks.

    ``instructions`` are appended to ``CONVERSATION_SUMMARIZE_SYSTEM``. ``timeout`` is in seconds, for each call.
    ``retries`` is the number of calls after the first. ``backoff`` is the delay before the first retry in seconds; it
    doubles with each further retry, and is shortened by up to a half at random. ``redact`` is applied to every text
    before a summarizer gets it. A dialogue longer than ``max_dialogue_chars`` keeps its beginning (a quarter) and its
    end. At most ``max_entries`` summaries are cached, and at most 16 KiB times that number in total. ``counts`` has the
    number of summaries by status, and of failed and late calls.

    >>> summaries = Summaries(lambda text, instructions: f"{len(text)} characters were said.")
    >>> summaries.summarize("[USER]\\nFix it.\\n[/USER]").text
    '22 characters were said.'
    >>> summaries.summarize("[USER]\\nFix it.\\n[/USER]").status
    'cached'
    >>> Summaries(None).summarize("[USER]\\nFix it.\\n[/USER]").status
    'off'
    """

    def __init__(
        self,
        summarizer: Summarizer | None,
        *,
        instructions: str = "",
        timeout: float = 30.0,
        retries: int = 2,
        backoff: float = 0.5,
        redact: Callable[[str], str] | None = None,
        max_entries: int = 256,
        max_dialogue_chars: int = 400_000,
    ) -> None:
        if summarizer is not None and not callable(summarizer):
            raise ConfigError(
                f"summarizer: {summarizer!r:.80} is not allowed; allowed: a callable, or None"
            )
        if not timeout > 0:
            raise ConfigError(f"timeout: {timeout!r} is not allowed; allowed: a number > 0")
        if not backoff >= 0:
            raise ConfigError(f"backoff: {backoff!r} is not allowed; allowed: a number >= 0")
        check_limit("retries", retries)
        check_limit("max_entries", max_entries)
        check_limit("max_dialogue_chars", max_dialogue_chars)
        self.counts: Counter[str] = Counter()
        self._summarizer = summarizer
        self._instructions = instructions_for(CONVERSATION_SUMMARIZE_SYSTEM, instructions, None)
        self._timeout = timeout
        self._retries = retries
        self._backoff = backoff
        self._redact = redact
        self._max_dialogue_chars = max_dialogue_chars
        self._calls = Calls()
        self._shared: SharedWork[Summary] = SharedWork()
        self._lock = threading.Lock()
        self._made: LRUCache[str, str] = LRUCache(max_entries * ENTRY_BYTES, entry_size)

    def summarize(self, dialogue: str, blocks: Sequence[ToolBlock] = ()) -> Summary:
        """Return the summary of a dialogue as ``toolcarry.dialogue`` writes it; ``blocks`` are oldest first.

        Waits for the summarizer. Use ``asummarize`` in a running loop, which this method would block.
        """
        job = self._prepare(dialogue, blocks)
        if isinstance(job, Summary):
            return self._counted(job)
        # Threads wait for threads and tasks for tasks: a loop that waits for its own task would wait forever.
        place = ("threads", job.key or object())
        while True:
            future, is_first = self._shared.start(place)
            if not is_first:
                shared = future.result()
                if shared is None:
                    continue
                return self._counted(as_shared(shared))
            made = None
            try:
                made = self._remembered(job) or self._make(job)
                return self._counted(made)
            finally:
                self._shared.finish(place, made)

    async def asummarize(self, dialogue: str, blocks: Sequence[ToolBlock] = ()) -> Summary:
        """``summarize`` in a running loop; a summarizer that is not a coroutine function runs in a thread."""
        import asyncio  # noqa: PLC0415 - it takes longer to import than all of toolcarry

        from toolcarry._util.workers import in_worker  # noqa: PLC0415 - imports asyncio

        if self._summarizer is None:
            return self._counted(Summary("", "off"))
        job = await in_worker(self._prepare, dialogue, blocks)
        if isinstance(job, Summary):
            return self._counted(job)
        place = ("tasks", job.key or object())
        while True:
            future, is_first = self._shared.start(place)
            if not is_first:
                shared = await asyncio.wrap_future(future)
                if shared is None:
                    continue
                return self._counted(as_shared(shared))
            made = None
            try:
                made = self._remembered(job) or await self._amake(job)
                return self._counted(made)
            finally:
                self._shared.finish(place, made)

    def _prepare(self, dialogue: str, blocks: Sequence[ToolBlock]) -> Job | Summary:
        if self._summarizer is None:
            return Summary("", "off")
        try:
            return self._job(self._summarizer, dialogue, blocks)
        except Exception as error:  # noqa: BLE001 - user code must not fail a request: logged and counted
            return self._failed(error, 0)

    def _job(
        self, summarizer: Summarizer, dialogue: str, blocks: Sequence[ToolBlock]
    ) -> Job | Summary:
        turns = read_turns(dialogue)
        sees_blocks = bool(blocks) and isinstance(summarizer, BlockSummarizer)
        if not turns and not sees_blocks:
            return Summary("", "empty")
        text = join_turns(turns)
        if self._redact is not None:
            text = redact_text(text, self._redact)
        if len(text) > self._max_dialogue_chars:
            text = join_turns(cut_turns(split_turns(text), self._max_dialogue_chars))
        identity = getattr(summarizer, "model", "")
        if sees_blocks and isinstance(summarizer, BlockSummarizer):
            shown = blocks if self._redact is None else redact_blocks(blocks, self._redact)
            summarizer = summarizer.with_blocks(shown)
            identity = getattr(summarizer, "identity", None)
        key = None
        if isinstance(identity, str):
            key = digest(text, self._instructions, identity)
        return Job(summarizer, text, key)

    def _remembered(self, job: Job) -> Summary | None:
        if job.key is None:
            return None
        with self._lock:
            text = self._made.get(job.key)
        return None if text is None else Summary(text, "cached")

    def _make(self, job: Job) -> Summary:
        attempt = 0
        while True:
            attempt += 1
            try:
                answer = self._calls.run(
                    job.summarizer, job.text, self._instructions, self._timeout
                )
                return self._done(job, check_answer(answer), attempt)
            except Exception as error:  # noqa: BLE001 - user code must not fail a request: logged and counted
                ended = self._ended(job, error, attempt)
            if ended is not None:
                return ended
            time.sleep(self._delay(attempt))

    async def _amake(self, job: Job) -> Summary:
        import asyncio  # noqa: PLC0415 - it takes longer to import than all of toolcarry

        from toolcarry._util.workers import in_worker  # noqa: PLC0415 - imports asyncio

        attempt = 0
        while True:
            attempt += 1
            try:
                answer = await self._calls.arun(
                    job.summarizer, job.text, self._instructions, self._timeout
                )
                return self._done(job, await in_worker(check_answer, answer), attempt)
            except Exception as error:  # noqa: BLE001 - user code must not fail a request: logged and counted
                ended = self._ended(job, error, attempt)
            if ended is not None:
                return ended
            await asyncio.sleep(self._delay(attempt))

    def _delay(self, attempt: int) -> float:
        """Return the seconds to wait after a failed call, randomised so that callers don't retry all at once."""
        return self._backoff * 2.0 ** (attempt - 1) * random.uniform(0.5, 1.0)

    def _done(self, job: Job, text: str, attempts: int) -> Summary:
        with self._lock:
            if job.key is not None and entry_size(text) <= self._made.maxsize:
                self._made[job.key] = text
        return Summary(text, "made", attempts=attempts)

    def _ended(self, job: Job, error: Exception, attempts: int) -> Summary | None:
        """Return the outcome of a failed call; ``None`` if it should be retried."""
        if isinstance(error, EmptyAnswerError) and not job.text:
            return Summary("", "empty", attempts=attempts)
        with self._lock:
            self.counts["calls_failed"] += 1
            self.counts["calls_late"] += isinstance(error, TimeoutError)
        if attempts <= self._retries and not is_lasting(error):
            return None
        return self._failed(error, attempts)

    def _failed(self, error: Exception, attempts: int) -> Summary:
        why = failure_reason(error, self._timeout)
        is_ours = isinstance(error, RedactionError)
        kind = str(error) if is_ours else type(error).__name__
        logger.warning("no summary after %s: %s", counted(attempts, "call"), kind)
        return Summary("", "failed", why, attempts)

    def _counted(self, summary: Summary) -> Summary:
        with self._lock:
            self.counts[summary.status] += 1
        return summary


def as_shared(summary: Summary) -> Summary:
    """Return the summary for a caller that waited for another caller's: a made one counts as cached."""
    is_made = summary.status == "made"
    return replace(summary, status="cached", attempts=0) if is_made else summary


def entry_size(text: str) -> int:
    return max(ENTRY_BYTES, len(text.encode("utf-8", "surrogatepass")))


def digest(*parts: str) -> str:
    """Return one hash of several texts, in which the length of each is hashed too."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        found.update(len(data).to_bytes(8, "big"))
        found.update(data)
    return found.hexdigest()
