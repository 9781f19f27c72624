"""``Recorder``: requests and answers become commits of the canonical history, after the answer.

    request 1 -> forwarded -> answer 1 -> client
                                 |
                                 `-> writer thread: what is new of request 1, and answer 1, in one transaction
    request 2 -> waits until both are on disk -> forwarded

A failure here never fails the request. A failure to record is counted and logged; the next request of the conversation
contains the same messages again. Nothing is cut: messages are written through ``tract.canonical``.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Final, Literal, TypeAlias

from toolcarry import _backend, metrics
from toolcarry._input.answers import MOST_ANSWER, Answer, read_answer
from toolcarry._input.raw_json import write_array, write_object, written_items, written_members
from toolcarry._util.circuit_breaker import Breaker
from toolcarry._util.ttl_cache import SlidingCache
from toolcarry.errors import StoreError
from toolcarry.integrations.identity import ModelRequest, RequestIdentity
from toolcarry.integrations.projections import Forwarded
from toolcarry.integrations.recorder.jobs import Job, Pending
from toolcarry.integrations.recorder.lines import (
    Mark,
    RecordedLine,
    find_spot,
    lacks_result,
    load_line,
    name_of_line,
    nearest,
    sign_of,
    signs_of,
)
from toolcarry.integrations.recorder.new_messages import RecordedPlace, known_in, new_messages
from toolcarry.integrations.recorder.shadow import (
    Restored,
    Shadow,
    append_comparison,
)
from toolcarry.redact.logs import get_logger
from toolcarry.switch.request_fields import RequestFields, read_fields
from toolcarry.tract.canonical import NewMessage
from toolcarry.tract.commit_codec import dump_message
from toolcarry.tract.guard import ON_TRUNCATED_WRITE, Guard, OnTruncatedWrite
from toolcarry.tract.hydration import restore, wholes_for
from toolcarry.tract.importing import MovedError
from toolcarry.tract.legacy import fill
from toolcarry.tract.recording import INCOMPLETE, append_new
from toolcarry.tract.result_index import ResultIndex
from toolcarry.tract.store import open_database
from toolcarry.tract.store.lines import line_names
from toolcarry.tract.store.log import ATTEMPTS, busy
from toolcarry.tract.store.validate import check_name
from toolcarry.types.policy import ProjectPolicy
from toolcarry.types.values import check_choice, check_limit, check_seconds

__all__ = ["CANONICAL_MODES", "CanonicalMode", "Exchange", "Recorder"]

logger = get_logger("toolcarry.integrations")

CanonicalMode: TypeAlias = Literal["off", "shadow", "on"]
CANONICAL_MODES: Final = ("off", "shadow", "on")
Key: TypeAlias = tuple[str, str]
"""Tenant and conversation."""
MOST_LINES: Final = 16
"""The maximum number of lines of a conversation in memory; the least recently used ones are read again when needed."""
READERS: Final = 2
"""The threads that read the history for requests."""
MOST_DECISIONS: Final = 1_000_000
"""The maximum number of decisions that shadow mode keeps."""
MOST_SIGNS: Final = 4_000_000
"""The maximum number of signs of messages in memory, for all conversations together."""


NO_ANSWER: Final = Answer([], True)


class Recorder:
    """Feeds the canonical history at ``target``: a file, or ``postgresql://...``.

    ``mode`` is ``on``; ``shadow``, in which requests are forwarded unchanged, and the changes that hydration would make
    are recorded; or ``off``. It applies to ``rollout_percent`` of the conversations, always the same ones; for all
    others it is ``off``. ``projection`` is the policy of the pipeline, with which shadow mode builds the request for
    comparison. ``on_truncated_write`` is that of ``Tract.open``; with ``raise``, a result that was cut is left out.

    A request waits at most ``busy_timeout`` seconds for pending writes of its conversation. At most ``max_bytes`` of
    requests and answers wait to be written; if the store is too slow, further ones are not recorded. After an error,
    the store is not used for ``pause`` seconds, measured by ``clock``.

    ``counts`` has ``recorded`` and ``failed`` requests, the ``commits`` and the ``incomplete`` answers among them,
    results that were ``restored`` in requests and ``filled`` in the history, messages that were ``refused``, answers
    that were ``unread``, and requests that were ``dropped`` because too much was waiting, ``paused``, ``late`` or
    ``compared``. All methods but ``abegin`` may be called by any thread.

    Raises ``ConfigError`` for a setting that is not allowed, and ``StoreError`` if the store can't be opened.
    """

    def __init__(
        self,
        target: str | os.PathLike[str],
        *,
        mode: CanonicalMode = "on",
        rollout_percent: float = 100.0,
        on_truncated_write: OnTruncatedWrite = "warn",
        projection: ProjectPolicy | None = None,
        busy_timeout: float = 10.0,
        max_bytes: int = 256 << 20,
        ttl: float = 86_400.0,
        pause: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_choice("mode", mode, CANONICAL_MODES)
        check_choice("on_truncated_write", on_truncated_write, ON_TRUNCATED_WRITE)
        check_limit("max_bytes", max_bytes)
        check_seconds("pause", pause)
        if mode == "shadow":
            _backend.require("inspect")
        self.mode: Final = mode
        self.counts: Counter[str] = Counter()
        self.database: Final = open_database(target, busy_timeout=busy_timeout)
        self._rollout = rollout_percent
        self._wait = busy_timeout
        self.flagged: Final = Counter[str]()
        """The results among those that were written that had been cut before."""
        self._guard = Guard(on_truncated_write, self.flagged)
        self._lines = SlidingCache[Key, tuple[RecordedLine, ...]](
            MOST_SIGNS, ttl, weigh, clock=clock
        )
        self._ttl = ttl
        self.compare_by(projection)
        self._breaker = Breaker(pause, clock=clock)
        self._writers: dict[int, ThreadPoolExecutor] = {}
        self._reading: dict[int, ThreadPoolExecutor] = {}
        self._pending: dict[Key, list[Pending]] = {}
        self._room = max_bytes
        self._lock = threading.Lock()

    # Before a request is forwarded

    def compare_by(self, projection: ProjectPolicy | None) -> None:
        """Set the pipeline's policy, with which shadow mode builds the request for comparison."""
        self._shadow = Shadow(projection, MOST_DECISIONS, self._ttl)

    def mode_for(self, identity: RequestIdentity | None) -> CanonicalMode:
        """Return the mode for a request; ``off`` if it has no conversation or only counts tokens.

        It is the same in every process, and a conversation that is part of a rollout stays so when the percentage
        rises.
        """
        if identity is None or identity.is_side_request:
            return "off"
        if not (identity.tenant and identity.conversation):
            return "off"
        return self.mode if percentile(identity) < self._rollout else "off"

    async def abegin(self, identity: RequestIdentity, request: ModelRequest) -> Exchange | None:
        """Wait until the conversation's earlier requests and answers are on disk, and register the next one.

        Return ``None`` for a conversation that is not recorded.
        """
        mode = self.mode_for(identity)
        if mode == "off":
            return None
        await self._asettle(identity)
        return Exchange(self, mode, Job(identity, request.body, request.fields))

    def begin(self, identity: RequestIdentity, request: ModelRequest) -> Exchange | None:
        """Do the same as ``abegin``, in a thread that may block."""
        mode = self.mode_for(identity)
        if mode == "off":
            return None
        self._settle(identity)
        return Exchange(self, mode, Job(identity, request.body, request.fields))

    async def ahydrated(
        self,
        identity: RequestIdentity,
        body: bytes,
        fields: RequestFields | None,
        *,
        deadline: float,
    ) -> bytes:
        """Do the same as ``hydrated``, in a thread, until ``deadline`` in the time of the event loop.

        Raises ``TimeoutError``; then the store is not read for a while, so that only a few requests wait for one that
        hangs. A thread that waits for it can't be stopped, so these are the recorder's own.
        """
        if not self._breaker.may_try():
            return body
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(deadline):
                found = await loop.run_in_executor(
                    self._readers(), self.hydrated, identity, body, fields
                )
        except TimeoutError:
            self._breaker.failed()
            raise
        except BaseException:
            self._breaker.succeeded()  # the store has answered, or the request has ended
            raise
        self._breaker.succeeded()
        return found

    def deadline(self) -> float:
        """Return the time of the event loop until which a request that begins now waits for the history."""
        return asyncio.get_running_loop().time() + self._wait

    def _readers(self) -> ThreadPoolExecutor:
        with self._lock:
            if os.getpid() not in self._reading:  # a fork has none of its parent's threads
                self._reading = {os.getpid(): ThreadPoolExecutor(READERS, "toolcarry-read")}
            return self._reading[os.getpid()]

    def may_hydrate(
        self, identity: RequestIdentity, body: bytes, fields: RequestFields | None = None
    ) -> bool:
        """Return false if the state in memory shows that nothing in a body has to be restored. The store is not
        read."""
        lines = self._lines.get(key_of(identity))
        if not lines:
            return True
        signs, _ = signs_of((fields or read_fields(body)).messages, known_in(lines))
        return lacks_result(signs)

    def hydrated(
        self, identity: RequestIdentity, body: bytes, fields: RequestFields | None = None
    ) -> bytes:
        """Return a body with the history's results in place of nulls, placeholders, previews and cut results; the same
        object if there is nothing to restore. Raises ``StoreError``.
        """
        restored = self._restored(identity, body, fields or read_fields(body))
        self._count("restored", restored.restored)
        return restored.body

    def _restored(self, identity: RequestIdentity, body: bytes, fields: RequestFields) -> Restored:
        lines = self._lines_of(key_of(identity))
        signs, _ = signs_of(fields.messages, known_in(lines))
        if not lines or not fields.key or not lacks_result(signs):
            return Restored(body, 0, 0)
        said = [each.mark for each in signs]
        line = find_spot(lines, said).line or nearest(lines, said)
        messages = list(fields.messages)
        done = restore(line.log, ResultIndex(line.log), messages)
        if not done.restored:
            return Restored(body, 0, len(done.refetch))
        members = written_members(body)
        items = written_items(members[fields.key])
        for position, (message, held) in enumerate(zip(messages, done.messages, strict=True)):
            if len(held) > 1 or held[0] is not message:
                items[position] = b",".join(map(dump_message, held))
        body = write_object({**members, fields.key: write_array(items)})
        return Restored(body, len(done.restored), len(done.refetch))

    # Its answer

    def submit(self, job: Job) -> Pending | None:
        """Queue a request and its answer for the writer thread; return ``None`` if they are not recorded."""
        if job.status >= 400:  # the backend refused it, and the client sends it again
            return None
        size = len(job.body) + len(job.answer or b"")
        pending = Pending(job, size)
        with self._lock:
            has_room = size <= self._room
            if has_room:
                self._room -= size
                self._pending.setdefault(key_of(job.identity), []).append(pending)
        if has_room:
            return pending
        self._fail("dropped", "a request was not recorded: too much is waiting to be written")
        return None

    def start(self, pending: Pending) -> None:
        """Have a request and its answer recorded by the writer thread."""
        with self._lock:
            if pending.is_started:
                return
            # A writer is made for each process: a fork has none of its parent's threads.
            writer = self._writers.get(os.getpid())
            if writer is None:
                writer = ThreadPoolExecutor(1, "toolcarry-record")
                self._writers = {os.getpid(): writer}
            try:
                writer.submit(self._run, pending)
                is_ending = False
            except RuntimeError:
                is_ending = True
            pending.is_started = True  # not before: an interrupt would leave it waiting forever
        if is_ending:
            self._fail("dropped", "a request was not recorded: the process is ending")
            self._finish(pending)

    def flush(self) -> None:
        """Wait until everything submitted so far is on disk."""
        with self._lock:
            waiting = [pending for each in self._pending.values() for pending in each]
        for pending in waiting:
            self.start(pending)
            pending.future.result()

    def close(self) -> None:
        """Write everything that is waiting, and close the store."""
        self.flush()
        with self._lock:
            writer = self._writers.pop(os.getpid(), None)
            readers = self._reading.pop(os.getpid(), None)
        if writer is not None:
            writer.shutdown()
        if readers is not None:
            readers.shutdown()
        self.database.close()

    def _started(self, identity: RequestIdentity) -> list[Future[None]]:
        """Start the pending writes of a conversation, and return them."""
        with self._lock:
            waiting = list(self._pending.get(key_of(identity), ()))
        for pending in waiting:
            self.start(pending)
        return [pending.future for pending in waiting]

    async def _asettle(self, identity: RequestIdentity) -> None:
        """Wait until the conversation's earlier requests and answers are on disk."""
        if futures := self._started(identity):
            waiting = [asyncio.wrap_future(future) for future in futures]
            _, late = await asyncio.wait(waiting, timeout=self._wait)
            if late:
                self._fail("late", "the history is late: the request continues without it")

    def _settle(self, identity: RequestIdentity) -> None:
        """Do the same as ``_asettle``, in a thread that may block."""
        if wait(self._started(identity), self._wait).not_done:
            self._fail("late", "the history is late: the request continues without it")

    # In the writer thread

    def _run(self, pending: Pending) -> None:
        if (
            pending.future.done()
        ):  # an interrupt came as it was submitted, so it was submitted again
            return
        try:
            self._record(pending.job)
        finally:
            self._finish(pending)

    def _record(self, job: Job) -> None:
        if not self._breaker.may_try():
            self._count("paused")
            return
        try:
            self._write(job)
        except BaseException as error:
            self._lines.set(key_of(job.identity), ())
            if isinstance(error, StoreError):
                self._breaker.failed()
            else:
                self._breaker.succeeded()
            self._fail("failed", f"a request was not recorded: {type(error).__name__}")
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
        else:
            self._breaker.succeeded()

    def _write(self, job: Job) -> None:
        """Append the new messages of a request, and its answer, in one transaction."""
        fields = job.fields or read_fields(job.body)
        if fields.has_many_values or not len(fields.messages):
            return
        answer: Answer | None = NO_ANSWER
        if job.answer != b"":
            answer = None if job.answer is None else read_answer(job.answer, job.codings)
        if answer is None:
            self._count("unread")
            answer = NO_ANSWER
        answered = map(sign_of, answer.messages)
        said = tuple(Mark(each.sign, each.result) for each in answered if each.sign)
        key = key_of(job.identity)
        check_name("tenant", key[0])
        check_name("conversation", key[1])
        for _ in range(ATTEMPTS):
            lines = self._lines_of(key)
            signs, by_hash = signs_of(fields.messages, known_in(lines))
            try:
                place = self._place(key, lines, tuple(each.mark for each in signs), said)
                line = place.line
                new = new_messages(fields.messages, signs, place)
                if not place.is_answered:
                    new += [
                        NewMessage(each, more={} if answer.is_complete else {INCOMPLETE: True})
                        for each in answer.messages
                    ]
                done = append_new(line.log, line.head, new, line.names, self._guard)
                break
            except MovedError:  # another process has written
                self._lines.set(key, ())
        else:
            raise busy(self.database.name, ATTEMPTS)
        if not place.is_answered:
            line.view = (*(each.mark for each in signs), *said)
            line.answer = len(said)
            line.is_broken_off = bool(said) and not answer.is_complete
        line.head, line.known = done.head, by_hash
        line.cut |= set(done.cut)
        others = tuple(each for each in lines if each is not line)
        self._lines.set(key, (line, *others)[:MOST_LINES])
        self._count("recorded")
        self._count("commits", done.commits)
        self._count("refused", done.refused)
        self._count("incomplete", int(bool(answer.messages) and not answer.is_complete))
        self._fill(line, fields.messages)
        if job.forwarded is not None:
            self._compare(job.identity, job.forwarded)

    def _place(
        self, key: Key, lines: Sequence[RecordedLine], signs: Sequence[Mark], said: Sequence[Mark]
    ) -> RecordedPlace:
        """Find the line to append to; a new one if there is none for this continuation.

        Raises ``MovedError`` if another process has begun the conversation since its lines were read.
        """
        line, known, is_repeated = find_spot(lines, signs)
        if line is not None and not is_repeated:
            return RecordedPlace(line, known)
        if line is not None:
            rest = line.view[known:]
            if tuple(rest[: len(said)]) == tuple(said):
                return RecordedPlace(line, known, is_answered=True)
            if line.is_broken_off and len(rest) == 1:
                return RecordedPlace(line, known)
        # The line of an earlier request does not contain another answer to it, so it stays unchanged.
        name = name_of_line(key[1], (*signs, *said)) if lines else key[1]
        line = load_line(self.database, key[0], name)
        if line.view and not lines:
            raise MovedError
        source = nearest(lines, signs) if lines else None
        return RecordedPlace(line, find_spot((line,), signs).known, source=source)

    def _fill(self, line: RecordedLine, messages: Sequence[Any]) -> None:
        """Replace results that were cut when they were written with the whole ones, if the client sends these later."""
        if not line.cut:
            return
        whole = wholes_for(ResultIndex(line.log), list(messages))
        if not whole:
            return
        done = fill(line.log, lambda found: (whole.get(found.commit.commit_hash, ""), "request"))
        line.cut = frozenset(found.commit.tool_call_id or "" for found in done.left)
        if done.filled:
            line.head = line.log.head()
            self._count("filled", len(done.filled))

    def _compare(self, identity: RequestIdentity, old: Forwarded) -> None:
        """Record the differences that the results of the history would have made."""
        restored = self._restored(identity, old.body, read_fields(old.body))
        compared = self._shadow.compare(identity, old, restored)
        append_comparison(self.database, identity, compared)
        self._count("compared")

    def _lines_of(self, key: Key) -> tuple[RecordedLine, ...]:
        """Return the lines of a conversation, most recently used first; they are read from the history if necessary."""
        return self._lines.get(key) or self._load(key)

    def _load(self, key: Key) -> tuple[RecordedLine, ...]:
        """Read the lines of a conversation from the history, the newest first."""
        names = line_names(self.database, *key)
        return tuple(
            load_line(self.database, key[0], name) for name in names[: -MOST_LINES - 1 : -1]
        )

    # Bookkeeping

    def _finish(self, pending: Pending) -> None:
        """Release a request that was recorded or failed."""
        key = key_of(pending.job.identity)
        with self._lock:
            self._room += pending.size
            left = [each for each in self._pending.get(key, ()) if each is not pending]
            if left:
                self._pending[key] = left
            else:
                self._pending.pop(key, None)
        pending.future.set_result(None)

    def _count(self, name: str, number: int = 1) -> None:
        if number:
            with self._lock:
                self.counts[name] += number

    def _fail(self, name: str, words: str) -> None:
        """Count and log that a request was not recorded, without any text of the conversation."""
        self._count(name)
        metrics.count("fail_open")
        logger.warning("%s", words)


