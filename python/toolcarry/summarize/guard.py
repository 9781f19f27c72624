"""``Summaries``: calls of a summarizer that cannot harm a request, and send no text out that was not cleaned.

Injected text is removed first; then ``redact`` is applied to every text, and if it fails, no text is sent; then a call has
a time limit, is retried if that may help, and its summary is remembered by a hash of all that went in. A thread can't be
stopped, so a late one is left behind; how many there may be at once is bounded. Equal work that is requested while it is
being done is done once. Only the kinds of errors are logged: what an error says may be a stranger's text, or a key.
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
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar

from cachetools import LRUCache

from toolcarry._input.objects import Wire, as_list, as_object
from toolcarry._util.plural import counted
from toolcarry.errors import ConfigError, ToolcarryError
from toolcarry.redact.logs import get_logger
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
from toolcarry.types import ToolBlock, check_limit

__all__ = ["Summaries", "Summary"]

Redact = Callable[[str], str]


class RedactionFailedError(ToolcarryError):
    """``redact`` raised, or returned no text; so nothing may leave. It says which error that was, not what it said."""


def redact_text(text: str, redact: Redact) -> str:
    """What ``redact`` makes of a text. Raises ``RedactionFailedError``.

    >>> redact_text("the key is sk-1", lambda text: text.replace("sk-1", "[secret]"))
    'the key is [secret]'
    """
    try:
        redacted = redact(text)
    except Exception as error:  # noqa: BLE001 - raised again, without what it says
        raise RedactionFailedError(f"redaction failed: {type(error).__name__}") from None
    if not isinstance(redacted, str):
        raise RedactionFailedError(f"redaction failed: returned {type(redacted).__name__}")
    return redacted


def redact_blocks(blocks: Sequence[ToolBlock], redact: Redact) -> list[ToolBlock]:
    """Copies of the blocks with every string in their calls and results redacted, but for the names of members."""
    return [
        replace(
            block,
            tool_use=redact_wire(block.tool_use, redact),
            tool_result=redact_wire(block.tool_result, redact),
            dedup_key=block.dedup_key and redact_text(block.dedup_key, redact),
            notes=replace(
                block.notes,
                second_results=tuple(
                    redact_value(each, redact) for each in block.notes.second_results
                ),
            ),
        )
        for block in blocks
    ]


def redact_wire(value: object, redact: Redact) -> Wire | None:
    wire = as_object(value)
    return None if wire is None else {key: redact_value(item, redact) for key, item in wire.items()}


def redact_value(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        return redact_text(value, redact) if value else value
    items = as_list(value)
    if items is not None:
        return [redact_value(item, redact) for item in items]
    wire = redact_wire(value, redact)
    return value if wire is None else wire


T = TypeVar("T")


class SharedWork(Generic[T]):
    """Work that is done once for all who ask for it meanwhile: the first does it, the others wait for the future.

    The result is ``None`` if the first one went away without a result: then those that waited start again.

    >>> work: SharedWork[str] = SharedWork()
    >>> future, is_first = work.start("a")
    >>> work.start("a") == (future, False), work.finish("a", "done"), future.result(), is_first
    (True, None, 'done', True)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[Hashable, Future[T | None]] = {}

    def start(self, key: Hashable) -> tuple[Future[T | None], bool]:
        """The future of a key, and whether it is for the caller to do the work."""
        with self._lock:
            found = self._under_way.get(key)
            if found is not None:
                return found, False
            future: Future[T | None] = Future()
            future.set_running_or_notify_cancel()  # one that waits may go away, the others wait on
            self._under_way[key] = future
            return future, True

    def finish(self, key: Hashable, result: T | None) -> None:
        """Give all that wait what came of it."""
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
    """True if the same call would fail again: by the status of the answer, else by the kind of the error.

    >>> is_lasting(TypeError("takes 1 argument")), is_lasting(ConnectionResetError())
    (True, False)
    """
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return 400 <= status < 500 and status not in REPEATABLE
    return isinstance(error, LASTING)


