"""The proxy's work: take a request's body in, send it to its upstream, and pass on what comes back as it comes.

Nothing is decoded, nothing is kept, and no request is sent twice: the client's SDK knows better when to try again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import anyio
import httpx
from starlette.types import Receive, Scope, Send

from toolcarry.config.serving import Upstream
from toolcarry.integrations.asgi import headers_of
from toolcarry.integrations.identity import RequestView
from toolcarry.redact.logs import get_logger
from toolcarry.serve.connections import Connections
from toolcarry.serve.headers import forwarded, key_header, returned
from toolcarry.serve.replies import send_error
from toolcarry.serve.routing import UPSTREAM, RoutingError, shape_of, upstream_of

__all__ = ["Backend", "Forward"]

logger = get_logger("toolcarry.serve")

CONNECT_TIMEOUT: Final = 10.0


class BodyTooLargeError(Exception):
    """The client sends more than may be taken in."""


class ClientGoneError(Exception):
    """Nobody waits for an answer any more."""


@dataclass(frozen=True, slots=True)
class Backend:
    """An upstream with its connections and its key."""

    upstream: Upstream
    connections: Connections
    key: tuple[bytes, bytes] | None

    @classmethod
    def open(cls, upstream: Upstream) -> Backend:
        """Connect when it is needed; raises ``ConfigError`` where the key is not set."""
        timeout = httpx.Timeout(upstream.timeout, connect=min(CONNECT_TIMEOUT, upstream.timeout))
        return cls(upstream, Connections(timeout), key_header(upstream))

    def request(self, scope: Scope, body: bytes) -> httpx.Request:
        """The client's request as it goes to the upstream: the path to the letter, and no header of httpx's own."""
        base = httpx.URL(self.upstream.url)
        before = base.raw_path.partition(b"?")[0].rstrip(b"/").removesuffix(b"/v1")
        query = scope["query_string"]
        target = before + scope["raw_path"] + (b"?" + query if query else b"")
        return httpx.Request(
            scope["method"],
            base,
            headers=forwarded(scope["headers"], self.key),
            content=body,
            extensions={"target": target, "timeout": self.connections.timeout.as_dict()},
        )


class Forward:
    """The ASGI application that answers what is not the proxy's own: it stands innermost, behind the middleware."""

    def __init__(self, backends: Mapping[str, Backend], max_body_bytes: int) -> None:
        self._backends = backends
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        shape = shape_of(scope["path"])
        if not is_plain(scope["path"]):
            return await send_error(send, shape, 404, "a path with dot segments is not passed on")
        try:
            body = await read_body(scope, receive, self._max_body_bytes)
            request = RequestView(scope["path"], headers_of(scope), body, scope)
            backend = self._backends[upstream_of(request).name]
        except ClientGoneError:
            return None
        except BodyTooLargeError:
            allowed = f"{self._max_body_bytes:,} bytes are allowed"
            return await send_error(send, shape, 413, f"the body is too large; {allowed}")
        except RoutingError as error:
            return await send_error(send, shape, 400, str(error))
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
                    headers = [*returned(response.headers.raw), own]
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
                # The answer is left without its end, and the server closes the connection: a client must not
                # take a part for the whole.
                logger.warning("upstream %r broke off its answer: %s", name, reason)
                return
            logger.warning("upstream %r gave no answer: %s", name, reason)
            is_late = isinstance(error, httpx.TimeoutException)
            told = "gave no answer in time" if is_late else "cannot be reached"
            shape = shape_of(scope["path"]) or backend.upstream.shape
            await send_error(send, shape, 504 if is_late else 502, f"upstream {name!r} {told}")


def is_plain(path: str) -> bool:
    """Whether a path stays below where it begins; the upstream's key must not open what is beside it.

    >>> is_plain("/v1/files/../../admin")
    False
    """
    return not any(segment in (".", "..") for segment in path.replace("\\", "/").split("/"))


async def read_body(scope: Scope, receive: Receive, limit: int) -> bytes:
    """The whole body; raises ``BodyTooLargeError`` for one of more than ``limit`` bytes.

    A client reads no answer before it has sent everything, so that what is somewhat too large is taken in and dropped.
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
