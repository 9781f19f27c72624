"""The state of the working directory: what its version control says."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

__all__ = ["branch_of", "git"]

DEADLINE: Final = 5
"""The seconds that git may take."""


def git(directory: Path, *arguments: str) -> str | None:
    """Return what git prints; ``None`` without git or a repository. It takes no lock and runs no hook."""
    command = ["git", "--no-optional-locks", "-C", str(directory), *arguments]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE, check=False)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def branch_of(directory: Path) -> str:
    """Return the branch that is checked out; empty if there is none."""
    found = git(directory, "symbolic-ref", "--short", "-q", "HEAD")
    return (found or "").strip()
