"""``ToolCarryMiddleware``: the request pipeline in front of any ASGI application that takes model requests.

Responses are passed on message by message. Only requests that could be changed are read, up to a size limit.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from io import BytesIO
from typing import Final, NamedTuple, TypeAlias

from toolcarry._input.codings import readable_codings
from toolcarry._util.workers import LARGE, in_worker_if, owned_by
from toolcarry.errors import ConfigError
from toolcarry.integrations.answer_names import AnswerNames
from toolcarry.integrations.identity import (
    MOST_PATH,
    Identification,
    Identify,
    ModelRequest,
    RequestIdentity,
    RequestView,
    address_of,
    bounded,
    tenant_of,
)
from toolcarry.integrations.pipeline import Processed, RequestPipeline
from toolcarry.integrations.response import Message, Receive, Replay, Scope, Send, WatchedResponse
from toolcarry.metrics import attributes
from toolcarry.types.values import check_limit

__all__ = ["ToolCarryMiddleware", "is_model_path"]

ASGIApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers: TypeAlias = list[tuple[bytes, bytes]]

MODEL_PATH: Final = re.compile(
    r"/(?:v1/messages(?:/count_tokens)?|chat/completions|(?:v1|openai)/responses(?:/input_tokens)?|api/chat"
    r"|models/[^/]+:(?:generateContent|streamGenerateContent|countTokens)|model/.+/converse(?:-stream)?)/?\Z"
)
JSON_TYPE: Final = re.compile(r"application/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)", re.IGNORECASE)
IDENTIFY: Final = Identification()
SENT: Final = "toolcarry.sent"
"""The key of the scope under which the application finds the ``SentRequest``."""
ASKED_MODEL: Final = "toolcarry.asked_model"
"""The key of the scope under which a host puts the model that the client named, if it has changed that in the body."""
SIGNATURES: Final = frozenset(
    ("content-digest", "content-md5", "digest", "signature", "x-amz-content-sha256")
)
"""Headers with a hash of the body: if the body changed, the request would be refused."""


def is_model_path(path: str) -> bool:
    """Return true if requests to a path hold a conversation, wherever the API is mounted.

    >>> [is_model_path(path) for path in ("/v1/messages", "/openai/v1/chat/completions", "/v1/models")]
    [True, True, False]
    """
    return MODEL_PATH.search(path[-MOST_PATH:]) is not None


class SentRequest(NamedTuple):
    """The request as the client sent it, with its results restored, and its identity, for the wrapped application."""

    body: bytes
    identity: RequestIdentity | None


class ToolCarryMiddleware:
    """Puts a ``RequestPipeline`` in front of an ASGI application. It never makes a request fail.

    ``identify`` returns the identity of a request; for bodies of 64 KiB and more it is called in a worker thread. Only
    ``POST`` requests with a JSON body are read, and only if ``matches`` is true for their path. Compressed and signed
    bodies are passed on unchanged. Bodies of more than ``max_body_bytes`` are passed on unchanged too, or with
    ``refuse_large`` answered with status 413. If the body was changed, the application finds the ``SentRequest`` in the
    scope; with ``tells_all``, it does for every body that was read.

    If the window of the model is known, the response says how much of it the request takes, in ``x-toolcarry-context-``
    headers: ``used``, ``limit``, ``remaining``, ``level``, ``label`` and ``exact``. The current span of OpenTelemetry, if
    there is one, gets the attributes of ``toolcarry.metrics.attributes``.

    The pipeline is notified when a response has ended successfully. ``pipeline`` and ``identify`` may be replaced at any
    time; a running request keeps the pipeline that it started with.

    >>> async def app(scope, receive, send):
    ...     await send({"type": "http.response.start", "status": 200, "headers": []})
    ...     await send({"type": "http.response.body", "body": b"{}"})
    >>> from toolcarry import ProjectPolicy
    >>> application = ToolCarryMiddleware(app, RequestPipeline(projection=ProjectPolicy(repair=True)))
    """

    def __init__(
        self,
        app: ASGIApp,
        pipeline: RequestPipeline,
        *,
        identify: Identify = IDENTIFY,
        matches: Callable[[str], bool] = is_model_path,
        max_body_bytes: int = 32 * 1024 * 1024,
        refuse_large: bool = False,
        tells_all: bool = False,
    ) -> None:
        check_limit("max_body_bytes", max_body_bytes)
        for name, function in (("identify", identify), ("matches", matches)):
            if not callable(function):
                raise ConfigError(f"{name}: {function!r:.80} is not allowed; allowed: a function")
        self.app = app
        self.pipeline = pipeline
        self.identify = identify
        self._matches = matches
        self._max_body_bytes = max_body_bytes
        self._refuses_large = refuse_large
        self._tells_all = tells_all

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, processed if it is for a model; anything else unchanged."""
        pipeline = self.pipeline
        if scope["type"] != "http" or scope["method"] != "POST" or not pipeline.has_work:
            return await self.app(scope, receive, send)
        try:
            is_ours = self._matches(scope["path"])
            headers = headers_of(scope) if is_ours else {}
            reason = reason_to_skip(headers, self._max_body_bytes)
        except Exception as error:  # noqa: BLE001 - counted and logged
            pipeline.fail_open("matches", error)
            is_ours = False
        if not is_ours:
            return await self.app(scope, receive, send)
        read = Read(b"", reason, [])
        if not reason:
            read = await read_body(receive, self._max_body_bytes)
        if read.reason:
            pipeline.skip(read.reason, bounded(headers.get("user-agent")))
            if read.reason == "too_large" and self._refuses_large:
                return await refuse(send, self._max_body_bytes)
            return await self.app(scope, Replay(read.messages, receive), send)
        body = read.body
        request = RequestView(scope["path"], headers, body, scope)
        with owned_by(tenant_of(request) or address_of(request)):
            return await self._process(request, scope, receive, send)

    async def _process(
        self, request: RequestView, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Process a request that was read, and pass it on."""
        pipeline, body = self.pipeline, request.body
        try:
            async with asyncio.timeout(pipeline.timeout):
                identified = await in_worker_if(len(body) >= LARGE, self._identified, request)
        except Exception as error:  # noqa: BLE001 - counted and logged
            pipeline.fail_open("identify", error)
            identified = ModelRequest(body, style=request.style)
        done = await pipeline.process(identified)
        if done.exchange is not None or done.names:  # the answer has to be read
            scope = {**scope, "headers": accepting(scope["headers"], is_plain=bool(done.names))}
        if done.body is not body or self._tells_all:
            scope = {**scope, SENT: SentRequest(done.restored or body, done.identity)}
        if done.body is not body:
            scope["headers"] = with_length(scope["headers"], len(done.body))
        send = self._with_usage(done, send)
        replay = Replay([requested(done.body)], receive)
        if not done.is_to_be_told:
            return await self.app(scope, replay, self._with_names(done, send))
        exchange = done.exchange
        answer = WatchedResponse(send, replay, lambda: pipeline.answered(done), exchange)
        try:
            return await self.app(scope, replay, self._with_names(done, answer.send))
        finally:
            if exchange is not None:
                exchange.write()

    def _with_names(self, done: Processed, send: Send) -> Send:
        """Give the tools in the answer the names that the client knows."""
        return AnswerNames(send, done.names).send if done.names else send

    def _with_usage(self, done: Processed, send: Send) -> Send:
        """Add the figures of a request to the current span and to the headers of its response."""
        trace = sys.modules.get("opentelemetry.trace")  # imported by a host that uses it
        if trace is not None and (span := trace.get_current_span()).is_recording():
            conversation = "" if done.identity is None else done.identity.conversation
            span.set_attributes(
                attributes(done.counts, conversation=conversation, model=done.model)
            )
        usage = done.usage
        if usage is None:
            return send
        values = {**usage.to_dict(), "exact": "true" if usage.exact else "false"}
        headers = [
            (f"x-toolcarry-context-{name}".encode(), str(value).encode())
            for name, value in values.items()
        ]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *headers]}
            await send(message)

        return send_with_headers

    def _identified(self, request: RequestView) -> ModelRequest:
        """Return the request with its identity, and with the fields that were read to find it."""
        identity = self.identify(request)
        fields = None if identity is None else request.fields
        model = request.scope.get(ASKED_MODEL, "")
        return ModelRequest(request.body, identity, fields, request.style, model)


def headers_of(scope: Scope) -> dict[str, str]:
    """Return the headers of a request by lower-case names; if a header is repeated, the first one counts."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    return headers


def reason_to_skip(headers: dict[str, str], most: int) -> str:
    """Return the reason why a request is not read, judging by its headers; empty if it is read."""
    if not JSON_TYPE.match(headers.get("content-type", "").strip()):
        return "not_json_type"
    if headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
        return "encoded"
    is_signed = headers.get("authorization", "").startswith("AWS4-")
    if is_signed or not SIGNATURES.isdisjoint(headers):
        return "signed"
    length = headers.get("content-length", "")
    if length.isdecimal() and len(length) < 20 and int(length) > most:
        return "too_large"
    return ""


class Read(NamedTuple):
    """The received part of a request: its ``body``, or the reason not to process it, and the ``messages`` that replay
    it to the application, with the received body as one message.
    """

    body: bytes
    reason: str
    messages: list[Message]


async def read_body(receive: Receive, most: int) -> Read:
    """Read the body of a request, which may arrive a byte at a time."""
    read = BytesIO()  # releases its buffer without a copy
    while True:
        message = await receive()
        if message["type"] != "http.request":
            before = [requested(read.getvalue(), more_body=True)] if read.tell() else []
            return Read(b"", "disconnected", [*before, message])
        part, has_more = message.get("body", b""), message.get("more_body", False)
        is_whole = not has_more and not read.tell()
        if not is_whole:
            read.write(part)
        if not has_more or read.tell() > most:
            break
    body = bytes(part) if is_whole else read.getvalue()
    reason = "too_large" if len(body) > most else ""
    return Read(body, reason, [requested(body, more_body=has_more)])


def requested(body: bytes, *, more_body: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more_body}


def with_length(headers: Headers, length: int) -> Headers:
    """Return the headers for a body of another length that is sent as one message; other headers stay unchanged.

    >>> with_length([(b"Host", b"a"), (b"content-length", b"10"), (b"accept", b"*/*")], 7)
    [(b'Host', b'a'), (b'content-length', b'7'), (b'accept', b'*/*')]
    """
    new: Headers = []
    written = (b"content-length", str(length).encode())
    for name, value in headers:
        key = name.lower()
        if key == b"content-length" and written not in new:
            new.append(written)
        elif key not in (b"content-length", b"transfer-encoding"):
            new.append((name, value))
    return new if written in new else [*new, written]


def accepting(headers: Headers, *, is_plain: bool) -> Headers:
    """Return the headers of a request whose answer has a coding that can be read here; none with ``is_plain``.

    >>> accepting([(b"accept-encoding", b"gzip, snappy"), (b"accept", b"*/*")], is_plain=False)
    [(b'accept', b'*/*'), (b'accept-encoding', b'gzip')]
    """
    name = b"accept-encoding"
    accepted = [value.decode("latin-1") for key, value in headers if key.lower() == name]
    if not accepted and not is_plain:
        return headers
    value = "identity" if is_plain else readable_codings(", ".join(accepted))
    kept = [header for header in headers if header[0].lower() != name]
    return [*kept, (name, value.encode("latin-1"))]


async def refuse(send: Send, most: int) -> None:
    """Send the answer for a body that is too large."""
    message = f"the body is larger than {most:,} bytes"
    text = json.dumps({"type": "error", "error": {"type": "request_too_large", "message": message}})
    body = text.encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
