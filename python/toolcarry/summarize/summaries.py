"""What stands between a conversation and a summarizer: a request is never lost to it, and nothing leaves uncleaned.

What clients injected goes first; then ``redact`` sees every text, and where it fails no text goes on; then a call has a
time limit, is repeated where that may help, and what came of it is remembered by a hash of all that went in.
Only the kinds of errors are logged and told: what an error says may be a stranger's text, or a key.
"""

from __future__ import annotations

import hashlib
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from cachetools import LRUCache

from toolcarry._util.plural import counted
from toolcarry.errors import ConfigError
from toolcarry.redact.logs import get_logger
from toolcarry.summarize.calls import Calls, EmptyAnswerError, check_answer, is_lasting, reason
from toolcarry.summarize.flights import Flights
from toolcarry.summarize.prompts import CONVERSATION_SUMMARIZE_SYSTEM, instructions_for
from toolcarry.summarize.protocol import BlockSummarizer, Summarizer
from toolcarry.summarize.redacted import RedactionFailedError, redact_blocks, redact_text
from toolcarry.summarize.turns import cut_turns, join_turns, read_turns, split_turns
from toolcarry.types import ToolBlock, check_limit

__all__ = ["Summaries", "Summary"]

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
        self._flights: Flights[Summary] = Flights()
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
            flight, is_first = self._flights.board(place)
            if not is_first:
                shared = flight.result()
                if shared is None:
                    continue
                return self._counted(as_shared(shared))
            made = None
            try:
                made = self._remembered(job) or self._make(job)
                return self._counted(made)
            finally:
                self._flights.land(place, made)

    async def asummarize(self, dialogue: str, blocks: Sequence[ToolBlock] = ()) -> Summary:
        """``summarize`` in a running loop; a summarizer that is no coroutine function runs in a thread."""
        import asyncio  # noqa: PLC0415 - it takes longer to import than all of toolcarry

        job = self._prepare(dialogue, blocks)
        if isinstance(job, Summary):
            return self._counted(job)
        place = ("tasks", job.key or object())
        while True:
            flight, is_first = self._flights.board(place)
            if not is_first:
                shared = await asyncio.wrap_future(flight)
                if shared is None:
                    continue
                return self._counted(as_shared(shared))
            made = None
            try:
                made = self._remembered(job) or await self._amake(job)
                return self._counted(made)
            finally:
                self._flights.land(place, made)

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
        why = reason(error, self._timeout)
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
