"""The state of the working directory: what its version control says, and which files are no longer as a session saw them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from toolcarry._util.plural import counted
from toolcarry.api.context import extract_tool_blocks
from toolcarry.api.conversation import Given
from toolcarry.importers.read import arguments_of, text_of_result
from toolcarry.sessions.tools import own_call
from toolcarry.types.value import Value

__all__ = ["SeenFile", "World", "branch_of", "look"]

DEADLINE: Final = 5
"""The seconds that git may take."""
MOST: Final = 5
"""The most names that a line shows."""
LARGEST: Final = 4 << 20
"""The bytes of the largest file whose content is compared."""
NUMBERED: Final = re.compile(r"\s*\d+(?:\t|→)")
"""The number that Claude Code writes before each line of a file."""


class SeenFile(Value, frozen=True):
    """A file that a session read or wrote, and its content now: ``same``, ``changed``, ``gone``, or ``unknown``."""

    path: str
    state: str


class World(Value, frozen=True):
    """The working directory as it is now."""

    directory: str
    branch: str = ""
    head: str = ""
    changed: tuple[str, ...] = ()
    """The files with changes that are not committed."""
    files: tuple[SeenFile, ...] = ()
    is_repository: bool = False

    @property
    def stale(self) -> list[str]:
        """The files that are no longer as the session saw them."""
        return [each.path for each in self.files if each.state in ("changed", "gone")]

    def lines(self) -> list[str]:
        """Return the three lines that a person and the next model read.

        >>> World("/barn").lines()
        ['/barn: no git repository', 'uncommitted changes: unknown', 'files of the session: none']
        """
        where = f"{self.directory}: no git repository"
        changes = "uncommitted changes: unknown"
        if self.is_repository:
            branch = f"branch {self.branch}" if self.branch else "no branch"
            where = f"{self.directory}: {branch}, head {self.head or 'without a commit'}"
            changes = (
                f"uncommitted changes: {counted(len(self.changed), 'file')}{shown(self.changed)}"
            )
        files = "files of the session: none"
        if self.files:
            states = [f"{each.path} is gone" if each.state == "gone" else each.path for each in self.files if each.state in ("changed", "gone")]  # fmt: skip
            unknown = sum(each.state == "unknown" for each in self.files)
            files = f"files of the session: {len(self.files)}, changed since: {len(states)}{shown(states)}"
            files += f", not comparable: {unknown}" if unknown else ""
        return [where, changes, files]


def shown(names: Iterable[str]) -> str:
    listed = list(names)
    more = [f"{len(listed) - MOST} more"] if len(listed) > MOST else []
    return f" ({', '.join([*listed[:MOST], *more])})" if listed else ""


def look(directory: Path, messages: Given) -> World:
    """Return the state of a directory. ``messages`` is a session, in any form."""
    status = git(directory, "status", "--porcelain", "-z", "--untracked-files=normal")
    files = tuple(SeenFile(path, state) for path, state in compared(directory, messages).items())
    if status is None:
        return World(str(directory), files=files)
    head = (git(directory, "rev-parse", "--short", "HEAD") or "").strip()
    return World(str(directory), branch_of(directory), head, tuple(changes_in(status)), files, True)


def git(directory: Path, *arguments: str) -> str | None:
    """Return what git prints; ``None`` without git or a repository. It takes no lock and runs no hook of the repository."""
    command = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C", str(directory), *arguments]  # fmt: skip
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE, check=False)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def branch_of(directory: Path) -> str:
    """Return the branch that is checked out; empty if there is none."""
    found = git(directory, "symbolic-ref", "--short", "-q", "HEAD")
    return (found or "").strip()


def changes_in(status: str) -> Iterator[str]:
    """Yield the names in the status of a repository; of a renamed file, the new one.

    >>> list(changes_in(" M hens.txt\\0R  new.txt\\0old.txt\\0?? barn/\\0"))
    ['hens.txt', 'new.txt', 'barn/']
    """
    fields = iter(status.split("\0"))
    for each in fields:
        if each:
            yield each[3:]
        if each[:1] in ("R", "C"):
            next(fields, None)


def compared(directory: Path, messages: Given) -> dict[str, str]:
    """Return the state of each file that a call read or wrote; the last call that tells decides."""
    states: dict[str, str] = {}
    for block in extract_tool_blocks(messages):
        name, arguments = block.tool_name, arguments_of(block)
        own = own_call("claude", name, arguments)
        if own is not None:
            name, arguments = own.name, own.arguments
        path = arguments.get("file_path")
        if name not in ("Read", "Write", "Edit") or not isinstance(path, str):
            continue
        if block.is_error or block.tool_result is None:
            continue
        state = state_of(directory, path, name, arguments, text_of_result(block))
        if state != "unknown" or path not in states:
            states[path] = state
    return states


def state_of(directory: Path, path: str, name: str, arguments: dict[str, Any], answer: str) -> str:
    """Return the state of a file after a call that read or wrote it."""
    place = directory / path
    try:
        if not place.is_file():
            return "unknown" if place.exists() else "gone"
        if place.stat().st_size > LARGEST:
            return "unknown"
        content = place.read_bytes().decode("utf-8")
    except (OSError, ValueError):
        return "unknown"
    if name == "Write":
        return "same" if content == arguments.get("content") else "changed"
    if name == "Edit":
        return "same" if str(arguments.get("new_string", "")) in content else "changed"
    read = [NUMBERED.sub("", line, count=1) for line in answer.split("\n") if NUMBERED.match(line)]
    if "offset" in arguments or "limit" in arguments or not read:
        return "unknown"
    now = content.split("\n")
    # A reader may show one empty line more than there is, and may stop before the end.
    return "same" if now[: len(read)] == read[: len(now)] else "changed"
