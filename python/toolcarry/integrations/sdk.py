"""Transports that record the requests and answers of an OpenAI or Anthropic SDK client in the canonical history.

They go between the client and the network, so that every method of the SDK is recorded: sync and async, streaming and
not. The client's HTTP library may be ``httpx`` or ``httpx2``; the transport inside comes from it:

    recorder = Recorder("history.db")
    inside = httpx2.HTTPTransport()
    http = httpx2.Client(transport=RecordingTransport(inside, recorder, conversation="c1"))
    client = anthropic.Anthropic(http_client=http)

Requests to paths that don't belong to models are passed on unchanged. Recording never makes a request fail.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final, Protocol, Self

from toolcarry import metrics
from toolcarry._input.codings import codings_of
from toolcarry.integrations.asgi import is_model_path
from toolcarry.integrations.identity import (
    Identification,
    ModelRequest,
    RequestIdentity,
    RequestView,
    bounded,
)
from toolcarry.integrations.lines import GuessedConversations
from toolcarry.integrations.recorder import Exchange, Recorder
from toolcarry.redact.logs import get_logger

__all__ = ["AsyncRecordingTransport", "RecordingTransport"]

logger = get_logger("toolcarry.integrations")

TTL: Final = 86_400.0
"""Seconds for which guessed conversations are distinguished."""


class Transport(Protocol):
    """The part of an HTTP library's transport that is used."""

    def handle_request(self, request: Any) -> Any:
        """Send a request and return the response."""

    def close(self) -> None:
        """Close the connections."""


class AsyncTransport(Protocol):
    """The part of an HTTP library's asynchronous transport that is used."""

    async def handle_async_request(self, request: Any) -> Any:
        """Send a request and return the response."""

    async def aclose(self) -> None:
        """Close the connections."""


class Recording:
    """The part that both transports share: the identity of a request, and the request to send."""

    def __init__(self, recorder: Recorder, conversation: str, tenant: str) -> None:
        self._recorder = recorder
        self._conversation = bounded(conversation)
        self._identify = Identification(tenant=tenant)
        self._guesses = GuessedConversations(TTL)

    def _whose(self, request: Any) -> tuple[RequestIdentity, ModelRequest] | None:
        """Return the identity of a request to a model, and the request; ``None`` for any other."""
        path = request.url.path
        if request.method != "POST" or not is_model_path(path):
            return None
        headers = {name.lower(): value for name, value in request.headers.items()}
        view = RequestView(path, headers, request.content)
        identity = self._identify(view)
        if identity is None:
            return None
        if self._conversation:
            identity = RequestIdentity(
                identity.tenant, self._conversation, identity.backend, identity.is_side_request
            )
        elif identity.is_guessed:
            identity = self._guesses.named(identity, view.fields.messages)
        return identity, ModelRequest(view.body, identity, view.fields)

    def _failed(self, error: Exception) -> None:
        """Count and log that a request is sent without being recorded."""
        metrics.count("fail_open")
        logger.warning("recording failed with %s: the request is sent anyway", type(error).__name__)


class RecordingTransport(Recording):
    """A transport for ``httpx.Client`` or ``httpx2.Client``: it sends requests through ``transport``, and records them.

    Requests belong to ``tenant``, and to ``conversation`` if given, else to the conversation that a header or the body
    names, else to the one with the same first messages. Closing it closes ``transport``, but not the recorder.
    """

    def __init__(
        self,
        transport: Transport,
        recorder: Recorder,
        *,
        conversation: str = "",
        tenant: str = "local",
    ) -> None:
        super().__init__(recorder, conversation, tenant)
        self._transport = transport

    def handle_request(self, request: Any) -> Any:
        """Send a request and return the response, which is recorded as it is read."""
        exchange: Exchange | None = None
        try:
            if (found := self._whose(request)) is not None:
                identity, asked = found
                exchange = self._recorder.begin(identity, asked)
                if exchange is not None and exchange.mode == "on":
                    body = self._recorder.hydrated(identity, asked.body, asked.fields)
                    request = with_body(request, asked.body, body)
        except Exception as error:  # noqa: BLE001 - counted and logged
            self._failed(error)
        if exchange is None:
            return self._transport.handle_request(request)
        try:
            response = self._transport.handle_request(request)
        except BaseException:
            exchange.write()
            raise
        exchange.start(
            response.status_code, codings_of(response.headers.get("content-encoding", ""))
        )
        response.stream = watched(response, "SyncByteStream", WatchedStream)(response, exchange)
        return response

    def close(self) -> None:
        """Close the transport inside."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncRecordingTransport(Recording):
    """``RecordingTransport`` for ``httpx.AsyncClient`` or ``httpx2.AsyncClient``."""

    def __init__(
        self,
        transport: AsyncTransport,
        recorder: Recorder,
        *,
        conversation: str = "",
        tenant: str = "local",
    ) -> None:
        super().__init__(recorder, conversation, tenant)
        self._transport = transport

    async def handle_async_request(self, request: Any) -> Any:
        """Send a request and return the response, which is recorded as it is read."""
        exchange: Exchange | None = None
        try:
            if (found := self._whose(request)) is not None:
                identity, asked = found
                deadline = self._recorder.deadline()
                exchange = await self._recorder.abegin(identity, asked)
                if exchange is not None and exchange.mode == "on":
                    body = await self._recorder.ahydrated(
                        identity, asked.body, asked.fields, deadline=deadline
                    )
                    request = with_body(request, asked.body, body)
        except Exception as error:  # noqa: BLE001 - counted and logged
            self._failed(error)
        if exchange is None:
            return await self._transport.handle_async_request(request)
        try:
            response = await self._transport.handle_async_request(request)
        except BaseException:
            exchange.write()
            raise
        exchange.start(
            response.status_code, codings_of(response.headers.get("content-encoding", ""))
        )
        stream = watched(response, "AsyncByteStream", AsyncWatchedStream)
        response.stream = stream(response, exchange)
        return response

    async def aclose(self) -> None:
        """Close the transport inside."""
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def with_body(request: Any, before: bytes, body: bytes) -> Any:
    """Return the request with this body and its length; the same object if the body is unchanged."""
    if body is before:
        return request
    dropped = ("content-length", "transfer-encoding")
    headers = [
        (name, value)
        for name, value in request.headers.raw
        if name.decode("latin-1").lower() not in dropped
    ]
    return type(request)(
        request.method, request.url, headers=headers, content=body, extensions=request.extensions
    )


class WatchedStream:
    """The body of a response, passed to the recorder as it is read. Closing it also ends the recording."""

    def __init__(self, response: Any, exchange: Exchange) -> None:
        self._stream = response.stream
        self._exchange = exchange

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            self._exchange.add(chunk)
            yield chunk
        self._exchange.write()

    def close(self) -> None:
        """Close the stream inside."""
        self._exchange.write()
        self._stream.close()


class AsyncWatchedStream:
    """``WatchedStream`` for an asynchronous response."""

    def __init__(self, response: Any, exchange: Exchange) -> None:
        self._stream = response.stream
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._exchange.add(chunk)
            yield chunk
        self._exchange.write()

    async def aclose(self) -> None:
        """Close the stream inside."""
        self._exchange.write()
        await self._stream.aclose()


def watched(response: Any, base: str, watched_stream: type) -> type:
    """Return a watched stream that is a stream of the response's library, which checks it by its type."""
    library = sys.modules[type(response).__module__.partition(".")[0]]
    return type(watched_stream.__name__, (watched_stream, getattr(library, base)), {})
