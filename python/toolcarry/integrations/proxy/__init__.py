"""A reference proxy: it routes each request of an agent to an upstream and streams the response back.

It is only an example to run behind a gateway: one process, no TLS, no accounts, no retries. ``create_app`` makes the
ASGI application, ``Proxy`` puts the middleware around it by the configuration, and ``toolcarry serve`` runs that. Needs
the extra ``serve``.
"""

from __future__ import annotations

from toolcarry.integrations.proxy.app import Proxy, create_app
from toolcarry.integrations.proxy.routing import RoutingError, upstream_of

__all__ = ["Proxy", "RoutingError", "create_app", "upstream_of"]
