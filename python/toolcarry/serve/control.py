"""``/switch``: where requests go, changed while they come.

Allowed from this machine, and with the token from anywhere. A request that came through a gateway, or from a page in a
browser, is not from this machine, even if the gateway or the browser is: their headers can take that away, never give it.
"""

from __future__ import annotations

import hmac
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

import msgspec
import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from toolcarry.config.serving import Serve
from toolcarry.redact.logs import get_logger
from toolcarry.serve.routing import Switches

__all__ = ["Control", "is_local"]

logger = get_logger("toolcarry.serve")

FROM_ELSEWHERE: Final = frozenset(
    {
        b"forwarded",
        b"origin",
        b"sec-fetch-site",
        b"via",
        b"x-forwarded-for",
        b"x-forwarded-host",
        b"x-forwarded-proto",
        b"x-real-ip",
    }
)

MOST_BYTES: Final = 65_536


class Wish(msgspec.Struct, forbid_unknown_fields=True):
    """The body of ``POST /switch``; ``null`` for the upstream takes back what was switched."""

    upstream: str | None
    conversation: str = ""
    tenant: str = ""


class Control:
    """Answers ``GET``, ``POST`` and ``DELETE``."""

    def __init__(self, settings: Serve, switches: Switches, token: str) -> None:
        self._names = [upstream.name for upstream in settings.upstreams]
        self._default = settings.default or self._names[0]
        self._switches = switches
        self._token = token

    async def switch(self, request: Request) -> Response:
        """Show, change or reset where requests go; what is answered is how it stands then."""
        if not (is_local(request.scope) or self._has_token(request.scope)):
            if self._token:
                return reply(401, {"error": "a token is needed"}, {"www-authenticate": "Bearer"})
            return reply(403, {"error": "allowed from this machine only; no token is set"})
        if request.method == "POST":
            try:
                wish = msgspec.json.decode(await small_body(request), type=Wish)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                return reply(400, {"error": f"body: {error}"})
            if wish.upstream and wish.upstream not in self._names:
                allowed = ", ".join(self._names)
                told = f"upstream: {wish.upstream!r} is not allowed; allowed: {allowed}, null"
                return reply(400, {"error": told})
            self._switches.set(
                wish.upstream or "", conversation=wish.conversation, tenant=wish.tenant
            )
            what = "a conversation" if wish.conversation else "everything"
            logger.info("switched %s to %s", what, wish.upstream or "its route")
        elif request.method == "DELETE":
            self._switches.reset()
            logger.info("switched everything back")
        state = {"upstreams": self._names, "default": self._default, **self._switches.to_dict()}
        return reply(200, state)

    def _has_token(self, scope: Scope) -> bool:
        sent = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, _, given = sent.decode("latin-1").partition(" ")
        is_same = hmac.compare_digest(given.strip().encode("latin-1"), self._token.encode())
        return bool(self._token) and scheme.lower() == "bearer" and is_same


async def small_body(request: Request) -> bytes:
    """The body, as far as it may be read: what is cut off is no JSON any more."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            break
    return body[:MOST_BYTES]


def is_local(scope: Scope) -> bool:
    """Whether a request was made on this machine, and by itself.

    >>> is_local({"client": ("127.0.0.1", 5), "headers": []})
    True
    >>> is_local({"client": ("127.0.0.1", 5), "headers": [(b"x-forwarded-for", b"127.0.0.1")]})
    False
    """
    if any(name in FROM_ELSEWHERE for name, _ in scope["headers"]):
        return False
    try:
        address = ip_address(scope["client"][0])
    except (TypeError, ValueError):  # a socket without addresses
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback


def reply(status: int, content: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(content), status, headers, "application/json")
