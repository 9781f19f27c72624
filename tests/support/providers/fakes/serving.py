"""An ASGI application on a socket, in a separate thread."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn


@contextmanager
def serving(app: Any, *, lifespan: str = "off") -> Iterator[str]:
    """Serve on a free port of this machine; the URL."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        ws="none",
        lifespan=lifespan,  # type: ignore[arg-type]
        proxy_headers=False,
        timeout_keep_alive=75,  # a request must not meet a connection that is just being closed
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
