"""``SummarizeTransformer``: moves conversations to another backend, with their tool results and a summary."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, ParamSpec, TypeVar

from toolcarry._input.json import dump, loads
from toolcarry._input.objects import Messages, plain_message
from toolcarry._util.workers import LARGE, in_worker, in_worker_if
from toolcarry.errors import InputError, RedactionError
from toolcarry.redact.logs import get_logger
from toolcarry.summarize import ExtractiveSummarizer, Summaries, Summarizer, Summary
from toolcarry.switch.body import open_request
from toolcarry.switch.decision import (
    NEW_BEGINNINGS,
    Conversations,
    RoutedRequest,
    untouched,
    with_beginning,
)
from toolcarry.switch.fingerprint import Mark, marks
from toolcarry.switch.new_beginning import Draft, draft_of, without_history
from toolcarry.switch.pending_answers import PendingAnswers
from toolcarry.switch.request_fields import RequestFields
from toolcarry.switch.request_view import leading_prompts, read_entry
from toolcarry.switch.sessions import MemorySessions, Prefix, SessionKey, Sessions
from toolcarry.switch.types import Reason, Switched, SwitchedBody, SwitchReport
from toolcarry.types.policy import CarryPolicy, check_type
from toolcarry.types.values import check_limit

__all__ = ["SummarizeTransformer"]

P = ParamSpec("P")
T = TypeVar("T")

logger = get_logger("toolcarry.switch")


class Due(NamedTuple):
    """A request that needs a new beginning, and the reason."""

    asked: RoutedRequest
    reason: Reason


class Work(NamedTuple):
    """The material of a beginning."""

    asked: RoutedRequest
    reason: Reason
    last: Mark
    """The end of that material; messages after it stay unchanged."""
    draft: Draft


class SummarizeTransformer:
    """Moves conversations from one backend to another, with their tool results and a summary of the dialogue.

    Pass every request to ``transform``, and report every answer with ``answered``. If a request goes to a different
    backend than the one that answered last, the conversation so far is replaced with a context before the user's
    message, and later requests begin with the same bytes. ``policy`` and ``include_tool_context`` select the results to
    carry. ``short_result_chars`` limits each result if they don't all fit and the policy sets no limit on one result.
    ``summarizer`` writes the summary (``None``: no summary). ``redact``, such as a ``toolcarry.redact.Redactor``,
    removes secrets from everything before the user's message; content on which it fails is withheld.

    It is safe to use from several threads and tasks. ``counts`` has the number of requests by the ``reason`` of their
    ``SwitchReport``, and the number of failed redactions.

    >>> transformer = SummarizeTransformer()
    >>> history = [
    ...     {"role": "user", "content": "Run the tests."},
    ...     {"role": "assistant", "content": [
    ...         {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest -q"}}]},
    ...     {"role": "user", "content": [
    ...         {"type": "tool_result", "tool_use_id": "t1", "content": "3 passed"}]},
    ...     {"role": "assistant", "content": "They pass."}]
    >>> transformer.answered("c1", "a")
    >>> request = [*history, {"role": "user", "content": "Go on."}]
    >>> switched = transformer.transform(request, conversation="c1", backend="b")
    >>> len(switched.messages), "3 passed" in switched.messages[0]["content"]
    (1, True)
    """

    def __init__(
        self,
        summarizer: Summarizer | None = ExtractiveSummarizer(),
        policy: CarryPolicy = CarryPolicy(),
        sessions: Sessions | None = None,
        *,
        include_tool_context: bool = True,
        short_result_chars: int | None = None,
        redact: Callable[[str], str] | None = None,
        instructions: str = "",
        timeout: float = 30.0,
        retries: int = 2,
    ) -> None:
        check_type("policy", policy, CarryPolicy)
        check_limit("short_result_chars", short_result_chars, optional=True)
        self._policy = policy
        self._short = policy
        if policy.max_result_chars is None and policy.max_result_tokens is None:
            self._short = replace(policy, max_result_chars=short_result_chars)
        self._has_tools = include_tool_context
        self._redact = redact
        self._summaries = Summaries(
            summarizer if policy.include_summary else None,
            instructions=instructions,
            timeout=timeout,
            retries=retries,
        )
        self._known = Conversations(MemorySessions() if sessions is None else sessions)
        self._pending = PendingAnswers()
        self._lock = threading.Lock()
        self.counts: Counter[str] = Counter()

    # A request

    def transform(
        self, messages: Messages, *, conversation: str, backend: str, tenant: str = ""
    ) -> Switched:
        """Return the messages for ``backend``: the client's own, or messages with a new beginning if another backend
        answered last.

        Raises ``InputError`` if a message is not an object, or contains a value that JSON can't express.
        """
        return self._summarized(self._ask(messages, SessionKey(tenant, conversation), backend))

    async def atransform(
        self, messages: Messages, *, conversation: str, backend: str, tenant: str = ""
    ) -> Switched:
        """Run ``transform`` without blocking the event loop."""
        return await self._asummarized(messages, SessionKey(tenant, conversation), backend)

    def on_backend_switch(
        self, messages: Messages, *, conversation: str, backend: str, tenant: str = ""
    ) -> Switched:
        """Run ``transform`` for a caller who knows that the backend changes with this request."""
        return self._summarized(
            self._ask(messages, SessionKey(tenant, conversation), backend, is_switch=True)
        )

    async def aon_backend_switch(
        self, messages: Messages, *, conversation: str, backend: str, tenant: str = ""
    ) -> Switched:
        """Run ``on_backend_switch`` without blocking the event loop."""
        return await self._asummarized(
            messages, SessionKey(tenant, conversation), backend, is_switch=True
        )

    def transform_body(
        self,
        body: bytes,
        *,
        conversation: str,
        backend: str,
        tenant: str = "",
        fields: RequestFields | None = None,
    ) -> SwitchedBody:
        """Run ``transform`` on the bytes of a request. A bad body never raises: if it can't be read, it stays
        unchanged.

        ``fields`` is the result of ``read_fields`` on the body, if that was already called.

        >>> SummarizeTransformer().transform_body(b"[]", conversation="c", backend="b").untouched
        'no request'
        """
        try:
            request = open_request(body, fields)
            found = self._ask(request.messages, SessionKey(tenant, conversation), backend)
            return request.answer(self._summarized(found))
        except InputError as error:
            return SwitchedBody(body, SwitchReport("new"), untouched=str(error))

    async def atransform_body(
        self,
        body: bytes,
        *,
        conversation: str,
        backend: str,
        tenant: str = "",
        fields: RequestFields | None = None,
        is_full: bool = False,
    ) -> SwitchedBody:
        """Run ``transform_body`` without blocking the event loop, even if the body is large.

        ``is_full``: make a new beginning as for another backend, since the conversation no longer fits this one.
        """
        is_large = len(body) >= LARGE
        try:
            is_read = fields is not None and bool(fields.key)
            request = await in_worker_if(is_large and not is_read, open_request, body, fields)
            switched = await self._asummarized(
                request.messages,
                SessionKey(tenant, conversation),
                backend,
                is_switch=is_full,
                is_large=is_large,
            )
            return await in_worker_if(switched.is_switched, request.answer, switched)
        except InputError as error:
            return SwitchedBody(body, SwitchReport("new"), untouched=str(error))

    # Its answer

    def answered(
        self, conversation: str, backend: str, *, tenant: str = "", line: str = ""
    ) -> None:
        """Record that ``backend`` has answered the conversation's last request to it.

        Do not report failures or side requests (token counts, titles); they must not change anything. If several
        requests of a conversation run at the same time, pass ``Switched.line`` of the one that was answered.
        """
        self._known.answered(SessionKey(tenant, conversation), backend, line)

    async def aanswered(
        self, conversation: str, backend: str, *, tenant: str = "", line: str = ""
    ) -> None:
        """Run ``answered``, and wait only for the sessions."""
        with self._pending.of(SessionKey(tenant, conversation)):
            await self._reach(self.answered, conversation, backend, tenant=tenant, line=line)

    # Inside

    def _summarized(self, found: Switched | Due) -> Switched:
        work = found if isinstance(found, Switched) else self._start(found)
        if isinstance(work, Switched):
            return work
        return self._finish(work, self._summaries.summarize(work.draft.dialogue, work.draft.blocks))

    async def _asummarized(
        self,
        messages: Messages,
        key: SessionKey,
        backend: str,
        *,
        is_switch: bool = False,
        is_large: bool = True,
    ) -> Switched:
        await self._pending.end(key)
        if is_large:
            found = await in_worker(self._ask, messages, key, backend, is_switch=is_switch)
        else:
            found = await self._reach(self._ask, messages, key, backend, is_switch=is_switch)
        if isinstance(found, Switched):
            return found
        # Carrying a long conversation takes too long for the event loop.
        work = await in_worker(self._start, found)
        if isinstance(work, Switched):
            return work
        draft = work.draft
        summary = await self._summaries.asummarize(draft.dialogue, draft.blocks)
        return await in_worker(self._finish, work, summary)

    async def _reach(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function that uses the sessions, in a thread if these may wait."""
        if self._known.is_waiting:
            return await asyncio.to_thread(call, *args, **kwargs)
        return call(*args, **kwargs)

    def _ask(
        self,
        messages: Messages,
        key: SessionKey,
        backend: str,
        *,
        is_switch: bool = False,
    ) -> Switched | Due:
        """Decide about a request: no change, the earlier replacement, or a new beginning."""
        walk = marks(messages)
        first = next(walk, None)
        if first is None:
            return Switched(list(messages), SwitchReport("new", kept=len(messages)))
        asked = RoutedRequest(key, backend, first.digest, messages)
        reason, known = self._known.ask(asked, first, walk, is_switch=is_switch)
        if reason in NEW_BEGINNINGS:
            return Due(asked, reason)
        self._count(reason)
        if known is not None:
            report = SwitchReport(reason)
            return with_beginning(asked, loads(known.prefix.messages), known.end, report)
        return untouched(asked, reason)

    def _start(self, due: Due) -> Switched | Work:
        """Return the material of a new beginning; ``None`` if no model has said anything."""
        asked, reason = due
        *_, last = marks(asked.messages)
        first = len(leading_prompts(asked.messages))
        messages = [plain_message(asked.messages[at], at) for at in range(first, last.end)]
        entries = [read_entry(message) for message in messages]
        if not any(entry.role in ("model", "result") for entry in entries):
            self._count("new")
            return untouched(asked, "new")
        self._count(reason)
        try:
            return Work(asked, reason, last, draft_of(messages, entries, self._redact))
        except RedactionError as error:
            self._count("redaction_failed")
            logger.warning("the conversation so far is withheld: %s", error)
            report = SwitchReport(reason, withheld=str(error))
            return with_beginning(asked, without_history(messages, entries), last.end, report)

    def _finish(self, work: Work, summary: Summary) -> Switched:
        """Build a new beginning, and store it for later requests."""
        asked, last = work.asked, work.last
        made = work.draft.build(summary.text, self._policy, self._short, has_tools=self._has_tools)
        prefix = Prefix(asked.backend, last.length, last.digest, dump(made.messages))
        kept = self._known.keep(asked, prefix)
        logger.info(
            "a conversation continues with %r from a new context: %s", asked.backend, work.reason
        )
        report = SwitchReport(
            work.reason, summary=summary, carried=made.carried, bound=work.draft.bound
        )
        return with_beginning(asked, loads(kept.messages), last.end, report)

    def _count(self, what: str) -> None:
        with self._lock:
            self.counts[what] += 1
