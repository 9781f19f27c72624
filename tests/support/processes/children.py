"""Child processes for the tests in which one is killed, runs out of a resource, or writes at the same time as another."""

import os
import subprocess
import sys
from typing import Any

PIPE = subprocess.PIPE
TIMEOUT = 60.0
"""Seconds, for what takes one or two: a machine may be busy."""


def start(script: str, *arguments: object, **options: Any) -> "subprocess.Popen[str]":
    """Start a script, which imports what this process can import."""
    return subprocess.Popen(command(script, *arguments), **with_defaults(options))


def run(script: str, *arguments: object, **options: Any) -> str:
    """Return what a script printed. Fail with its error output if it does not end successfully."""
    with start(script, *arguments, **options) as child:
        printed, said = child.communicate(timeout=TIMEOUT)
    assert child.returncode == 0, f"ended with {child.returncode}: {said}"
    return printed


def command(script: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", script, *map(str, arguments)]


def with_defaults(options: dict[str, Any]) -> dict[str, Any]:
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return {"env": environment, **pipes, **options}