class Exchange:
    """A request in progress, and its answer as it arrives. Only the first ``end`` counts."""

    __slots__ = (
        *("_chunks", "_codings", "_is_ended", "_job", "_pending", "_recorder", "_size", "_status"),
        *("forwarded", "mode"),
    )

    def __init__(self, recorder: Recorder, mode: CanonicalMode, job: Job) -> None:
        self.mode: Final = mode
        self.forwarded: Forwarded | None = None
        """The request as it was forwarded, for the comparison of shadow mode."""
        self._recorder = recorder
        self._job = job
        self._status = 0
        self._chunks: list[bytes] = []
        self._codings: Sequence[str] = ()
        self._size = 0
        self._is_ended = False
        self._pending: Pending | None = None

    def start(self, status: int, codings: Sequence[str] = ()) -> None:
        """Set the status of the answer, and its content codings."""
        self._status, self._codings = status, codings

    def add(self, chunk: bytes) -> None:
        """Keep a part of the answer's body, unless the answer is too long to be recorded."""
        if chunk and self._status < 400 and not self._is_ended:
            self._size += len(chunk)
            self._chunks.append(chunk)
            if self._size > MOST_ANSWER:
                self._chunks.clear()

    def end(self) -> None:
        """Queue the received answer, whose end shows if it is complete. The conversation's next request waits for
        this."""
        if self._is_ended:
            return
        self._is_ended = True
        forwarded = self.forwarded if self.mode == "shadow" else None
        job = self._job._replace(
            answer=None if self._size > MOST_ANSWER else b"".join(self._chunks),
            codings=self._codings,
            status=self._status,
            forwarded=forwarded,
        )
        self._pending = self._recorder.submit(job)

    def write(self) -> None:
        """End the exchange, and start to write it. Before the client has its answer, the writer thread would only delay
        that."""
        self.end()
        if self._pending is not None:
            self._recorder.start(self._pending)


def key_of(identity: RequestIdentity) -> Key:
    return identity.tenant, identity.conversation


def percentile(identity: RequestIdentity) -> float:
    """Return the percentile of a conversation in a rollout, from 0 to under 100.

    >>> percentile(RequestIdentity("me", "c1", "m")) == percentile(RequestIdentity("me", "c1", "other"))
    True
    """
    name = "\0".join(key_of(identity)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(name).digest()[:6], "big") / (1 << 48) * 100


def weigh(lines: tuple[RecordedLine, ...]) -> int:
    """Return the weight of lines: the number of their signs, and a few for each line."""
    return 4 + sum(4 + len(line.view) + len(line.known) for line in lines)
