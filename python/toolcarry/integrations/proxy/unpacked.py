"""Unpack the bodies of requests, so that all later steps read and send them as plain JSON.

Codex, for one, sends Zstandard. A body that can't be unpacked goes on as it came, for the upstream to judge.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from toolcarry._input.codings import TooLargeError, codings_of, unpack_body
from toolcarry._util.workers import LARGE, in_worker_if
from toolcarry.integrations.asgi import headers_of, read_body, reason_to_skip, with_length
from toolcarry.integrations.proxy.provider_errors import send_error
from toolcarry.integrations.proxy.routing import shape_of
from toolcarry.integrations.response import Replay

__all__ = ["UnpackedBodies"]


class UnpackedBodies:
    """Passes on requests with a JSON body in a known coding as requests without one; all others unchanged."""

    def __init__(self, app: ASGIApp, max_body_bytes: int) -> None:
        self._app = app
        self._most = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = headers_of(scope)
        codings = codings_of(headers.pop("content-encoding", ""))
        if not codings or reason_to_skip(headers, self._most):
            return await self._app(scope, receive, send)
        read = await read_body(receive, self._most)
        body: bytes | None = None
        if not read.reason:
            try:
                body = await in_worker_if(
                    len(read.body) >= LARGE, unpack_body, read.body, codings, self._most
                )
            except TooLargeError:
                told = f"the unpacked body is too large; {self._most:,} bytes are allowed"
                return await send_error(send, shape_of(scope["path"]), 413, told)
        if body is None:
            return await self._app(scope, Replay(read.messages, receive), send)
        kept = [header for header in scope["headers"] if header[0].lower() != b"content-encoding"]
        plain = {**scope, "headers": with_length(kept, len(body))}
        whole = {"type": "http.request", "body": body, "more_body": False}
        return await self._app(plain, Replay([whole], receive), send)