def failure_reason(error: BaseException, timeout: float) -> str:
    """Why a call failed, without a word of what the error says, which may be anybody's; settings are ours.

    >>> failure_reason(TimeoutError(), 30.0), failure_reason(PermissionError("key sk-1"), 30.0)
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


logger = get_logger("toolcarry.summarize")

ENTRY_BYTES: Final = 16_384
"""What one remembered summary is taken to hold at least; longer ones take the place of several."""

Status = Literal["made", "cached", "empty", "off", "failed"]


@dataclass(frozen=True, slots=True)
class Summary:
    """What came of a summary: its text, empty unless it was made or remembered, and for ``failed`` why.

    ``empty`` is a conversation in which nothing was said, ``off`` that there is no summarizer.
    ``attempts`` counts the calls of the summarizer for this summary.
    """

    text: str
    status: Status
    error: str = ""
    attempts: int = 0


class Job(NamedTuple):
    """A call, ready to be made. Without ``key`` it is made every time."""

    summarizer: Summarizer
    text: str
    key: str | None


class Summaries:
    """A summarizer with all that guards it; may be shared by threads and by tasks. Never raises for what a summarizer does.

    ``instructions`` stand behind ``CONVERSATION_SUMMARIZE_SYSTEM``. ``timeout`` is in seconds, for each call; ``retries``
    are calls beside the first, and ``backoff`` the seconds before the first of them, twice as long before each next one,
    less up to a half at random. ``redact`` is given every text before a summarizer is. Of a dialogue longer than
    ``max_dialogue_chars`` the beginning (a quarter) and the end stay. At most ``max_entries`` summaries are remembered,
    and no more than 16 KiB of text for each. ``counts`` says how often what happened.

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
        """The summary of a dialogue as ``toolcarry.dialogue`` writes it; ``blocks`` are oldest first.

        Waits for the summarizer; in a running loop, ``asummarize`` is what doesn't block it.
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
        """``summarize`` in a running loop; a summarizer that is no coroutine function runs in a thread."""
        import asyncio  # noqa: PLC0415 - it takes longer to import than all of toolcarry

        job = self._prepare(dialogue, blocks)
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
        except Exception as error:  # noqa: BLE001 - strangers' code, in the way of a request: logged and counted
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
            except Exception as error:  # noqa: BLE001 - a stranger's code, in the way of a request: logged and counted
                ended = self._ended(job, error, attempt)
            if ended is not None:
                return ended
            time.sleep(self._delay(attempt))

    async def _amake(self, job: Job) -> Summary:
        import asyncio  # noqa: PLC0415 - it takes longer to import than all of toolcarry

        attempt = 0
        while True:
            attempt += 1
            try:
                answer = await self._calls.arun(
                    job.summarizer, job.text, self._instructions, self._timeout
                )
                return self._done(job, check_answer(answer), attempt)
            except Exception as error:  # noqa: BLE001 - a stranger's code, in the way of a request: logged and counted
                ended = self._ended(job, error, attempt)
            if ended is not None:
                return ended
            await asyncio.sleep(self._delay(attempt))

    def _delay(self, attempt: int) -> float:
        """Seconds to wait behind a call that failed, at random, so that not all come back at once."""
        return self._backoff * 2.0 ** (attempt - 1) * random.uniform(0.5, 1.0)

    def _done(self, job: Job, text: str, attempts: int) -> Summary:
        with self._lock:
            if job.key is not None and entry_size(text) <= self._made.maxsize:
                self._made[job.key] = text
        return Summary(text, "made", attempts=attempts)

    def _ended(self, job: Job, error: Exception, attempts: int) -> Summary | None:
        """What a failed call means; ``None`` where it is to be repeated."""
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
        is_ours = isinstance(error, RedactionFailedError)
        kind = str(error) if is_ours else type(error).__name__
        logger.warning("no summary after %s: %s", counted(attempts, "call"), kind)
        return Summary("", "failed", why, attempts)

    def _counted(self, summary: Summary) -> Summary:
        with self._lock:
            self.counts[summary.status] += 1
        return summary


def as_shared(summary: Summary) -> Summary:
    """What one that waited has of a summary that another one asked for."""
    is_made = summary.status == "made"
    return replace(summary, status="cached", attempts=0) if is_made else summary


def entry_size(text: str) -> int:
    return max(ENTRY_BYTES, len(text.encode("utf-8", "surrogatepass")))


def digest(*parts: str) -> str:
    """One hash of several texts, which says where each ends."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        found.update(len(data).to_bytes(8, "big"))
        found.update(data)
    return found.hexdigest()
