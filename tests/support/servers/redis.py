"""A private Redis server: Debian's binary, a temporary directory, a free port of this machine, no other users."""

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import redis
from support.clocks import wait_until

TIMEOUT = 60.0


def find_redis() -> str | None:
    """The server's program."""
    return shutil.which("redis-server")


def free_port() -> int:
    """Return a port of this machine on which nobody listens.

    It lies outside the range for outgoing connections, so that it is still free after the server was killed.
    """
    while True:
        port = random.randrange(20_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


class RedisServer:
    """A server that keeps nothing on disk: what was killed comes back empty, on the same port.

    It runs from the start, unless ``is_late``; clients need the ``password``, where there is one.
    """

    def __init__(self, program: str, *, password: str = "", is_late: bool = False) -> None:
        self._program = program
        self._password = password
        self._is_standing = False
        self._process: subprocess.Popen[bytes] | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="toolcarry-redis-"))
        self.port = free_port()
        if not is_late:
            self.start()

    @property
    def url(self) -> str:
        return self.url_with(self._password)

    @property
    def pid(self) -> int:
        assert self._process is not None, "it doesn't run"
        return self._process.pid

    def url_with(self, password: str) -> str:
        """The URL of a client who believes that this is the password."""
        owner = f":{password}@" if password else ""
        return f"redis://{owner}127.0.0.1:{self.port}/0"

    def client(self) -> "redis.Redis[Any]":
        """Open a client for the test itself."""
        return redis.Redis.from_url(self.url, socket_timeout=TIMEOUT)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        assert self._process is None, "it runs"
        options = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "dir": str(self.folder),
            "logfile": str(self.folder / "log"),
            "save": "",
            "appendonly": "no",
            "requirepass": self._password,
        }
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        self._process = subprocess.Popen(
            [self._program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until(self._answers, seconds=TIMEOUT, what="Redis to answer")

    def _answers(self) -> bool:
        assert self._process is not None
        try:
            with self.client() as client:
                return bool(client.ping())
        except redis.ConnectionError:
            assert self._process.poll() is None, (self.folder / "log").read_text()
            return False

    def stop(self) -> None:
        """Suspend the server: connections are accepted and never answered."""
        if not self._is_standing:
            self._is_standing = True
            os.kill(self.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, self.pid, os.WSTOPPED)

    def go_on(self) -> None:
        """Resume the server if it is suspended."""
        if self._is_standing:
            self._is_standing = False
            os.kill(self.pid, signal.SIGCONT)
            os.waitid(os.P_PID, self.pid, os.WCONTINUED)

    def kill(self) -> None:
        """Kill the server without notice to its clients."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(TIMEOUT)
            self._process = None
            self._is_standing = False

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
