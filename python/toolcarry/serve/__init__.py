"""A reference proxy: requests of agents go in, each to the upstream that it is routed to, and answers stream back.

It is an example that can be put to work behind a gateway, no more: one process, no TLS, no accounts, no retries.
``create_app`` makes the ASGI application, ``toolcarry serve`` runs it. Needs the extra ``serve``.
"""

from __future__ import annotations

from toolcarry.serve.app import create_app
from toolcarry.serve.routing import RoutingError, backend_of
from toolcarry.serve.settings import Settings, Upstream

__all__ = ["RoutingError", "Settings", "Upstream", "backend_of", "create_app"]
