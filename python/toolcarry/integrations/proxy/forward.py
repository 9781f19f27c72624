"""Forward a request to its upstream, and stream the response back.

Nothing is decoded or stored, and no request is sent twice: the client's SDK knows better when to retry. Hop-by-hop
headers and the proxy's own are dropped, and the client's key is replaced if the upstream has one. The proxy's own errors
have the format that the client's SDK reads.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import anyio
import httpx
from starlette.types import Receive, Scope, Send

from toolcarry._util.workers import LARGE, in_worker_if
from toolcarry.config.tables import Upstream
from toolcarry.errors import ConfigError
from toolcarry.integrations.asgi import headers_of
from toolcarry.integrations.identity import RequestView
from toolcarry.integrations.proxy.connections import Connections
from toolcarry.integrations.proxy.provider_errors import send_error
from toolcarry.integrations.proxy.routing import (
    PASSAGE,
    UPSTREAM,
    RoutingError,
    shape_of,
    upstream_of,
)
from toolcarry.redact.logs import get_logger

__all__ = ["Backend", "Forward", "secret_from_environment"]


def secret_from_environment(name: str, key: str) -> str:
    """Return the value of the environment variable that the setting ``key`` names; empty if it names none.

    >>> secret_from_environment("", "serve.token_env")
    ''
    """
    if not name:
        return ""
    value = os.environ.get(name, "")
    if not value:
        raise ConfigError(
            f"{key}: the environment variable {name} is not set; set it, or name another variable"
        )
    return value


Headers = list[tuple[bytes, bytes]]

HOP_BY_HOP: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""RFC 9110, 7.6.1."""

OF_THIS_HOP: Final = HOP_BY_HOP | {b"host", b"content-length", b"expect"}
"""The headers that the proxy sets itself. The body was read whole, so there is nothing left to expect."""

CREDENTIALS: Final = frozenset({b"authorization", b"x-api-key"})

OWN_HEADERS: Final = b"x-toolcarry-"


def request_headers(
    headers: Iterable[tuple[bytes, bytes]], key: tuple[bytes, bytes] | None
) -> Headers:
    """Return the client's headers for the upstream; with ``key`` instead of the client's key, if there is one.

    >>> request_headers([(b"host", b"here"), (b"x-api-key", b"client's"), (b"accept", b"*/*")], (b"x-api-key", b"ours"))
    [(b'accept', b'*/*'), (b'x-api-key', b'ours')]
    """
    given = list(headers)
    dropped = OF_THIS_HOP | named_by_connection(given) | (CREDENTIALS if key else frozenset())
    kept = [
        (name, value)
        for name, value in given
        if name not in dropped and not name.startswith(OWN_HEADERS)
    ]
    return [*kept, key] if key else kept


