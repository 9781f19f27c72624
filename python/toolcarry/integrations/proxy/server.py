"""The server process: listen, print the address, and shut down gracefully on a signal.

Only this module needs uvicorn.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from toolcarry.redact.logs import get_logger

__all__ = ["configure_logging", "listen", "run"]

logger = get_logger("toolcarry.serve")

KEEP_ALIVE: Final = 75
"""Seconds that a connection may be idle: longer than gateways and clients keep one, so that they close it."""

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Server(uvicorn.Server):
    """A server that shuts down gracefully on a signal: it accepts no more connections and finishes running answers.

    Uvicorn's own server raises the signal again after the shutdown, which would kill the process.
    """

    def __init__(self, config: uvicorn.Config, app: Starlette, tell: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._tell = tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tell()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._app.state.is_ready = False
        super().handle_exit(sig, frame)


class TimedProtocol(H11Protocol):
    """A connection that is closed if the head of a request takes longer than ``head_timeout`` seconds.

    Uvicorn limits the time between two requests, but neither the wait for the first one nor a head that comes byte by byte.
    """

    head_timeout = 60.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._forget_head()

    def _watch_head(self) -> None:
        """Start the timer if a head is awaited; a part of one does not start it again."""
        if self.conn.their_state is not h11.IDLE:
            self._forget_head()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_timeout, self.transport.close)

    def _forget_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 chooses a free port. Raises ``OSError``."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=2048)


def address(listener: socket.socket) -> str:
    """Return the address of a listening socket, as a URL."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(
    app: Starlette,
    listener: socket.socket,
    control: socket.socket,
    *,
    grace: int,
    head_timeout: float,
    tell: Callable[[str, str], None],
) -> None:
    """Serve until SIGTERM or SIGINT, and then for up to ``grace`` seconds until every answer is complete.

    The head of a request has to arrive within ``head_timeout`` seconds.
    Requests to ``control``, which has a separate port, go to ``app.state.control``. ``tell`` is called with both addresses
    once connections are accepted. A second SIGINT stops the server at once, and raises ``KeyboardInterrupt``.
    """
    where = address(listener), address(control)
    control_port = control.getsockname()[1]

    async def ending(scope: Scope, receive: Receive, send: Send) -> None:
        is_control = scope["type"] == "http" and scope["server"][1] == control_port
        try:
            await (app.state.control if is_control else app)(scope, receive, send)
        except asyncio.CancelledError:  # uvicorn would log it as a failure of the application
            logger.warning("interrupted an answer that did not end within %d s", grace)

    protocol = type("Protocol", (TimedProtocol,), {"head_timeout": head_timeout})
    config = uvicorn.Config(
        ending,
        http=protocol,
        log_config=None,
        access_log=False,
        ws="none",
        proxy_headers=False,  # a forwarded header must not make a remote client look local
        server_header=False,
        date_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=grace,
    )
    server = Server(config, app, lambda: tell(*where))
    server.run([listener, control])
    if server.force_exit:
        raise KeyboardInterrupt


def configure_logging(level: str = "info") -> None:
    """Log to stderr: messages of toolcarry from a level on, and warnings of others. No line holds content or a secret."""
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("toolcarry").setLevel(level.upper())
