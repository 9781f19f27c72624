"""The connections to an upstream: the one used last is used next, and idle ones are never polled.

A pool of httpx polls every idle connection for each request, so that requests get slower with the number of connections.
Here each connection has a separate client, which knows only that connection.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from time import monotonic
from typing import Final

import anyio
import httpx

__all__ = ["Connections"]

MOST_IDLE: Final = 100
"""The number of idle connections that stay open. The gateway limits how many are used at a time: a request
that had to wait for one here would seem to hang."""
MOST_SECONDS: Final = 30.0
"""The time for which an idle connection stays open."""


class Connections:
    """Gives one connection to each request. ``clock`` measures how long the others have been idle."""

    def __init__(self, timeout: httpx.Timeout, *, clock: Callable[[], float] = monotonic) -> None:
        self.timeout = timeout
        self._clock = clock
        self._tls = httpx.create_ssl_context()
        self._idle: deque[tuple[float, httpx.AsyncClient]] = deque()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[httpx.AsyncClient]:
        """Yield a client with a connection for one request; if the request fails or is cancelled, the connection is closed."""
        client = self._idle.pop()[1] if self._idle else self._open()
        try:
            yield client
        except BaseException:
            with anyio.CancelScope(shield=True):
                await client.aclose()
            raise
        now = self._clock()
        self._idle.append((now, client))
        while self._idle and (len(self._idle) > MOST_IDLE or self._idle[0][0] < now - MOST_SECONDS):
            await self._idle.popleft()[1].aclose()

    async def close(self) -> None:
        """Close all idle connections."""
        while self._idle:
            await self._idle.pop()[1].aclose()

    def _open(self) -> httpx.AsyncClient:
        # A cookie that one client was given must not go out with another's request.
        nobody = CookieJar(DefaultCookiePolicy(allowed_domains=()))
        limits = httpx.Limits(max_connections=1, keepalive_expiry=MOST_SECONDS)
        return httpx.AsyncClient(
            cookies=nobody, timeout=self.timeout, limits=limits, verify=self._tls
        )
