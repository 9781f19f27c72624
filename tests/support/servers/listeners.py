"""Test servers that only look like Redis, or relay to one."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

Pretend = Callable[..., str]
Relay = Callable[[float], str]


class Listener:
    """A server on a port of its own; ``serve`` has each connection in a thread of its own, until either side ends it."""

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        self._serve = serve
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._listen)]
        self._threads[0].start()
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}"

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._connections.append(connection)
                self._threads.append(threading.Thread(target=self._one, args=(connection,)))
                self._threads[-1].start()

    def _one(self, connection: socket.socket) -> None:
        with suppress(OSError):
            self._serve(connection)

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join()
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads[1:]:
            thread.join()
        for connection in self._connections:
            connection.close()
