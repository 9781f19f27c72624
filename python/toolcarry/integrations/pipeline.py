"""The request pipeline, the same for every host: restore tools, switch the conversation, project.

No request fails here. If a step fails or takes too long, the request goes on as that step received it; this is counted,
and logged without any text of the conversation.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from toolcarry._input.request_fields import RequestFields, read_fields
from toolcarry._input.value_count import has_many_values
from toolcarry._util.evictions import Evictions
from toolcarry._util.ttl_cache import SlidingCache
from toolcarry._util.workers import LARGE, in_worker_if
from toolcarry.api.projection import project_body
from toolcarry.errors import InputError
from toolcarry.integrations.identity import ModelRequest, RequestIdentity, opening
from toolcarry.integrations.tools import give_tools
from toolcarry.redact.logs import get_logger
from toolcarry.tool_cache import ToolCache
from toolcarry.types.policy import Policy, check_type
from toolcarry.types.values import Decisions, check_limit, check_seconds

__all__ = ["Processed", "RequestPipeline", "Transformed", "Transformer"]

logger = get_logger("toolcarry.integrations")

LineKey = tuple[str, str, str]
"""Tenant, conversation, and how the line of it opens: titles and sub-agents go by the id of the conversation, too."""


class Transformed(Protocol):
    """The outcome of a ``Transformer``; it wants ``line`` back when the request was answered."""

    @property
    def body(self) -> bytes:
        """The body, the same object where nothing changed."""

    @property
    def is_switched(self) -> bool:
        """True if the body was changed."""

    @property
    def line(self) -> str:
        """The branch of the conversation that the request belongs to."""


class Transformer(Protocol):
    """The methods of ``toolcarry.switch.SummarizeTransformer`` that the pipeline uses.

    The next request of a conversation may come as soon as ``aanswered`` waits for the first time: what it needs to know
    should be known by then.
    """

    async def atransform_body(
        self,
        body: bytes,
        *,
        conversation: str,
        backend: str,
        tenant: str = "",
        fields: RequestFields | None = None,
    ) -> Transformed:
        """Return the body for a backend; ``fields`` are the members that were read already."""

    async def aanswered(
        self, conversation: str, backend: str, *, tenant: str = "", line: str = ""
    ) -> None:
        """Take note that a backend has answered."""


@dataclass(frozen=True, slots=True)
class Processed:
    """A request as it goes on: its ``body``, whose it is, and the line of the conversation, for when it is answered."""

    body: bytes
    identity: RequestIdentity | None = None
    line: str = ""

    @property
    def is_to_be_told(self) -> bool:
        """True if a successful response counts as an answer of the backend."""
        return self.identity is not None and not self.identity.is_side_request


class Projection(NamedTuple):
    """A projected body, why it was not, and how many conversations had to be forgotten."""

    body: bytes
    untouched: str = ""
    evicted: int = 0


class RequestPipeline:
    """Processes requests: ``tool_cache`` gives their tools to those that come without, ``transformer`` takes
    conversations from one backend to another, and the policy ``projection`` makes requests smaller, and mends them where
    it has ``repair``. Any of them may be ``None``.

    Of a conversation with a known tenant the decisions of its last projection are kept, so that the provider's cache of
    the prompt stands: ``max_decisions`` about single results, of all conversations together, each conversation's for
    ``ttl`` seconds. Without a tenant or a conversation nothing is kept and nothing is switched. Each part may take
    ``timeout`` seconds. What grows with a body of 64 KiB and more is done by a worker thread. A body of more than a
    million values, or 100,000 arrays and objects, goes on unread: to decode it would stop all threads for seconds.

    ``counts`` says what was done since it was made: requests that were ``processed``, ``tools_restored``, ``switched``,
    ``projected``, and ``changed`` by any of it; ``skipped.<reason>``; ``failed_open.<part>``; ``bytes_before`` and ``bytes_after``;
    ``evicted``, the conversations whose decisions were forgotten for want of room.
    It belongs to one event loop.

    >>> pipeline = RequestPipeline(projection=Policy(max_tool_result_chars=2_000))
    >>> asyncio.run(pipeline.process(ModelRequest(b'{"messages": []}'))).body
    b'{"messages": []}'
    """

    def __init__(
        self,
        *,
        transformer: Transformer | None = None,
        projection: Policy | None = None,
        tool_cache: ToolCache | None = None,
        max_decisions: int = 1_000_000,
        ttl: float = 86_400.0,
        timeout: float = 40.0,
    ) -> None:
        if projection is not None:
            check_type("projection", projection, Policy)
        check_limit("max_decisions", max_decisions)
        check_seconds("timeout", timeout)
        self._transformer = transformer
        self._policy = projection
        self._tool_cache = tool_cache
        self._timeout = timeout
        self._known = SlidingCache[LineKey, Decisions](max_decisions, ttl, weight)
        self._evictions = Evictions(logger, "projections of conversations", "max_decisions")
        self.counts: Counter[str] = Counter()

    @property
    def has_work(self) -> bool:
        """True if there is anything that it could do to a request."""
        parts = (self._tool_cache, self._transformer, self._policy)
        return any(part is not None for part in parts)

    async def process(self, request: ModelRequest) -> Processed:
        """Return the request as it goes on to its backend; its ``body`` is the same object if nothing changes.

        Raises nothing but what is not an ``Exception``, as the cancellation of its task.
        """
        body, identity, fields = request.body, request.identity, request.fields
        is_known = (
            isinstance(identity, RequestIdentity) and identity.tenant and identity.conversation
        )
        done = Processed(body, identity if is_known else None)
        self.counts["processed"] += 1
        self.counts["bytes_before"] += len(body)
        if await self._is_too_fine(request):
            self.skip("too_many_values")
            self.counts["bytes_after"] += len(body)
            return done
        if self._tool_cache is not None and request.style is not None:
            with self._fail_open("tools"):
                async with asyncio.timeout(self._timeout):
                    given = await self._with_tools(self._tool_cache, request)
                done = Processed(given, done.identity)
        said = done.body  # with the messages that were read
        if self._transformer is not None:
            with self._fail_open("switch"):
                async with asyncio.timeout(self._timeout):
                    done = await self._switch(done, self._transformer, fields)
        if self._policy is not None:
            with self._fail_open("projection"):
                known = fields if done.body is said else None
                done = await self._project(done, self._policy, known)
        self.counts["changed"] += done.body is not body
        self.counts["bytes_after"] += len(done.body)
        return done

    async def answered(self, done: Processed) -> None:
        """Take note that the backend has answered a request, in full and with success. Raises as ``process`` does."""
        identity = done.identity
        if self._transformer is None or identity is None or identity.is_side_request:
            return
        if not identity.backend:
            return
        with self._fail_open("answered"):
            async with asyncio.timeout(self._timeout):
                await self._transformer.aanswered(
                    identity.conversation, identity.backend, tenant=identity.tenant, line=done.line
                )

    @contextmanager
    def _fail_open(self, part: str) -> Iterator[None]:
        """Leave a part where it fails."""
        try:
            yield
        except BaseException as error:  # noqa: BLE001 - counted and logged, unless it is not ours
            self.fail_open(part, error)

    def fail_open(self, part: str, error: BaseException) -> None:
        """Count and log that a part failed; raise the error again where it is not a failure, but an end.

        A panic of the Rust core is a failure, though it is no ``Exception``.
        """
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise error
        self.counts[f"failed_open.{part}"] += 1
        logger.warning("%s failed with %s: the request goes on", part, type(error).__name__)

    def skip(self, reason: str) -> None:
        """Count a request, or a part of the work on it, that was left out."""
        self.counts[f"skipped.{reason}"] += 1

    async def _is_too_fine(self, request: ModelRequest) -> bool:
        """Return true if a body has too many values to be decoded."""
        if request.fields is not None:
            return request.fields.has_many_values
        body = request.body
        return await in_worker_if(len(body) >= LARGE, has_many_values, body)

    async def _with_tools(self, cache: ToolCache, request: ModelRequest) -> bytes:
        if request.identity is None or not request.identity.tenant:
            self.skip("no_tenant")
            return request.body
        is_large = len(request.body) >= LARGE
        read = request.fields or await in_worker_if(is_large, read_fields, request.body)
        given = await give_tools(cache, replace(request, fields=read))
        self.counts["tools_restored"] += given is not request.body
        return given

    async def _switch(
        self, done: Processed, transformer: Transformer, fields: RequestFields | None
    ) -> Processed:
        identity = done.identity
        if identity is None or not identity.backend:
            self.skip("no_identity")
            return done
        made = await transformer.atransform_body(
            done.body,
            conversation=identity.conversation,
            backend=identity.backend,
            tenant=identity.tenant,
            fields=fields,
        )
        if not isinstance(made.body, bytes):
            raise InputError(f"the body must be bytes, not {type(made.body).__name__}")
        new = Processed(made.body, identity, made.line)
        self.counts["switched"] += made.is_switched
        return new

    async def _project(
        self, done: Processed, policy: Policy, fields: RequestFields | None
    ) -> Processed:
        is_large = len(done.body) >= LARGE
        async with asyncio.timeout(self._timeout):
            made = await in_worker_if(is_large, self._projected, done, policy, fields)
        if made.untouched:
            self.skip(made.untouched)
        if made.evicted:
            self.counts["evicted"] += made.evicted
        self.counts["projected"] += made.body is not done.body
        return Processed(made.body, done.identity, done.line)

    def _projected(
        self, done: Processed, policy: Policy, fields: RequestFields | None
    ) -> Projection:
        """The projection of a body."""
        body, identity = done.body, done.identity
        key = None if identity is None else line_of(identity, fields or read_fields(body))
        previous = None if key is None else self._known.get(key)
        made = project_body(body, policy=policy, previous=previous)
        if made.body is body and (reason := made.report.untouched):
            return Projection(body, reason_of(reason))
        decisions = made.decisions
        if previous is not None and decisions.messages < previous.messages:
            # The client took back what it had said, and decisions about what is gone say nothing of what came since.
            made = project_body(body, policy=policy)
            decisions = made.decisions
        if key is not None and identity is not None and not identity.is_side_request:
            evicted = self._known.set(key, decisions)
            self._evictions.add(evicted)
            return Projection(made.body, evicted=evicted)
        return Projection(made.body)


def line_of(identity: RequestIdentity, fields: RequestFields) -> LineKey | None:
    """Return the key of the decisions about a request; ``None`` if it doesn't hold its conversation's beginning."""
    start = opening(fields)
    return (identity.tenant, identity.conversation, start) if start else None


def weight(decisions: Decisions) -> int:
    """The number of single decisions, plus four for the conversation itself."""
    return 4 + len(decisions.made) + len(decisions.dropped) + len(decisions.mends)


def reason_of(untouched: str) -> str:
    """Why a body was left as it is, as one of a few words to count under."""
    for start in ("compressed", "not JSON", "nested too deep", "no messages"):
        if untouched.startswith(start):
            return start.replace(" ", "_")
    return "odd_messages"
