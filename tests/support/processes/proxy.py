"""``toolcarry serve`` as a child process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

COMMAND = [sys.executable, "-m", "toolcarry", "serve"]


@contextmanager
def running(
    *args: object, stderr: Any = subprocess.PIPE
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """The process, and the address that it says."""
    process = subprocess.Popen(
        [*COMMAND, *map(os.fspath, args), "--port", "0"],  # type: ignore[call-overload]
        stdout=subprocess.PIPE,
        stderr=stderr,
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().decode().strip()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