def response_headers(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the upstream's headers for the client, with lower-case names.

    >>> response_headers([(b"Content-Type", b"text/event-stream"), (b"Transfer-Encoding", b"chunked")])
    [(b'content-type', b'text/event-stream')]
    """
    given = [(name.lower(), value) for name, value in headers]
    dropped = HOP_BY_HOP | named_by_connection(given)
    return [
        (name, value)
        for name, value in given
        if name not in dropped and not name.startswith(OWN_HEADERS)
    ]


def named_by_connection(headers: Iterable[tuple[bytes, bytes]]) -> frozenset[bytes]:
    """Return the headers that belong to the connection, because the header ``connection`` names them."""
    values = (value for name, value in headers if name == b"connection")
    return frozenset(named.strip().lower() for value in values for named in value.split(b","))


def key_header(upstream: Upstream) -> tuple[bytes, bytes] | None:
    """Return the header with the upstream's key, if it has one. Raises ``ConfigError`` if its variable is not set."""
    key = secret_from_environment(
        upstream.api_key_env, f"serve.upstreams {upstream.name!r}: api_key_env"
    ).encode()
    if not key:
        return None
    return (
        (b"x-api-key", key)
        if upstream.shape == "anthropic"
        else (b"authorization", b"Bearer " + key)
    )


logger = get_logger("toolcarry.serve")

CONNECT_TIMEOUT: Final = 10.0


class BodyTooLargeError(Exception):
    """The client sends a body that exceeds the limit."""


class ClientGoneError(Exception):
    """The client has disconnected."""


@dataclass(frozen=True, slots=True)
class Backend:
    """An upstream with its connections and its key."""

    upstream: Upstream
    connections: Connections
    key: tuple[bytes, bytes] | None

    @classmethod
    def open(cls, upstream: Upstream) -> Backend:
        """Prepare connections, which are made on demand. Raises ``ConfigError`` if the key is not set."""
        timeout = httpx.Timeout(upstream.timeout, connect=min(CONNECT_TIMEOUT, upstream.timeout))
        return cls(upstream, Connections(timeout), key_header(upstream))

    def request(self, scope: Scope, body: bytes) -> httpx.Request:
        """Return the client's request for the upstream, with an unchanged path and without headers that httpx adds."""
        base = httpx.URL(self.upstream.url)
        before = base.raw_path.partition(b"?")[0].rstrip(b"/")
        before = before.removesuffix(b"/v1").removesuffix(b"/v1beta")
        query = scope["query_string"]
        target = before + scope["raw_path"] + (b"?" + query if query else b"")
        return httpx.Request(
            scope["method"],
            base,
            headers=request_headers(scope["headers"], self.key),
            content=body,
            extensions={"target": target, "timeout": self.connections.timeout.as_dict()},
        )


class Forward:
    """The innermost ASGI application, after the middleware: it answers all paths that are not the proxy's own."""

    def __init__(self, backends: Mapping[str, Backend], max_body_bytes: int) -> None:
        self._backends = backends
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        shape = shape_of(scope["path"])
        if not is_plain(scope["path"]):
            return await send_error(send, shape, 404, "a path with dot segments is not forwarded")
        try:
            body = await read_body(scope, receive, self._max_body_bytes)
            request = RequestView(scope["path"], headers_of(scope), body, scope)
            is_large = len(body) >= LARGE and scope[PASSAGE].upstream is None
            upstream = await in_worker_if(is_large, upstream_of, request)
            backend = self._backends[upstream.name]
        except ClientGoneError:
            return None
        except BodyTooLargeError:
            allowed = f"{self._max_body_bytes:,} bytes are allowed"
            told = f"the body is too large; {allowed}"
            return await send_error(send, shape, 413, told, is_last=True)
        except RoutingError as error:
            return await send_error(send, shape, 400, str(error))
        if backend.key is not None and may_be_a_pages(scope, is_empty=not body):
            told = (
                "content-type: not allowed with the upstream's own key; allowed: application/json"
            )
            return await send_error(send, shape, 415, told)
        async with anyio.create_task_group() as group:

            async def watch() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                group.cancel_scope.cancel()

            group.start_soon(watch)
            await self._relay(backend, scope, body, send)
            group.cancel_scope.cancel()
        return None

    async def _relay(self, backend: Backend, scope: Scope, body: bytes, send: Send) -> None:
        name = backend.upstream.name
        is_begun = False
        try:
            async with backend.connections.one() as client:
                response = await client.send(backend.request(scope, body), stream=True)
                try:
                    own = (UPSTREAM.encode(), name.encode())
                    headers = [*response_headers(response.headers.raw), own]
                    start = {"type": "http.response.start", "status": response.status_code}
                    await send({**start, "headers": headers})
                    is_begun = True
                    async for chunk in response.aiter_raw():
                        await send({"type": "http.response.body", "body": chunk, "more_body": True})
                finally:
                    await response.aclose()
            await send({"type": "http.response.body"})
        except httpx.TransportError as error:
            reason = type(error).__name__
            if is_begun:
                # The answer stays without its end, and the server closes the connection, so that the client notices
                # that it is incomplete.
                logger.warning("upstream %r interrupted its answer: %s", name, reason)
                return
            logger.warning("upstream %r did not answer: %s", name, reason)
            is_late = isinstance(error, httpx.TimeoutException)
            told = "did not answer in time" if is_late else "cannot be reached"
            shape = shape_of(scope["path"]) or backend.upstream.shape
            await send_error(send, shape, 504 if is_late else 502, f"upstream {name!r} {told}")


SIMPLE_TYPES: Final = frozenset(("application/x-www-form-urlencoded", "text/plain"))
"""The content types, except forms with files, that a page may send to another site without a CORS preflight:
https://fetch.spec.whatwg.org/#cors-safelisted-request-header"""


def may_be_a_pages(scope: Scope, *, is_empty: bool) -> bool:
    """True if a page of another site could have sent a request without a CORS preflight, by the type of its body.

    Files are uploaded as forms, which no request to a model is.

    >>> may_be_a_pages({"path": "/v1/messages", "headers": [(b"content-type", b"text/plain")]}, is_empty=False)
    True
    """
    given = headers_of(scope).get("content-type", "").partition(";")[0].strip().lower()
    if not given:
        return not is_empty
    is_form = given == "multipart/form-data"
    return given in SIMPLE_TYPES or (is_form and shape_of(scope["path"]) is not None)


def is_plain(path: str) -> bool:
    """True if a path stays below its base; the upstream's key must not open anything outside.

    >>> is_plain("/v1/files/../../admin")
    False
    """
    return not any(segment in (".", "..") for segment in path.replace("\\", "/").split("/"))


async def read_body(scope: Scope, receive: Receive, limit: int) -> bytes:
    """Return the whole body. Raises ``BodyTooLargeError`` if it has more than ``limit`` bytes.

    Clients read no answer before they have sent everything, so a body that is slightly too large is read and dropped.
    """
    length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if int(length) > 2 * limit:
        raise BodyTooLargeError
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            chunks.clear()
        elif chunk:
            chunks.append(chunk)
        if not message.get("more_body", False) or size > 2 * limit:
            break
    if size > limit:
        raise BodyTooLargeError
    return b"".join(chunks)
