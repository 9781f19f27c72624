"""The proxy as an ASGI application: its own few paths, and everything under ``/v1`` and ``/api`` passed on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from toolcarry.config.serving import Serve
from toolcarry.errors import ConfigError
from toolcarry.serve.control import Control
from toolcarry.serve.forward import Backend, Forward
from toolcarry.serve.metrics import CONTENT_TYPE, Counters, Metrics, Traffic, no_counters
from toolcarry.serve.routing import Router
from toolcarry.serve.secrets import secret

__all__ = ["create_app"]

Wrap = Callable[[ASGIApp], ASGIApp]


def unwrapped(app: ASGIApp) -> ASGIApp:
    return app


def create_app(
    settings: Serve, *, wrap: Wrap = unwrapped, counters: Counters = no_counters
) -> Starlette:
    """The proxy. ``wrap`` puts the middleware around what is passed on, and around nothing else.

    The middleware asks ``upstream_of(request).name`` for the backend. ``counters()`` gives the pipeline's counts for
    ``/metrics``.
    Raises ``ConfigError`` where there is no upstream, or a variable that the settings name is not set.

    >>> from toolcarry.config import Upstream
    >>> local = Upstream(name="local", url="http://127.0.0.1:11434", shape="ollama")
    >>> app = create_app(Serve(upstreams=(local,)))
    >>> [route.path for route in app.routes]
    ['/healthz', '/readyz', '/metrics', '/switch', '/v1/{path:path}', '/api/{path:path}']
    """
    if not settings.upstreams:
        raise ConfigError("serve.upstreams: there is none; allowed: one or more")
    router = Router(settings)
    backends = {upstream.name: Backend.open(upstream) for upstream in settings.upstreams}
    control = Control(settings, router.switches, secret(settings.token_env, "serve.token_env"))
    metrics = Metrics(counters)
    traffic = Traffic(wrap(Forward(backends, settings.max_body_bytes)), router, metrics)

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(request: Request) -> Response:
        is_ready = request.app.state.is_ready
        return PlainTextResponse("ready\n" if is_ready else "not ready\n", 200 if is_ready else 503)

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

    app = Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/readyz", readyz),
            Route("/metrics", show_metrics),
            Route("/switch", control.switch, methods=["GET", "POST", "DELETE"]),
            Route("/v1/{path:path}", traffic),
            Route("/api/{path:path}", traffic),
        ],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.is_ready = False
    return app
