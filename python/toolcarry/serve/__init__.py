"""A reference proxy: requests of agents go in, each to the upstream that it is routed to, and answers stream back.

It is an example that can be put to work behind a gateway, no more: one process, no TLS, no accounts, no retries.
``create_app`` makes the ASGI application, ``Proxy`` puts the middleware around it by the configuration, and
``toolcarry serve`` runs that. Needs the extra ``serve``.
"""

from __future__ import annotations

from toolcarry.serve.app import create_app
from toolcarry.serve.proxy import Proxy
from toolcarry.serve.routing import RoutingError, upstream_of

__all__ = ["Proxy", "RoutingError", "create_app", "upstream_of"]
