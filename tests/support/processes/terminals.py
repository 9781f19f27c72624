"""A command with its own terminal."""

from __future__ import annotations

import os
import subprocess

import pytest

pty = pytest.importorskip("pty")


def in_terminal(
    args: list[str], environment: dict[str, str], *, stdout: int | None
) -> tuple[int, bytes]:
    """Run with a terminal as stderr, and as stdout unless one is given; return the exit code and the output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        args,
        stdin=subprocess.DEVNULL,
        stdout=theirs if stdout is None else stdout,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    return process.wait(30), shown
