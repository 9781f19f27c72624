"""``toolcarry serve`` as a child process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from support.servers.addresses import Address

COMMAND = [sys.executable, "-m", "toolcarry", "serve"]


@contextmanager
def running(
    *args: object, stderr: Any = subprocess.PIPE
) -> Iterator[tuple[subprocess.Popen[bytes], Address]]:
    """The process, and the addresses that it says."""
    process = subprocess.Popen(
        [*COMMAND, *map(os.fspath, args), "--port", "0"],  # type: ignore[call-overload]
        stdout=subprocess.PIPE,
        stderr=stderr,
    )
    try:
        assert process.stdout is not None
        url, control = (process.stdout.readline().decode().strip() for _ in range(2))
        yield process, Address(url, control.removeprefix("control "))
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
