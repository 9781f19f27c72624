"""Routing: the upstream of a request, by the request and by the switches that are set.

In this order: the header ``x-toolcarry-upstream``; a switch of the conversation; a switch of everything; the first
upstream with a glob for the model; the default. A switch applies to requests in the format of its upstream, since
requests are not translated; other requests are routed as if it were not set.

``/switch`` changes this at run time. It is served on the control address only, and requires the token if one is set, for
every client: behind a gateway, an address does not identify a client.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec
import orjson
from cachetools import LRUCache
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from toolcarry.config.tables import Serve, Shape, Upstream
from toolcarry.errors import ToolcarryError
from toolcarry.integrations.identity import RequestView, conversation_of
from toolcarry.redact.logs import get_logger

__all__ = ["PASSAGE", "ProxiedRequest", "Router", "RoutingError", "SwitchEndpoint", "upstream_of"]

UPSTREAM: Final = "x-toolcarry-upstream"

MOST_CONVERSATIONS: Final = 10_000
"""The maximum number of conversations with their own route; the least recently used one loses it first."""

MOST_TOLD: Final = 1_000
LONGEST_MODEL: Final = 1_000
"""The longest name that is compared with globs, since matching takes more than linear time."""

SHAPE_OF_PATH: Final[tuple[tuple[str, Shape], ...]] = (
    ("/v1/messages", "anthropic"),
    ("/v1/chat/", "openai"),
    ("/v1/completions", "openai"),
    ("/v1/embeddings", "openai"),
    ("/v1/responses", "openai"),
    ("/api/", "ollama"),
)
"""The shapes by path. Other paths, such as ``/v1/models``, have no shape."""


class RoutingError(ToolcarryError):
    """The request names an upstream that does not exist."""


class Switches:
    """The routes that were switched at run time.

    >>> switches = Switches()
    >>> switches.set("b")
    >>> switches.set("c", conversation="talk")
    >>> list(switches.of("", "talk")), list(switches.of("", "other"))
    (['c', 'b'], ['b'])
    """

    def __init__(self, max_entries: int = MOST_CONVERSATIONS) -> None:
        self.everything = ""
        self._conversations: LRUCache[tuple[str, str], str] = LRUCache(max_entries)

    def set(self, upstream: str, *, conversation: str = "", tenant: str = "") -> None:
        """Switch a conversation, or everything if none is named, to ``upstream``; undo the switch if that is empty."""
        if not conversation:
            self.everything = upstream
        elif upstream:
            known = self._conversations
            if (tenant, conversation) not in known and len(known) >= known.maxsize:
                logger.warning(
                    "%d conversations are switched, the maximum: one of them returns to its route",
                    len(known),
                )
            known[tenant, conversation] = upstream
        else:
            self._conversations.pop((tenant, conversation), None)

    def of(self, tenant: str, conversation: str) -> Iterator[str]:
        """Return the upstreams that a conversation is switched to; the one with priority comes first."""
        if conversation and (own := self._conversations.get((tenant, conversation))):
            yield own
        if self.everything:
            yield self.everything

    def reset(self) -> None:
        """Switch everything back."""
        self.everything = ""
        self._conversations.clear()

    def to_dict(self) -> dict[str, Any]:
        """The switched routes, as ``GET /switch`` shows them."""
        conversations = [
            {"tenant": tenant, "conversation": conversation, "upstream": upstream}
            for (tenant, conversation), upstream in self._conversations.items()
        ]
        return {"upstream": self.everything or None, "conversations": conversations}


def route(request: RequestView, settings: Serve, switches: Switches, talk: str) -> Upstream:
    """Return the upstream of a request of the conversation ``talk``. Raises ``RoutingError``.

    >>> names = [Upstream(name=name, url=f"http://{name}", shape="openai") for name in "ab"]
    >>> request = RequestView("/v1/chat/completions", {"x-toolcarry-upstream": "b"}, b"")
    >>> route(request, Serve(upstreams=tuple(names)), Switches(), "").name
    'b'
    """
    upstreams = {upstream.name: upstream for upstream in settings.upstreams}
    if named := request.headers.get(UPSTREAM):
        if named not in upstreams:
            known = ", ".join(upstreams)
            raise RoutingError(f"{UPSTREAM}: no such upstream; allowed: {known}")
        return upstreams[named]
    shape = shape_of(request.path)
    for name in switches.of(tenant_of(request, settings), talk):
        if speaks(upstreams[name], shape):
            return upstreams[name]
    has_models = any(upstream.models for upstream in settings.upstreams)
    model = request.fields.model if has_models else None
    if isinstance(model, str):
        for upstream in settings.upstreams:
            if lists(upstream, model):
                return upstream
    default = upstreams[settings.default] if settings.default else settings.upstreams[0]
    candidates = (default, *settings.upstreams)
    return next((upstream for upstream in candidates if speaks(upstream, shape)), default)


def lists(upstream: Upstream, model: str) -> bool:
    """True if an upstream lists a model.

    >>> lists(Upstream(name="a", url="http://a", shape="openai", models=("gpt-*",)), "gpt-4o")
    True
    """
    return len(model) <= LONGEST_MODEL and any(fnmatchcase(model, glob) for glob in upstream.models)


def shape_of(path: str) -> Shape | None:
    """Return the shape of requests to ``path``.

    >>> shape_of("/v1/messages/count_tokens")
    'anthropic'
    """
    return next((shape for start, shape in SHAPE_OF_PATH if path.startswith(start)), None)


def speaks(upstream: Upstream, shape: Shape | None) -> bool:
    return shape is None or upstream.shape == shape


def tenant_of(request: RequestView, settings: Serve) -> str:
    """Return the tenant that the gateway names; empty if it names none."""
    return request.headers.get(settings.tenant_header.lower(), "") if settings.tenant_header else ""


Conversation = Callable[[RequestView], str]


@dataclass(frozen=True, slots=True)
class Router:
    """Decides the route of each request once; ``conversation`` returns the conversation of a request."""

    settings: Serve
    switches: Switches = field(default_factory=Switches)
    conversation: Conversation = conversation_of
    told: set[tuple[str, str]] = field(default_factory=set)
    """The upstreams and models that were logged."""

    def route(self, request: RequestView) -> Upstream:
        """Return the upstream of a request. Raises ``RoutingError``."""
        found = route(request, self.settings, self.switches, self.conversation(request))
        model = request.fields.model if found.models and not found.model else None
        if isinstance(model, str) and not lists(found, model):
            key = (found.name, model)
            if key not in self.told and len(self.told) < MOST_TOLD:
                self.told.add(key)
                logger.warning(
                    "upstream %r gets a request for the model %r, which is not in its models; set its key model to send another name",
                    found.name,
                    model[:80],
                )
        return found


@dataclass(slots=True)
class ProxiedRequest:
    """A request in the proxy. It is stored in the scope, so that the middleware and the proxy share it."""

    router: Router
    upstream: Upstream | None = None


PASSAGE: Final = "toolcarry.passage"


def upstream_of(request: RequestView) -> Upstream:
    """Return the upstream of a request. The first call decides, by the body as the client sent it; later calls repeat it.

    Raises ``RoutingError`` if the request names an upstream that does not exist; the proxy answers such a request itself.
    """
    proxied: ProxiedRequest = request.scope[PASSAGE]
    if proxied.upstream is None:
        proxied.upstream = proxied.router.route(request)
    return proxied.upstream


logger = get_logger("toolcarry.serve")

MOST_BYTES: Final = 65_536


class SwitchCommand(msgspec.Struct, forbid_unknown_fields=True):
    """The body of ``POST /switch``; ``null`` for the upstream undoes the switch."""

    upstream: str | None
    conversation: str = ""
    tenant: str = ""


class SwitchEndpoint:
    """Answers ``GET``, ``POST`` and ``DELETE``."""

    def __init__(self, settings: Serve, switches: Switches, token: str) -> None:
        self._names = [upstream.name for upstream in settings.upstreams]
        self._default = settings.default or self._names[0]
        self._switches = switches
        self._token = token

    async def switch(self, request: Request) -> Response:
        """Show, change or reset the upstream of requests; the answer is the new state."""
        if self._token and not self._has_token(request.scope):
            return reply(401, {"error": "a token is needed"}, {"www-authenticate": "Bearer"})
        if request.method == "POST":
            try:
                wish = msgspec.json.decode(await small_body(request), type=SwitchCommand)
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
        return scheme.lower() == "bearer" and is_same


async def small_body(request: Request) -> bytes:
    """Return the body up to its limit; a body that is cut off is not valid JSON."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            break
    return body[:MOST_BYTES]


def reply(status: int, content: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(content), status, headers, "application/json")
