"""The guard in front of the proxy: it refuses requests that no client of a model sends.

A page that a user visits can make their browser send requests to the proxy, which would serve them with the upstream's key:
across sites (``Origin``, ``Sec-Fetch-Site``), or under a host name of the page that resolves to this machine (DNS
rebinding, visible in ``Host``). Requests that two servers may delimit differently, and other methods, are refused as
well, and a body has a time limit. A client's statements about itself are never a reason to trust it.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from ipaddress import ip_address
from typing import Final, NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolcarry.config.tables import Serve
from toolcarry.integrations.proxy.provider_errors import send_error
from toolcarry.integrations.proxy.routing import shape_of

__all__ = ["Guard", "is_own_name"]

METHODS: Final = frozenset(("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"))
HOST: Final = re.compile(
    r"(?:\[([0-9a-f:.]+)\]|([^\s:/?#@\[\]]*))(?::[0-9]{1,5})?\Z", re.IGNORECASE
)
NOT_PUBLIC: Final = frozenset(("internal", "local", "localhost"))
"""Domains that are in no public DNS. RFC 6761, 6.3; RFC 6762, 3; ICANN's resolution 2024.07.29.06."""
MOST_UNREAD: Final = 64 << 10
"""The maximum number of bytes of a refused request's body that are received before the answer."""
MOST_WAIT: Final = 1.0
"""The maximum time in seconds for receiving them."""
FROM_NO_PAGE: Final = frozenset((b"none", b"same-origin"))
"""Values of ``Sec-Fetch-Site`` for requests that no foreign page made. https://www.w3.org/TR/fetch-metadata/"""


class Refusal(NamedTuple):
    status: int
    message: str


class BodyTimeoutError(Exception):
    """The body did not arrive in time."""


class Guard:
    """Passes on a request to ``app`` unless there is a reason to refuse it."""

    def __init__(self, app: ASGIApp, settings: Serve) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in settings.allowed_hosts)
        self._origins = frozenset(origin.encode() for origin in settings.allowed_origins)
        self._seconds = settings.body_timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        body = TimedBody(receive, self._seconds)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 400:
                await body.take_in()
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            try:
                return await self._app(scope, body, answer)
            except BodyTimeoutError:
                told = f"the body took longer than {self._seconds:g} seconds"
                refusal = Refusal(408, told)
        shape = shape_of(scope["path"])
        needed = ((b"upgrade", b"HTTP/1.1"),) if refusal.status == 426 else ()
        await send_error(
            answer, shape, refusal.status, refusal.message, is_last=True, headers=needed
        )
        return None

    def _refusal(self, scope: Scope) -> Refusal | None:
        """The reason to refuse a request, by its head."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        names = [name for name, _ in headers]
        if b"transfer-encoding" in names and (
            b"content-length" in names or scope.get("http_version") == "1.0"
        ):
            # RFC 9112, 6.1 and 6.3: it may be an attempt at request smuggling.
            return Refusal(400, "content-length and transfer-encoding are not allowed together")
        if scope["method"] not in METHODS:
            allowed = ", ".join(sorted(METHODS))
            return Refusal(405, f"method: not allowed; allowed: {allowed}")
        if any(name == b"upgrade" and value.lower() == b"websocket" for name, value in headers):
            # RFC 9110, 15.5.22: a client such as Codex then goes on with HTTP.
            return Refusal(426, "upgrade: WebSockets are not forwarded; use HTTP")
        for name, value in headers:
            if name == b"host" and not is_own_name(value.decode("latin-1"), self._hosts):
                return Refusal(
                    403, "host: not a name of this proxy; allowed: those in serve.allowed_hosts"
                )
        origins = [value for name, value in headers if name == b"origin"]
        if any(origin not in self._origins for origin in origins):
            return Refusal(
                403, "origin: requests of pages are refused; allowed: serve.allowed_origins"
            )
        sites = (value.strip().lower() for name, value in headers if name == b"sec-fetch-site")
        if not origins and any(site not in FROM_NO_PAGE for site in sites):
            return Refusal(403, "sec-fetch-site: requests of other sites' pages are refused")
        return None


def is_own_name(host: str, allowed: frozenset[str]) -> bool:
    """True if a ``Host`` can't be the name of a foreign page whose name was pointed at this machine.

    An address is not a name, and a name without a dot can't be registered; other names have to be allowed.

    >>> [is_own_name(host, frozenset()) for host in ("localhost:8787", "[::1]:8787", "toolcarry", "evil.example:8787")]
    [True, True, True, False]
    """
    found = HOST.match(host.strip())
    if found is None:
        return False
    name = (found[1] or found[2]).lower().removesuffix(".")
    if name in allowed or name.rpartition(".")[2] in NOT_PUBLIC:
        return True
    try:
        ip_address(name)
    except ValueError:
        return "." not in name
    return True


class TimedBody:
    """Receives a request whose body must arrive within some seconds. Raises ``BodyTimeoutError`` if it does not."""

    def __init__(self, receive: Receive, seconds: float) -> None:
        self._receive = receive
        self._deadline = asyncio.get_running_loop().time() + seconds
        self._is_begun = False
        self._is_whole = False

    async def take_in(self) -> None:
        """Receive a short body before its request is refused.

        If a connection is closed with unread data, the system resets it, and the client may lose the answer (RFC 9112,
        9.6).
        """
        if self._is_begun:
            return
        size = 0
        with suppress(BodyTimeoutError):
            self._deadline = min(self._deadline, asyncio.get_running_loop().time() + MOST_WAIT)
            while not self._is_whole and size <= MOST_UNREAD:
                message = await self()
                size += len(message.get("body", b""))

    async def __call__(self) -> Message:
        self._is_begun = True
        if self._is_whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise BodyTimeoutError from None
        self._is_whole = not message.get("more_body", False)
        return message
