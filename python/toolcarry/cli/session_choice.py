"""Which session a user means: a file, an id, an agent's newest, or the newest of this directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from toolcarry.cli.exit_codes import NOT_FOUND, FileError
from toolcarry.cli.terminal import one_line
from toolcarry.sessions.agents import AGENT_NAMES, agent_named
from toolcarry.sessions.find import FoundSession, find_sessions
from toolcarry.sessions.heads import head_of

__all__ = ["Chosen", "choose"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A session to go on with: the name of its file, as commands take it, what it is called, and where it works."""

    name: str
    title: str
    directory: Path


def choose(name: str | None, environment: Mapping[str, str], here: Path) -> Chosen:
    """Return the session that ``name`` means. Raises ``FileError`` if there is none.

    The name of an agent is never a file: ``./claude`` is one.
    """
    is_agent = name in AGENT_NAMES
    if name is not None and not is_agent and (is_there(name) or is_in_store(name)):
        return of_file(name, here)
    if is_agent:
        found = find_sessions(environment, agent=name)
        where = f"of {agent_named(str(name)).title}"
    elif name is None:
        place = Path(os.path.realpath(here))
        found = [each for each in find_sessions(environment) if each.is_in(place)]
        where = f"of {one_line(str(here), 400)}"
    else:
        found = [each for each in find_sessions(environment) if each.session_id == name]
        where = f"named {one_line(name, 400)}"
    if not found:
        raise FileError(
            f"no session {where} was found; name a file, an id, or an agent ({', '.join(AGENT_NAMES)}); "
            "toolcarry sessions lists them",
            NOT_FOUND,
        )
    return of_found(found[0], here)


def is_there(name: str) -> bool:
    return "\0" not in name and Path(name).exists()


def is_in_store(name: str) -> bool:
    """Return true for ``STORE#ID``."""
    store, mark, _ = name.rpartition("#")
    return mark == "#" and is_there(store)


def of_file(name: str, here: Path) -> Chosen:
    directory = ""
    path = Path(name)
    if path.is_file() and path.suffix in (".jsonl", ".json"):
        directory = head_of(path).directory
    return Chosen(name, one_line(name, 400), existing(directory, here))


def of_found(session: FoundSession, here: Path) -> Chosen:
    title = f"session {session.session_id} of {agent_named(session.agent).title}"
    return Chosen(str(session.path), title, existing(session.directory, here))


def existing(directory: str, here: Path) -> Path:
    """Return the directory of a session if it is still there, else the current one."""
    place = Path(directory) if directory and not directory.startswith("sha256:") else here
    return Path(os.path.realpath(place if place.is_dir() else here))
