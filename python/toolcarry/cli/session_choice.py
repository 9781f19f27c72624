"""Find the session that a user names: a file, an id, an agent's newest, or the newest of this directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from toolcarry.cli.exit_codes import NOT_FOUND, FileError
from toolcarry.cli.session_pick import can_ask, pick
from toolcarry.cli.terminal import Screen, one_line
from toolcarry.sessions.agents import AGENT_NAMES, agent_named
from toolcarry.sessions.find import FoundSession, find_sessions
from toolcarry.sessions.heads import head_of
from toolcarry.sessions.undo import is_untouched

__all__ = ["Chosen", "choose"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A session to continue: the name of its file as commands accept it, its title, and its directory.

    ``gone`` is the directory in which it worked, if that is not there any more.
    """

    name: str
    title: str
    directory: Path
    gone: str = ""


def choose(
    name: str | None, environment: Mapping[str, str], here: Path, screen: Screen, *, is_picked: bool
) -> Chosen:
    """Return the session that ``name`` means. Raises ``FileError`` if there is none.

    The user is asked if ``is_picked``, and in a terminal if no session works in this directory.

    The name of an agent never means a file; ``./claude`` does. Sessions that this command wrote and nobody continued
    don't count as the newest.
    """
    if is_picked:
        return of_found(pick(find_sessions(environment, agent=name), screen), here)
    is_agent = name in AGENT_NAMES
    is_id = name is not None and not is_agent
    if name is not None and not is_agent and (is_there(name) or is_in_store(name)):
        return of_file(name, here)
    if is_agent:
        found = find_sessions(environment, agent=name)
        where = f"of {agent_named(str(name)).title}"
    elif name is None:
        place = Path(os.path.realpath(here))
        everywhere = find_sessions(environment)
        found = [each for each in everywhere if each.is_in(place)]
        where = f"of {one_line(str(here), 400)}"
        if everywhere and not found and can_ask():
            screen.say(f"no session {where} was found; these are the newest of this machine:")
            return of_found(pick(everywhere, screen), here)
    else:
        found = [each for each in find_sessions(environment) if each.session_id == name]
        where = f"named {one_line(name, 400)}"
    if not found:
        raise FileError(
            f"no session {where} was found; name a file, an id, or an agent ({', '.join(AGENT_NAMES)}); "
            "toolcarry sessions lists them",
            NOT_FOUND,
        )
    fresh = (each for each in found if not is_untouched(environment, each.session_id))
    return of_found(found[0] if is_id else next(fresh, found[0]), here)


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
    return chosen(name, one_line(name, 400), directory, here)


def of_found(session: FoundSession, here: Path) -> Chosen:
    title = f"session {session.session_id} of {agent_named(session.agent).title}"
    return chosen(str(session.path), title, session.directory, here)


def chosen(name: str, title: str, directory: str, here: Path) -> Chosen:
    """Return a session with its directory if that is still there, else with the current one."""
    known = "" if directory.startswith("sha256:") else directory
    is_there = bool(known) and Path(known).is_dir()
    place = Path(os.path.realpath(known if is_there else here))
    return Chosen(name, title, place, "" if is_there else known)
