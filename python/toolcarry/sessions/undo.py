"""A list of what was written, so that it can be undone as long as it is unchanged."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from toolcarry._input.json import dump
from toolcarry.errors import InputError
from toolcarry.sessions.files import digest_of
from toolcarry.sessions.writers import opencode
from toolcarry.types.value import Value

__all__ = ["Entry", "is_untouched", "note_written", "state_folder", "take_back"]

NAME: Final = "continued.jsonl"


class Entry(Value, frozen=True):
    """Something that was written: a session, or a context, whose ``agent`` is empty."""

    agent: str
    session_id: str
    path: str
    digest: str
    time: str = ""


def state_folder(environment: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Return the folder for what toolcarry notes about its own work.

    >>> state_folder({"XDG_STATE_HOME": "/home/ann/state"}, "linux").as_posix()
    '/home/ann/state/toolcarry'
    """
    home = Path(environment.get("HOME") or Path.home())
    if platform == "win32":
        base = environment.get("LOCALAPPDATA")
        return (Path(base) if base else home / "AppData" / "Local") / "toolcarry"
    if platform == "darwin":
        return home / "Library" / "Application Support" / "toolcarry"
    base = environment.get("XDG_STATE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else home / ".local" / "state") / "toolcarry"


def digest(agent: str, path: Path, session_id: str) -> str:
    """Return a hash of what was written."""
    is_stored = agent == "opencode"
    return opencode.digest_of(path, session_id) if is_stored else digest_of(path)


def note_written(environment: Mapping[str, str], agent: str, session_id: str, path: Path) -> Path:
    """Add what was written to the list, and return the file of the list."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    entry = Entry(agent, session_id, str(path), digest(agent, path, session_id), now)
    file = state_folder(environment) / NAME
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "ab") as opened:
        opened.write(dump(entry.to_dict()) + b"\n")
    return file


def entries(environment: Mapping[str, str]) -> Iterator[Entry]:
    """Yield what was written, the oldest first. Lines that are not entries are passed over."""
    file = state_folder(environment) / NAME
    if not file.is_file():
        return
    for line in file.read_text("utf-8", "replace").splitlines():
        try:
            yield Entry(**json.loads(line))
        except (TypeError, ValueError):
            continue


def take_back(environment: Mapping[str, str], session_id: str | None = None) -> Entry:
    """Remove the session that was written last, or the one with an id, and return what was removed.

    Raises ``InputError`` if there is none, or if the session continued after it was written; it is then kept.
    """
    written = list(entries(environment))
    there = [each for each in written if exists(each)]
    if session_id is not None:
        there = [each for each in there if session_id in (each.session_id, each.path)]
    if not there:
        what = f"session {session_id!r:.80}" if session_id else "session"
        raise InputError(f"no {what} that toolcarry wrote is left to remove", None)
    entry = there[-1]
    path = Path(entry.path)
    if digest(entry.agent, path, entry.session_id) != entry.digest:
        raise InputError(
            f"{entry.path} was changed after toolcarry wrote it, so it stays; remove it yourself if nobody needs it",
            None,
        )
    if entry.agent == "opencode":
        opencode.remove(path, entry.session_id)
    else:
        path.unlink()
    return entry


def is_untouched(environment: Mapping[str, str], session_id: str) -> bool:
    """Return true for a session that toolcarry wrote and that was not continued."""
    for entry in entries(environment):
        if entry.agent and entry.session_id == session_id and exists(entry):
            return digest(entry.agent, Path(entry.path), session_id) == entry.digest
    return False


def exists(entry: Entry) -> bool:
    path = Path(entry.path)
    if entry.agent == "opencode":
        return path.is_file() and opencode.digest_of(path, entry.session_id) != ""
    return path.is_file()
