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

from cachetools import LRUCache

from toolcarry.config.serving import Serve, Shape, Upstream
from toolcarry.errors import ToolcarryError
from toolcarry.integrations.identity import RequestView, conversation_of

__all__ = ["PASSAGE", "Passage", "Router", "RoutingError", "Switches", "route", "upstream_of"]

UPSTREAM: Final = "x-toolcarry-upstream"

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


def route(request: RequestView, settings: Serve, switches: Switches, talk: str) -> Upstream:
    """The upstream of a request of the conversation ``talk``; raises ``RoutingError``.

    >>> names = [Upstream(name=name, url=f"http://{name}", shape="openai") for name in "ab"]
    >>> request = RequestView("/v1/chat/completions", {"x-toolcarry-upstream": "b"}, b"")
    >>> route(request, Serve(upstreams=tuple(names)), Switches(), "").name
    'b'
    """
    upstreams = {upstream.name: upstream for upstream in settings.upstreams}
    if named := request.headers.get(UPSTREAM):
        if named not in upstreams:
            known = ", ".join(upstreams)
            raise RoutingError(f"{UPSTREAM}: no upstream of this name; there is {known}")
        return upstreams[named]
    shape = shape_of(request.path)
    for name in switches.of(tenant_of(request, settings), talk):
        if speaks(upstreams[name], shape):
            return upstreams[name]
    if any(upstream.models for upstream in settings.upstreams):
        model = request.fields.model
        for upstream in settings.upstreams:
            if isinstance(model, str) and any(fnmatchcase(model, glob) for glob in upstream.models):
                return upstream
    default = upstreams[settings.default] if settings.default else settings.upstreams[0]
    candidates = (default, *settings.upstreams)
    return next((upstream for upstream in candidates if speaks(upstream, shape)), default)


def shape_of(path: str) -> Shape | None:
    """Whose requests go to ``path``.

    >>> shape_of("/v1/messages/count_tokens")
    'anthropic'
    """
    return next((shape for start, shape in SHAPE_OF_PATH if path.startswith(start)), None)


def speaks(upstream: Upstream, shape: Shape | None) -> bool:
    return shape is None or upstream.shape == shape


def tenant_of(request: RequestView, settings: Serve) -> str:
    """Whose request it is, as the gateway says; empty where none says so."""
    return request.headers.get(settings.tenant_header.lower(), "") if settings.tenant_header else ""


Conversation = Callable[[RequestView], str]


@dataclass(frozen=True, slots=True)
class Router:
    """Decides once for each request; ``conversation`` says which one a request belongs to."""

    settings: Serve
    switches: Switches = field(default_factory=Switches)
    conversation: Conversation = conversation_of

    def route(self, request: RequestView) -> Upstream:
        """The upstream of a request; raises ``RoutingError``."""
        return route(request, self.settings, self.switches, self.conversation(request))


@dataclass(slots=True)
class Passage:
    """A request on its way through the proxy. It lies in the scope, so that the middleware and the proxy share it."""

    router: Router
    upstream: Upstream | None = None


PASSAGE: Final = "toolcarry.passage"


def upstream_of(request: RequestView) -> Upstream:
    """Where a request goes. It is decided at the first call, by the body as the client sent it, and stays.

    Raises ``RoutingError`` where the request names an upstream that there is not; the proxy answers such a one itself.
    """
    passage: Passage = request.scope[PASSAGE]
    if passage.upstream is None:
        passage.upstream = passage.router.route(request)
    return passage.upstream
