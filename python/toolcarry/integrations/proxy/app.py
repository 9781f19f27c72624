"""The proxy as ASGI applications: one that forwards every path but its own, and one to control it.

``create_app`` builds the application, ``Proxy`` adds the middleware by the settings, which may change while it runs.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from toolcarry.config import Config
from toolcarry.config.tables import Serve
from toolcarry.errors import ConfigError, ToolcarryError
from toolcarry.integrations.asgi import ToolCarryMiddleware
from toolcarry.integrations.build import (
    identification_from,
    is_for_one_user,
    pipeline_from,
    projection_from,
    recorder_from,
    sessions_from,
    tool_cache_from,
)
from toolcarry.integrations.identity import RequestView
from toolcarry.integrations.pipeline import RequestPipeline
from toolcarry.integrations.proxy.forward import Backend, Forward, secret_from_environment
from toolcarry.integrations.proxy.guard import Guard
from toolcarry.integrations.proxy.metrics import (
    CONTENT_TYPE,
    Counters,
    Metrics,
    Traffic,
    zero_counters,
)
from toolcarry.integrations.proxy.retrieval import KeptResults, Retrieval
from toolcarry.integrations.proxy.routing import Router, SwitchEndpoint, upstream_of
from toolcarry.integrations.proxy.unpacked import UnpackedBodies
from toolcarry.integrations.proxy.upstream_models import UpstreamModels
from toolcarry.metrics import TOKENS, merged
from toolcarry.redact.logs import get_logger
from toolcarry.tool_cache import ToolCache

__all__ = ["Proxy", "create_app"]

Wrap = Callable[[ASGIApp], ASGIApp]


def unwrapped(app: ASGIApp) -> ASGIApp:
    return app


def nothing() -> None:
    """Do nothing: the default for an application without anything to close."""


def create_app(
    settings: Serve,
    *,
    wrap: Wrap = unwrapped,
    counters: Counters = zero_counters,
    close: Callable[[], None] = nothing,
) -> Starlette:
    """Return the proxy; its ``state.control`` is the application with ``/switch`` and ``/metrics``, for a separate
    address.

    ``wrap`` puts the middleware around requests that are passed on, and around nothing else.
    The middleware asks ``upstream_of(request).name`` for the backend. ``counters()`` gives the pipeline's counts for
    ``/metrics``. ``close`` is called in a thread when the application ends.
    Raises ``ConfigError`` if there is no upstream, or an environment variable that the settings name is not set.

    >>> from toolcarry.config import Upstream
    >>> local = Upstream(name="local", url="http://127.0.0.1:11434", shape="ollama")
    >>> app = create_app(Serve(upstreams=(local,)))
    >>> [route.path for route in app.routes]
    ['/healthz', '/healthz', '/readyz', '/readyz', '/switch', '/metrics', '/{path:path}']
    >>> [route.path for route in app.state.control.routes]
    ['/switch', '/metrics']
    """
    if not settings.upstreams:
        raise ConfigError("serve.upstreams: is empty; allowed: one or more upstreams")
    router = Router(settings)
    backends = {upstream.name: Backend.open(upstream) for upstream in settings.upstreams}
    control = SwitchEndpoint(
        settings, router.switches, secret_from_environment(settings.token_env, "serve.token_env")
    )
    metrics = Metrics(counters)
    forward = UpstreamModels(wrap(Forward(backends, settings.max_body_bytes)), settings)
    traffic = Traffic(UnpackedBodies(forward, settings.max_body_bytes), router, metrics)

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(request: Request) -> Response:
        is_ready = request.app.state.is_ready
        return PlainTextResponse("ready\n" if is_ready else "not ready\n", 200 if is_ready else 503)

    # A response is an application for all methods: what is the proxy's own is never forwarded.
    not_here = PlainTextResponse("not on this address\n", 404)
    only_get = PlainTextResponse("method not allowed\n", 405, {"allow": "GET, HEAD"})

    async def show_metrics(_: Request) -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.is_ready = True
        try:
            yield
        finally:
            app.state.is_ready = False
            for backend in backends.values():
                await backend.connections.close()
            await asyncio.to_thread(close)

    app = Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/healthz", only_get),
            Route("/readyz", readyz),
            Route("/readyz", only_get),
            Route("/switch", not_here),
            Route("/metrics", not_here),
            Route("/{path:path}", traffic),
        ],
        middleware=[Middleware(Guard, settings)],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.control = Starlette(
        routes=[
            Route("/switch", control.switch, methods=["GET", "POST", "DELETE"]),
            Route("/metrics", show_metrics),
        ],
        middleware=[Middleware(Guard, settings)],
    )
    app.state.is_ready = False
    return app


logger = get_logger("toolcarry.serve")

KEYLESS: Final = {
    True: "count as one user's; for several users, set [sessions] single_user = false",
    False: "have no tenant, so nothing is remembered about them; if all are one user's, set [sessions] single_user = true",
}


class Proxy:
    """``app`` is the ASGI application of these settings. Raises what ``pipeline_from`` and ``create_app`` raise.

    ``clock`` gives the time for the expiry of sessions and cached tools.

    >>> from toolcarry.config import Serve, Upstream
    >>> local = Upstream(name="local", url="http://127.0.0.1:11434", shape="ollama")
    >>> Proxy(Config(serve=Serve(upstreams=(local,)))).counts()["sessions.evicted"]
    0
    """

    def __init__(self, config: Config, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._config = config
        self._sessions = sessions_from(config, clock=clock)
        self._tool_cache = tool_cache_from(config, clock=clock)
        self._has_references = config.serve.retrieval_rounds > 0
        self._recorder = recorder_from(config, has_references=self._has_references, clock=clock)
        self._pipeline = self._pipeline_from(config, self._tool_cache)
        self._middleware: ToolCarryMiddleware
        self._kept = KeptResults(config.history)
        self._retrieved: Counter[str] = Counter(
            answered=0, failed=0, passed_on=0, definition_tokens=0, round_tokens=0
        )
        logger.info("requests without a key %s", KEYLESS[is_for_one_user(config)])
        self.app = create_app(
            config.serve, wrap=self._wrap, counters=self.counts, close=self._close
        )

    def counts(self) -> Mapping[str, int | float]:
        """The counts of requests since the start."""
        tools = Counter[str]() if self._tool_cache is None else self._tool_cache.counts
        named = {"tools": tools, "sessions": self._sessions.counts}
        if self._config.serve.retrieval_rounds:
            named["retrieval"] = self._retrieved
        parts = {f"{part}.{name}": found[name] for part, found in named.items() for name in found}
        tokens = dict.fromkeys(TOKENS.values(), 0)
        return {**tokens, **merged(self._pipeline.counts), **parts}

    def update(self, config: Config) -> None:
        """Use other settings from the next request on; the addresses stay unchanged.

        The memory of conversations is kept. If the settings can't be used, nothing changes.
        """
        before = self._config
        serve = replace(config.serve, host=before.serve.host, port=before.serve.port)
        if serve != before.serve or config.history != before.history:
            logger.warning("changes to [serve] and [history] take effect after a restart")
        config = replace(config, serve=before.serve, history=before.history)
        try:
            is_new = config.tool_cache != before.tool_cache
            tool_cache = tool_cache_from(config, clock=self._clock) if is_new else self._tool_cache
            pipeline = self._pipeline_from(config, tool_cache)
        except ToolcarryError as error:
            logger.error("%s; the settings are unchanged", error)  # noqa: TRY400 - the message is complete
            return
        pipeline.resume(self._pipeline)
        self._pipeline = self._middleware.pipeline = pipeline
        self._middleware.identify = identification_from(config, named_upstream)
        if self._recorder is not None:
            self._recorder.compare_by(projection_from(config, has_references=self._has_references))
        if is_new and self._tool_cache is not None:
            self._tool_cache.close()
        self._tool_cache, self._config = tool_cache, config

    def _pipeline_from(self, config: Config, tool_cache: ToolCache | None) -> RequestPipeline:
        return pipeline_from(
            config,
            self._sessions,
            tool_cache,
            self._recorder,
            has_references=self._has_references,
        )

    def _close(self) -> None:
        """Write everything that is waiting to be recorded, and close the stores."""
        self._kept.close()
        if self._recorder is not None:
            self._recorder.close()

    def _wrap(self, app: ASGIApp) -> ASGIApp:
        rounds = self._config.serve.retrieval_rounds
        if rounds:
            app = Retrieval(
                app, self._kept, rounds, self._retrieved, lambda: self._pipeline.limits_results
            )
        self._middleware = ToolCarryMiddleware(
            app,
            self._pipeline,
            identify=identification_from(self._config, named_upstream),
            max_body_bytes=self._config.serve.max_body_bytes,
            tells_all=bool(rounds),
        )
        return self._middleware


def named_upstream(request: RequestView) -> str:
    """Return the name of the upstream that a request goes to, which is its backend."""
    return upstream_of(request).name
