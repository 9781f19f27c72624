"""Which upstream a request goes to: a function of the request and of the switches that were set.

What decides, in this order: the header ``x-toolcarry-upstream``; a switch of the conversation; a switch of everything;
the first upstream with a glob for the model; the default. A switch is for requests in the shape of its upstream, since
nobody translates them; other requests are routed as if it were not set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec
from cachetools import LRUCache
from starlette.types import Scope

from toolcarry.decode import loads
from toolcarry.errors import InputError, ToolcarryError
from toolcarry.serve.settings import Settings, Shape, Upstream

__all__ = ["Router", "RoutingError", "Switches", "backend_of", "header", "route"]

UPSTREAM: Final = b"x-toolcarry-upstream"

CONVERSATION: Final = b"x-toolcarry-conversation"

MOST_CONVERSATIONS: Final = 10_000
"""How many conversations have a switch of their own; the one that was longest unused loses it first."""

SHAPE_OF_PATH: Final[tuple[tuple[str, Shape], ...]] = (
    ("/v1/messages", "anthropic"),
    ("/v1/chat/", "openai"),
    ("/v1/completions", "openai"),
    ("/v1/embeddings", "openai"),
    ("/v1/responses", "openai"),
    ("/api/", "ollama"),
)
"""Other paths, such as ``/v1/models``, are of no shape."""


class RoutingError(ToolcarryError):
    """The request names an upstream that there is not."""


class Switches:
    """What was switched at run time.

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
        """Switch a conversation, or everything where none is named, to ``upstream``; back where that is empty."""
        if not conversation:
            self.everything = upstream
        elif upstream:
            self._conversations[tenant, conversation] = upstream
        else:
            self._conversations.pop((tenant, conversation), None)

    def of(self, tenant: str, conversation: str) -> Iterator[str]:
        """The upstreams that a conversation is switched to; the one that counts more comes first."""
        if conversation and (own := self._conversations.get((tenant, conversation))):
            yield own
        if self.everything:
            yield self.everything

    def reset(self) -> None:
        """Switch everything back."""
        self.everything = ""
        self._conversations.clear()

    def to_dict(self) -> dict[str, Any]:
        """What is switched, as ``GET /switch`` shows it."""
        conversations = [
            {"tenant": tenant, "conversation": conversation, "upstream": upstream}
            for (tenant, conversation), upstream in self._conversations.items()
        ]
        return {"upstream": self.everything or None, "conversations": conversations}


def route(scope: Scope, body: bytes, settings: Settings, switches: Switches, talk: str) -> Upstream:
    """The upstream of a request of the conversation ``talk``; raises ``RoutingError``.

    >>> settings = Settings([Upstream("a", "http://a", "openai"), Upstream("b", "http://b", "openai")])
    >>> scope = {"path": "/v1/chat/completions", "headers": [(b"x-toolcarry-upstream", b"b")]}
    >>> route(scope, b"", settings, Switches(), "").name
    'b'
    """
    upstreams = {upstream.name: upstream for upstream in settings.upstreams}
    if named := header(scope, UPSTREAM):
        if named not in upstreams:
            known = ", ".join(upstreams)
            raise RoutingError(f"{UPSTREAM.decode()}: no upstream of this name; there is {known}")
        return upstreams[named]
    shape = shape_of(scope["path"])
    for name in switches.of(tenant_of(scope, settings), talk):
        if speaks(upstreams[name], shape):
            return upstreams[name]
    if any(upstream.models for upstream in settings.upstreams):
        model = model_of(body)
        for upstream in settings.upstreams:
            if any(fnmatchcase(model, glob) for glob in upstream.models):
                return upstream
    default = upstreams[settings.default] if settings.default else settings.upstreams[0]
    candidates = (default, *settings.upstreams)
    return next((upstream for upstream in candidates if speaks(upstream, shape)), default)


def header(scope: Scope, name: bytes) -> str:
    """The first value of a header, empty where there is none; ``name`` in small letters."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def shape_of(path: str) -> Shape | None:
    """Whose requests go to ``path``.

    >>> shape_of("/v1/messages/count_tokens")
    'anthropic'
    """
    return next((shape for start, shape in SHAPE_OF_PATH if path.startswith(start)), None)


def speaks(upstream: Upstream, shape: Shape | None) -> bool:
    return shape is None or upstream.shape == shape


def tenant_of(scope: Scope, settings: Settings) -> str:
    """Whose request it is, as the gateway says; empty where none says so."""
    return header(scope, settings.tenant_header.lower().encode()) if settings.tenant_header else ""


def named_conversation(scope: Scope, body: bytes) -> str:  # noqa: ARG001 - others look into the body
    """The conversation that a request says it belongs to, in ``x-toolcarry-conversation``."""
    return header(scope, CONVERSATION)


class Named(msgspec.Struct):
    """What of a body is looked at; the rest is skipped, not made into objects."""

    model: Any = None


NAMED: Final = msgspec.json.Decoder(Named)


def model_of(body: bytes) -> str:
    """The model that a body asks for; empty where it asks for none, or is not JSON.

    >>> model_of(b'{"messages": [{"model": "none"}], "model": "claude-opus"}')
    'claude-opus'
    """
    try:
        model = NAMED.decode(body).model
    except RecursionError:
        return ""
    except (
        msgspec.DecodeError
    ):  # lone surrogates, too, which must not send a conversation elsewhere
        try:
            document = loads(body)
        except InputError:
            return ""
        model = document.get("model") if isinstance(document, dict) else None
    return model if isinstance(model, str) else ""


Conversation = Callable[[Scope, bytes], str]


@dataclass(frozen=True, slots=True)
class Router:
    """Decides once for each request; ``conversation`` says which one a request belongs to."""

    settings: Settings
    switches: Switches = field(default_factory=Switches)
    conversation: Conversation = named_conversation

    def route(self, scope: Scope, body: bytes) -> Upstream:
        """The upstream of a request; raises ``RoutingError``."""
        talk = self.conversation(scope, body)
        return route(scope, body, self.settings, self.switches, talk)


@dataclass(slots=True)
class Passage:
    """A request on its way through the proxy. It lies in the scope, so that the middleware and the proxy share it."""

    router: Router
    upstream: Upstream | None = None


PASSAGE: Final = "toolcarry.passage"


def upstream_of(scope: Scope, body: bytes) -> Upstream:
    """Where a request goes. It is decided at the first call, by the body as the client sent it, and stays.

    Raises ``RoutingError``.
    """
    passage: Passage = scope[PASSAGE]
    if passage.upstream is None:
        passage.upstream = passage.router.route(scope, body)
    return passage.upstream


def backend_of(scope: Scope, body: bytes) -> str:
    """The name of the upstream that a request goes to: what the middleware's ``identify`` says of the backend.

    Raises ``RoutingError`` where the request names one that there is not; the proxy answers such a request itself.
    """
    return upstream_of(scope, body).name
