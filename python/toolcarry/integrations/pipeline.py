"""The request pipeline, the same for every host: restore results and tools, switch the conversation, project.

A failure here never fails the request. If a step fails or takes too long, the request continues as that step received
it; this is counted, and logged without any text of the conversation.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from toolcarry import _backend
from toolcarry._util.ttl_cache import SlidingCache
from toolcarry._util.workers import LARGE, in_worker, in_worker_if, owned_by
from toolcarry.api.context_usage import context_usage, usage_of, window_of
from toolcarry.api.tokens import estimate_tokens
from toolcarry.errors import InputError
from toolcarry.integrations.identity import ModelRequest, RequestIdentity, bounded
from toolcarry.integrations.lines import GuessedConversations
from toolcarry.integrations.projections import Forwarded, Projection, Projections
from toolcarry.integrations.tools import give_tools
from toolcarry.metrics import BYTES_PER_TOKEN
from toolcarry.redact.logs import get_logger
from toolcarry.switch.request_fields import RequestFields, read_fields
from toolcarry.tool_cache import ToolCache
from toolcarry.types.destinations import Destination
from toolcarry.types.policy import ProjectPolicy, check_type
from toolcarry.types.prices import PriceModel
from toolcarry.types.results import ContextUsage
from toolcarry.types.values import check_limit, check_seconds

if TYPE_CHECKING:  # imports apsw
    from toolcarry.integrations.recorder import Exchange, Recorder

__all__ = ["Processed", "RequestPipeline", "Transformed", "Transformer"]

logger = get_logger("toolcarry.integrations")

T = TypeVar("T")

SKIPPED: Final = {
    "no_tenant": "it has no key that identifies a tenant, so its tools are not kept; [sessions] single_user = true "
    "treats all requests as coming from one user",
    "no_identity": "no key, conversation or model identifies it, so nothing is remembered about it: no backend is "
    "switched, and the prompt cache may break; [sessions] single_user = true treats all requests as coming from one user",
    "not_json_type": "its content-type is not JSON",
    "encoded": "its body is compressed",
    "compressed": "its body is compressed",
    "signed": "its body is signed, so a change would invalidate the signature",
    "too_large": "its body is larger than max_body_bytes",
    "not_JSON": "its body is not JSON",
    "nested_too_deep": "its body is nested too deep",
    "odd_messages": "its messages have no known structure",
    "not_projected": "its messages are not in a provider's format",
}
"""The reasons for skipping a request or a step, in words for the log."""
MEDIA: Final = b"base64"
"""A word in the bytes of every body that holds an image or a file."""
RECORDED: Final = ("recorded", "commits", "restored", "failed", "paused", "dropped", "late")
"""The counts of a recorder that are shown from the start."""
MOST_CLIENTS: Final = 4_096
DAY: Final = 86_400.0


class Transformed(Protocol):
    """The outcome of a ``Transformer``, which gets ``line`` back when the request was answered."""

    @property
    def body(self) -> bytes:
        """The body; the same object if nothing changed."""

    @property
    def is_switched(self) -> bool:
        """True if the body was changed."""

    @property
    def line(self) -> str:
        """The branch of the conversation that the request belongs to."""


class Transformer(Protocol):
    """The methods of ``toolcarry.switch.SummarizeTransformer`` that the pipeline uses.

    The next request of a conversation may arrive as soon as ``aanswered`` awaits something for the first time;
    everything that this request needs should be stored by then.
    """

    async def atransform_body(
        self,
        body: bytes,
        *,
        conversation: str,
        backend: str,
        tenant: str = "",
        fields: RequestFields | None = None,
        is_full: bool = False,
    ) -> Transformed:
        """Return the body for a backend; ``fields`` are the members that were read already.

        With ``is_full``, the conversation gets a new beginning even if the backend is the same.
        """

    async def aanswered(
        self, conversation: str, backend: str, *, tenant: str = "", line: str = ""
    ) -> None:
        """Record that a backend has answered."""


@dataclass(frozen=True, slots=True)
class Processed:
    """A processed request: its ``body``, its owner, and the line of its conversation to report its answer for.

    ``model`` is the requested model, ``usage`` the usage of its window if that is known, and ``counts`` the figures of
    the request by the names of ``toolcarry.metrics``. ``exchange`` receives the answer if it is recorded. ``restored``
    is the request with results from the history, before any other step; empty if none were missing. ``names`` maps the
    tool names in the body to the names that the client used.
    """

    body: bytes
    identity: RequestIdentity | None = None
    line: str = ""
    model: str = field(default="", compare=False)
    usage: ContextUsage | None = field(default=None, compare=False)
    counts: Mapping[str, int] = field(default_factory=dict, compare=False)
    exchange: Exchange | None = field(default=None, compare=False)
    restored: bytes = field(default=b"", compare=False)
    names: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def is_to_be_told(self) -> bool:
        """True if a successful response counts as an answer of the backend."""
        return self.identity is not None and not self.identity.is_side_request


class RequestPipeline:
    """Processes requests before they go to a backend.

    ``recorder`` restores results from the history, ``tool_cache`` restores the tools of requests without any,
    ``transformer`` moves conversations from one backend to another, and the policy ``projection`` makes requests
    smaller and, with ``repair``, valid. Any of them may be ``None``.

    The decisions of each conversation's last projection are kept for ``ttl`` seconds, so that the provider's prompt
    cache stays valid; at most ``max_decisions`` decisions about single results are kept in total. Guessed conversations
    that begin alike are distinguished as soon as they differ, and so are two continuations of one conversation. Without
    a tenant or a conversation, nothing is kept and nothing is switched. Each step may take ``timeout`` seconds. For
    bodies of 64 KiB and more, a worker thread does the work that grows with the body. A body of more than a million
    values, or 100,000 arrays and objects, is passed on unread, since decoding it would stop all threads for seconds.

    ``destinations`` are those of the backends that requests are projected for, if they are others than the policy's.

    ``prices`` are price models by the beginning of a model's name, or ``"*"``, which come before the built-in ones.

    The window of a model is the one that is known, or ``window_tokens``, by default the projection's. A model whose window
    is unknown is logged once: its responses have no usage, and ``compact_at`` does nothing.

    A request that takes the share ``compact_at`` of its model's window gets a new beginning from ``transformer``, as
    after a switch of the backend, and later requests get the same one; 0 turns this off.

    ``counts`` is a copy. It has the number of requests that were ``processed``, ``tools_restored``, ``switched``, ``compacted``,
    ``projected``, and ``changed`` by any step; ``skipped.<reason>``; ``failed_open.<part>``; ``bytes_before`` and
    ``bytes_after``; ``evicted``, the conversations whose decisions were evicted to make room; the counts of the recorder as
    ``history.<name>``; and the names of ``toolcarry.metrics``. The reason for a skipped step is logged once a day for each client. A pipeline belongs to one
    event loop.

    >>> pipeline = RequestPipeline(projection=ProjectPolicy(max_result_chars=2_000))
    >>> asyncio.run(pipeline.process(ModelRequest(b'{"messages": []}'))).body
    b'{"messages": []}'
    """

    def __init__(
        self,
        *,
        transformer: Transformer | None = None,
        projection: ProjectPolicy | None = None,
        tool_cache: ToolCache | None = None,
        recorder: Recorder | None = None,
        max_decisions: int = 1_000_000,
        ttl: float = 86_400.0,
        timeout: float = 40.0,
        compact_at: float = 0.0,
        window_tokens: int | None = None,
        destinations: Mapping[str, str | Destination] = MappingProxyType({}),
        prices: Mapping[str, PriceModel] = MappingProxyType({}),
    ) -> None:
        if projection is not None:
            check_type("projection", projection, ProjectPolicy)
        check_limit("max_decisions", max_decisions)
        check_seconds("timeout", timeout)
        check_limit("window_tokens", window_tokens, optional=True)
        self._transformer = transformer
        self.limits_results = projection is not None and projection.limits_results
        """True if a part of any result may be left out when it is first sent."""
        self._projections: Projections | None = None
        if projection is not None:
            self._projections = Projections(projection, max_decisions, ttl, destinations, prices)
        self._tool_cache = tool_cache
        self._recorder = recorder
        self.timeout: Final = timeout
        self._compact_at = compact_at
        if window_tokens is None and projection is not None:
            window_tokens = projection.window_tokens
        self._window = window_tokens
        self._guesses = GuessedConversations(ttl)
        self._told = SlidingCache[tuple[str, str], bool](MOST_CLIENTS, DAY)
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> Counter[str]:
        """The counts of this pipeline and of its recorder so far."""
        if self._recorder is None:
            return Counter(self._counts)
        history = self._recorder.counts
        named = {f"history.{name}": history[name] for name in (*RECORDED, *history)}
        cut = {"canonical_writes_with_truncation_marker": self._recorder.flagged.total()}
        return Counter({**cut, **named, **self._counts})

    def resume(self, before: RequestPipeline) -> None:
        """Continue the counts of the pipeline before this one."""
        self._counts.update(before._counts)

    @property
    def has_work(self) -> bool:
        """True if any step is configured that could change or record a request."""
        parts = (self._tool_cache, self._transformer, self._projections, self._recorder)
        return any(part is not None for part in parts)

    async def process(self, request: ModelRequest) -> Processed:
        """Return the request to send to the backend; its ``body`` is the same object if nothing changes.

        Raises only exceptions that are not an ``Exception``, such as the cancellation of its task.
        """
        identity = request.identity
        with owned_by(identity.tenant if isinstance(identity, RequestIdentity) else ""):
            return await self._processed(request)

    async def _in_time(self, step: Awaitable[T]) -> T:
        """Return the outcome of a step. Raises ``TimeoutError`` if it takes longer than ``timeout``."""
        async with asyncio.timeout(self.timeout):
            return await step

    async def _processed(self, request: ModelRequest) -> Processed:
        body, identity, fields = request.body, request.identity, request.fields
        has_conversation = (
            isinstance(identity, RequestIdentity) and identity.tenant and identity.conversation
        )
        done = Processed(body, identity if has_conversation else None)
        is_too_fine = True
        with self._fail_open("reading"):
            is_too_fine = await self._in_time(self._is_too_fine(request))
        if is_too_fine:
            self.skip("too_many_values", client_of(identity))
            self._count_request(len(body), len(body))
            return done
        if done.identity is not None:
            with self._fail_open("conversation"):
                done = Processed(body, await self._in_time(self._named(done.identity, request)))
        elif self._transformer is not None or self._projections is not None:
            self.skip("no_identity", client_of(identity))
        if self._recorder is not None and (whose := done.identity) is not None:
            with self._fail_open("history"):
                deadline = self._recorder.deadline()
                exchange = await self._recorder.abegin(whose, request)
                done = replace(done, exchange=exchange)
                if exchange is not None and exchange.mode == "on":
                    request = await self._in_time(
                        self._hydrated(self._recorder, whose, request, deadline)
                    )
                    fields = request.fields
                    if request.body is not body:
                        logger.info("restored results of a request from the history")
                        done = replace(done, body=request.body, restored=request.body)
        if self._tool_cache is not None and request.style is not None:
            with self._fail_open("tools"):
                given = await self._in_time(self._with_tools(self._tool_cache, request))
                done = replace(done, body=given)
        said = done.body  # with the messages that were read
        tokens: int | None = None
        if self._transformer is not None:
            with self._fail_open("switch"):
                done = await self._in_time(self._switch(done, self._transformer, fields))
        whole = done.body
        if self._projections is not None:
            with self._fail_open("projection"):
                known = fields if done.body is said else None
                backend = "" if identity is None else identity.backend
                made = await self._in_time(self._project(done, self._projections, known, backend))
                done = replace(done, body=made.body, counts=made.counts, names=made.names)
                tokens = made.tokens
        if done.exchange is not None:
            done.exchange.forwarded = Forwarded(whole, done.body, done.counts)
        self._counts["changed"] += done.body is not body
        self._count_request(len(body), len(done.body))
        estimated = {
            "tokens_in": len(body) // BYTES_PER_TOKEN,
            "tokens_out": len(done.body) // BYTES_PER_TOKEN,
        }
        self._counts.update(estimated)
        done = replace(done, counts={**done.counts, **estimated})
        if fields is not None and isinstance(fields.model, str):
            done = replace(done, model=bounded(fields.model))
            with self._fail_open("usage"):
                done = replace(done, usage=await self._in_time(self._usage_of(done, tokens)))
        return done

    def _count_request(self, before: int, after: int) -> None:
        """Count a request that was processed, with its bytes before and after."""
        self._counts.update(processed=1, bytes_before=before, bytes_after=after)

    async def answered(self, done: Processed) -> None:
        """Record that the backend has answered a request completely and successfully. Raises as ``process`` does."""
        identity = done.identity
        if self._transformer is None or identity is None or identity.is_side_request:
            return
        if not identity.backend:
            return
        with self._fail_open("answered"):
            await self._in_time(
                self._transformer.aanswered(
                    identity.conversation, identity.backend, tenant=identity.tenant, line=done.line
                )
            )

    @contextmanager
    def _fail_open(self, part: str) -> Iterator[None]:
        """Skip the rest of a step that fails."""
        try:
            yield
        except BaseException as error:  # noqa: BLE001 - counted and logged, unless it is a cancellation
            self.fail_open(part, error)

    def fail_open(self, part: str, error: BaseException) -> None:
        """Count and log that a step failed; raise the error again if it ends the task or the process.

        A panic of the Rust core is a failure, although it is not an ``Exception``.
        """
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise error
        self._counts["fail_open"] += 1
        self._counts[f"failed_open.{part}"] += 1
        logger.warning(
            "%s failed with %s: the request continues without it", part, type(error).__name__
        )

    def skip(self, reason: str, client: str = "") -> None:
        """Count a skipped request or step, and log the reason once a day for each client."""
        self._counts[f"skipped.{reason}"] += 1
        if (words := SKIPPED.get(reason)) is not None:
            name = client[:80] or "a client without a name"
            self._log_once((client, reason), "skipped a request of %r: %s", name, words)

    def _log_once(self, key: tuple[str, str], message: str, *arguments: str) -> None:
        """Log a warning once a day for each key."""
        if len(self._told) < MOST_CLIENTS and self._told.get(key) is None:
            self._told.set(key, value=True)
            logger.warning(message, *arguments)

    async def _named(self, identity: RequestIdentity, request: ModelRequest) -> RequestIdentity:
        """Return the identity; a guessed conversation gets the name of the one that this request continues."""
        if not identity.is_guessed:
            return identity
        is_large = len(request.body) >= LARGE
        read = request.fields
        if read is None:
            read = await in_worker_if(is_large, read_fields, request.body)
        return await in_worker_if(is_large, self._guesses.named, identity, read.messages)

    async def _hydrated(
        self,
        recorder: Recorder,
        identity: RequestIdentity,
        request: ModelRequest,
        deadline: float,
    ) -> ModelRequest:
        """Return the request with results restored from the history, which may have to be read first."""
        is_small = len(request.body) < LARGE
        if is_small and not recorder.may_hydrate(identity, request.body, request.fields):
            return request
        body = await recorder.ahydrated(identity, request.body, request.fields, deadline=deadline)
        if body is request.body:
            return request
        is_large = len(body) >= LARGE
        return replace(request, body=body, fields=await in_worker_if(is_large, read_fields, body))

    async def _is_too_fine(self, request: ModelRequest) -> bool:
        """Return true if a body has too many values to be decoded."""
        if request.fields is not None:
            return request.fields.has_many_values
        body = request.body
        return await in_worker_if(len(body) >= LARGE, _backend.kernels.has_many_values, body)

    async def _with_tools(self, cache: ToolCache, request: ModelRequest) -> bytes:
        if request.identity is None or not request.identity.tenant:
            self.skip("no_tenant", client_of(request.identity))
            return request.body
        is_large = len(request.body) >= LARGE
        read = request.fields or await in_worker_if(is_large, read_fields, request.body)
        given = await give_tools(cache, replace(request, fields=read))
        self._counts["tools_restored"] += given is not request.body
        return given

    async def _switch(
        self, done: Processed, transformer: Transformer, fields: RequestFields | None
    ) -> Processed:
        identity = done.identity
        if identity is None:
            return done
        if not identity.backend:
            self.skip("no_identity", identity.client)
            return done
        asked: dict[str, Any] = {
            "conversation": identity.conversation,
            "backend": identity.backend,
            "tenant": identity.tenant,
            "fields": fields,
        }
        made = await transformer.atransform_body(done.body, **asked)
        if self._is_full(made.body, fields) and not identity.is_side_request:
            compacted = await transformer.atransform_body(done.body, **asked, is_full=True)
            if len(compacted.body) < len(made.body):
                made = compacted
                self._counts["compacted"] += 1
        if not isinstance(made.body, bytes):
            raise InputError(f"the body must be bytes, not {type(made.body).__name__}")
        self._counts["switched"] += made.is_switched
        return replace(done, body=made.body, line=made.line)

    def _is_full(self, body: bytes, fields: RequestFields | None) -> bool:
        """Return true if a body takes ``compact_at`` of its model's window, estimated by its bytes."""
        model = fields.model if self._compact_at and fields is not None else None
        window = self._window_of(model) if isinstance(model, str) else None
        if window is None or MEDIA in body:  # whose size says nothing about its tokens
            return False
        factor = estimate_tokens("", model=str(model)).factor
        return len(body) / BYTES_PER_TOKEN * factor >= self._compact_at * window

    async def _project(
        self,
        done: Processed,
        projections: Projections,
        fields: RequestFields | None,
        backend: str,
    ) -> Projection:
        is_large = len(done.body) >= LARGE
        made = await in_worker_if(
            is_large, projections.project, done.body, done.identity, fields, backend
        )
        if made.untouched:
            self.skip(made.untouched, client_of(done.identity))
        if made.evicted:
            self._counts["evicted"] += made.evicted
        self._counts.update(made.counts)
        self._counts["projected"] += made.body is not done.body
        return made

    async def _usage_of(self, done: Processed, tokens: int | None) -> ContextUsage | None:
        """Return how much of the model's window a request uses; ``None`` if the window is not known. ``tokens`` is the
        projection's count, if there is one. Otherwise they are estimated from bytes, since counting takes longer than
        the projection.
        """
        body, model = done.body, done.model
        window = self._window_of(model)
        if window is None:
            if self._told.get(("model", model)) is None:
                await in_worker(self._log_unknown, model)  # redaction takes too long for the loop
            return None
        scale = estimate_tokens("", model=model)
        encoding = self._projections.policy.encoding if self._projections else ""
        if tokens is not None and encoding == scale.encoding:
            used, exact = ceil(tokens * scale.factor), scale.exact
        else:
            used = await in_worker_if(len(body) >= LARGE, estimate_used, body, model, window)
            exact = False
        return usage_of(used, window, exact=exact, shortens_at=self._shortens_at(window))

    def _shortens_at(self, window: int) -> float | None:
        """Return the share of a window from which on the projection shortens older results; ``None`` if it does not."""
        policy = self._projections.policy if self._projections is not None else None
        if policy is None or not window:
            return None
        most = policy.tokens_of("max_request_tokens")
        return None if most is None or most > window else round(most / window, 2)

    def _window_of(self, model: str) -> int | None:
        """Return the window of a model; ``None`` if it is not known."""
        return window_of(model) if self._window is None else self._window

    def _log_unknown(self, model: str) -> None:
        """Log once that the window of a model is not known."""
        what = "compact_at does nothing, and " if self._compact_at else ""
        self._log_once(
            ("model", model),
            "the context window of the model %r is not known, so %sits responses have no x-toolcarry-context headers; "
            "[projection] window_tokens sets a window",
            model[:80],
            what,
        )


def estimate_used(body: bytes, model: str, window: int) -> int:
    """Return the tokens that a body takes, by its size if this says something about them."""
    if MEDIA in body:
        return context_usage(body, limit=window, model=model).used
    factor = estimate_tokens("", model=model).factor
    return ceil(len(body) / BYTES_PER_TOKEN * factor)


def client_of(identity: RequestIdentity | None) -> str:
    """Return the client's name for itself; empty if it is not known."""
    return identity.client if isinstance(identity, RequestIdentity) else ""
