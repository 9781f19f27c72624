"""Ask an upstream for its own model, if a request names one that the upstream does not list.

A switch moves requests to another upstream, whose models the client does not know. The body is changed before the
pipeline reads it, so that windows and rules are those of the model that answers. Requests about a model, such as Ollama's
``/api/pull``, and embeddings are not changed: they mean the model that they name.
"""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from toolcarry._input.json import dump
from toolcarry._input.raw_json import write_object, written_members
from toolcarry._util.workers import LARGE, in_worker_if
from toolcarry.config.tables import Serve
from toolcarry.errors import InputError
from toolcarry.integrations.asgi import (
    ASKED_MODEL,
    headers_of,
    is_model_path,
    read_body,
    reason_to_skip,
    requested,
    with_length,
)
from toolcarry.integrations.identity import RequestView
from toolcarry.integrations.proxy.routing import RoutingError, lists, shape_of, upstream_of
from toolcarry.integrations.response import Replay

__all__ = ["UpstreamModels"]


class UpstreamModels:
    """Passes on conversations, and counts of their tokens, with the model of their upstream; all others unchanged."""

    def __init__(self, app: ASGIApp, settings: Serve) -> None:
        self._app = app
        self._most: Final = settings.max_body_bytes
        self._has_work: Final = any(upstream.model for upstream in settings.upstreams)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        is_ours = self._has_work and scope["method"] == "POST" and is_model_path(path)
        if not is_ours or not shape_of(path) or reason_to_skip(headers_of(scope), self._most):
            return await self._app(scope, receive, send)
        read = await read_body(receive, self._most)
        if read.reason:
            return await self._app(scope, Replay(read.messages, receive), send)
        view = RequestView(path, headers_of(scope), read.body, scope)
        body = await in_worker_if(len(read.body) >= LARGE, with_model, view)
        if body is not read.body:
            headers = with_length(scope["headers"], len(body))
            scope = {**scope, "headers": headers, ASKED_MODEL: view.fields.model}
        return await self._app(scope, Replay([requested(body)], receive), send)


def with_model(request: RequestView) -> bytes:
    """Return the body with the model of its upstream; the same object if it has that, or can't be read."""
    try:
        upstream, model = upstream_of(request), request.fields.model
        if not upstream.model or not isinstance(model, str) or lists(upstream, model):
            return request.body
        members = written_members(request.body)
    except (InputError, RoutingError):
        return request.body
    return write_object({**members, "model": dump(upstream.model)})
