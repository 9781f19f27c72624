"""The proxy with its middleware, as the settings say; they may change while it runs."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace
from starlette.types import ASGIApp

from toolcarry.config import Config
from toolcarry.errors import ToolcarryError
from toolcarry.integrations.asgi import ToolCarryMiddleware
from toolcarry.integrations.build import (
    identification_from,
    pipeline_from,
    sessions_from,
    tool_cache_from,
)
from toolcarry.integrations.identity import RequestView
from toolcarry.redact.logs import get_logger
from toolcarry.serve.app import create_app
from toolcarry.serve.routing import upstream_of

__all__ = ["Proxy"]

logger = get_logger("toolcarry.serve")


class Proxy:
    """``app`` is the ASGI application of these settings. Raises what ``pipeline_from`` and ``create_app`` raise.

    >>> from toolcarry.config import Serve, Upstream
    >>> local = Upstream(name="local", url="http://127.0.0.1:11434", shape="ollama")
    >>> Proxy(Config(serve=Serve(upstreams=(local,)))).counts()
    {}
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._sessions = sessions_from(config)
        self._tool_cache = tool_cache_from(config)
        self._pipeline = pipeline_from(config, self._sessions, self._tool_cache)
        self._middleware: ToolCarryMiddleware
        self.app = create_app(config.serve, wrap=self._wrap, counters=self.counts)

    def counts(self) -> Mapping[str, int]:
        """What was done to requests since the start."""
        tools = {} if self._tool_cache is None else self._tool_cache.counts
        return {**self._pipeline.counts, **{f"tools.{name}": tools[name] for name in tools}}

    def update(self, config: Config) -> None:
        """Go by other settings from the next request on; where it listens and where requests go stays as it was.

        What is remembered of conversations stays, too. Settings of which nothing can be made change nothing.
        """
        before = self._config
        serve = replace(config.serve, host=before.serve.host, port=before.serve.port)
        if serve != before.serve or config.history != before.history:
            logger.warning("[serve] and [history] are read at the start alone")
        try:
            is_new = config.tool_cache != before.tool_cache
            tool_cache = tool_cache_from(config) if is_new else self._tool_cache
            pipeline = pipeline_from(config, self._sessions, tool_cache)
        except ToolcarryError as error:
            logger.error("%s; the settings stay as they were", error)  # noqa: TRY400 - it says all
            return
        pipeline.counts.update(self._pipeline.counts)
        self._pipeline = self._middleware.pipeline = pipeline
        if is_new and self._tool_cache is not None:
            self._tool_cache.close()
        self._tool_cache, self._config = tool_cache, config

    def _wrap(self, app: ASGIApp) -> ASGIApp:
        self._middleware = ToolCarryMiddleware(
            app,
            self._pipeline,
            identify=identification_from(self._config, named_upstream),
            max_body_bytes=self._config.serve.max_body_bytes,
        )
        return self._middleware


def named_upstream(request: RequestView) -> str:
    """The upstream that a request goes to is its backend."""
    return upstream_of(request).name
