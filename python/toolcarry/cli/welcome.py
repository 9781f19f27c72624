"""What ``toolcarry`` alone prints: the most useful commands, on the newest session of this machine."""

from __future__ import annotations

import os
import shlex
import shutil
from datetime import UTC, datetime
from pathlib import Path

from toolcarry.cli.sessions_list import age_of
from toolcarry.cli.terminal import one_line
from toolcarry.sessions.agents import AGENTS, agent_named
from toolcarry.sessions.find import FoundSession, find_sessions

__all__ = ["first_lines"]


def first_lines() -> str:
    """Return eight lines with five commands. On a machine with sessions, each command works unchanged."""
    session = newest_session()
    if session is None:
        head = "No agent sessions were found on this machine. FILE is a session file, a request, or a transcript."
        file, target = "FILE", "--in codex --dry-run"
    else:
        age = age_of(datetime.now(UTC) - session.changed)
        place = "directory" if session.is_in(here()) else "machine"
        head = f"The newest session of this {place} is from {agent_named(session.agent).title}, changed {age} ago."
        file, target = as_typed(session.path), target_for(session.agent)
    commands = (
        ("see what fills its context", f"toolcarry inspect {file}"),
        ("continue in another agent", f"toolcarry continue {file} {target}"),
        ("hand it to another model", f"toolcarry carry {file} --max-tokens 5000"),
        ("write an HTML report", f"toolcarry report {file} -o page.html"),
        ("list the sessions of all agents", "toolcarry sessions"),
    )
    width = max(len(what) for what, _ in commands)
    lines = [head, *(f"  {what:<{width}}  {command}" for what, command in commands)]
    return "\n".join(
        [*lines, "All commands: toolcarry --help", "Is everything installed? toolcarry doctor"]
    )


def newest_session() -> FoundSession | None:
    """Return the newest session of this directory, or else of this machine."""
    found = find_sessions(os.environ)
    place = here()
    return next((each for each in found if each.is_in(place)), found[0] if found else None)


def here() -> Path:
    return Path(os.path.realpath(Path.cwd()))


def target_for(agent: str) -> str:
    """Return options that name another agent, if possible one that is installed."""
    others = [each for each in AGENTS if each.name != agent]
    there = (each for each in others if shutil.which(each.program) is not None)
    target = next(there, None)
    return f"--in {target.name}" if target else f"--in {others[0].name} --dry-run"


def as_typed(path: Path) -> str:
    """Return a path as a user types it in a shell: short, below the home directory."""
    shown = one_line(str(path), 4_000)
    home = f"{Path.home()}{os.sep}"
    if os.name != "nt" and shown.startswith(home):
        return f"~/{shlex.quote(shown.removeprefix(home))}"
    return shlex.quote(shown)
