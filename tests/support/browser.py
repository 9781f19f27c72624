"""Debian's Chromium without a screen, driven over the DevTools protocol through a pair of pipes.

https://chromedevtools.github.io/devtools-protocol/. A window of Chromium has a least width, so that a phone is emulated.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium")
WRITE, READ = 4, 3
"""The descriptors that ``--remote-debugging-pipe`` writes to and reads from."""


class Browser:
    """One page of a browser. ``complaints`` are the lines of its console, and ``requests`` the addresses that it loaded after itself."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands = os.fdopen(commands, "wb", buffering=0)
        self._answers = os.fdopen(answers, "rb", buffering=0)
        self._buffer = b""
        self._session = ""
        self._number = 0
        self._events: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def start(self) -> None:
        """Make a page and listen to it."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """Close the pipes, which ends the browser."""
        self._commands.close()
        self._answers.close()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Run a method and return its result."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": params}
        if self._session:
            command["sessionId"] = self._session
        self._commands.write(json.dumps(command).encode() + b"\0")
        while True:
            message = self._next()
            if message.get("id") == self._number:
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result

    def _next(self) -> dict[str, Any]:
        """Return the next message, and note what it says about the page."""
        while b"\0" not in self._buffer:
            data = os.read(self._answers.fileno(), 1 << 20)
            assert data, "the browser has ended"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        method, params = message.get("method"), message.get("params", {})
        if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(json.dumps(params))
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("data:", "blob:")) and params.get("type") != "Document":
                self.requests.append(url)
        elif method == "Page.loadEventFired":
            self._events.append(message)
        return message

    def open(self, path: Path, *, width: int, height: int = 900, is_dark: bool = False) -> None:
        """Load a page, and wait until it has been drawn."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self._events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not self._events:
            self._next()
        self.wait()

    def wait(self) -> None:
        """Wait until two frames have been drawn."""
        frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.call("Runtime.evaluate", expression=frames, awaitPromise=True)

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def screenshot(self, path: Path, *, height: int | None = None) -> None:
        """Write a PNG of the page: of all of it, or of its first ``height`` pixels."""
        size = self.evaluate("[innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": height or size[1], "scale": 1}
        found = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))

    def pdf(self, path: Path) -> None:
        """Write the page as it is printed."""
        found = self.call("Page.printToPDF", printBackground=True)
        path.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Run Chromium with its profile in a folder."""
    their_commands, commands = os.pipe()
    answers, their_answers = os.pipe()
    given = [fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (their_commands, their_answers)]
    script = f'exec "$@" {READ}<&{given[0]} {WRITE}>&{given[1]}'
    process = subprocess.Popen(
        [
            "bash", "-c", script, "chromium", str(CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu",
            "--hide-scrollbars", "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={folder}",
        ],
        pass_fds=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    for each in (their_commands, their_answers, *given):
        os.close(each)
    found = Browser(commands, answers)
    try:
        found.start()
        yield found
    finally:
        found.close()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
