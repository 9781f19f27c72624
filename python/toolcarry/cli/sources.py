"""The files that are named on the command line: files, folders, patterns, and the places where agents keep sessions."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from toolcarry._input.archive import is_sqlite, is_zip
from toolcarry._input.sources import ids_in
from toolcarry.cli.exit_codes import FAILED, NOT_FOUND, FileError
from toolcarry.cli.io import STDIN
from toolcarry.cli.terminal import Screen, label, one_line
from toolcarry.errors import InputError
from toolcarry.sessions.agents import AGENTS, Agent

__all__ = ["expand", "newest_sessions", "places_of"]

ENDS: Final = (".jsonl", ".ndjson", ".json", ".traj", ".har", ".eval")
PACKED: Final = ("", ".gz", ".zst", ".zstd")
SUFFIXES: Final = tuple(end + packed for end in ENDS for packed in PACKED)
"""The ends of the names of files that may hold a conversation."""
MAGIC: Final = frozenset("*?[")


def expand(names: Sequence[str], screen: Screen) -> list[str]:
    """Return the files for names: a folder gives all conversations in it, at any depth, and a pattern all matches.

    A file is named once; standard input stays as often as it is named, which is refused later. A folder of OpenHands
    events is one conversation. The files of a folder that hold none are counted on the screen. Raises ``FileError`` for a
    folder without a conversation and for a pattern without a match.
    """
    found: dict[str, None] = {}
    for name in names:
        found |= dict.fromkeys(files_of(name, screen))
    return [*found, *[STDIN] * (names.count(STDIN) - 1)]


def files_of(name: str, screen: Screen) -> list[str]:
    """Return the files for one name. A name without a file stays, so that its job reports it."""
    if name == STDIN or "\0" in name or os.path.isfile(name):  # noqa: PTH113 - a Path raises an error for some names
        return [name]
    if os.path.isdir(name):  # noqa: PTH112 - as above
        if holds_events(Path(name)):
            return [name]
        inside, left = session_files(Path(name))
        if left:
            ends = ", ".join(
                f"{counted} {one_line(end, 20)}" for end, counted in sorted(left.items())
            )
            screen.say(f"{label(name)}: not read: {ends}; name a file to read it anyway")
        if not inside:
            raise FileError(f"{label(name)}: is a directory without conversations", FAILED)
        return inside
    if MAGIC.isdisjoint(name):
        return [name]
    matches = sorted(glob.glob(os.path.expanduser(name), recursive=True))  # noqa: PTH111, PTH207 - a Path has no absolute patterns
    if not matches:
        raise FileError(f"{label(name)}: no file matches", NOT_FOUND)
    found: list[str] = []
    for match in matches:
        found += files_of(match, screen)
    return found


def session_files(folder: Path) -> tuple[list[str], Counter[str]]:
    """Return the files of a folder that may hold a conversation, by their names, sorted, and how many others end in what.

    A store gives a name for each of its conversations. Links to folders are not followed, and folders and files whose
    names begin with a dot are left out.
    """
    found: list[str] = []
    left: Counter[str] = Counter()
    for root, folders, files in os.walk(folder):
        if holds_events(Path(root)):
            found.append(root)
            folders.clear()
            continue
        folders[:] = [each for each in folders if not each.startswith(".")]
        for each in files:
            name = os.path.join(root, each)  # noqa: PTH118 - a Path would shorten names
            inside = conversations_in(name)
            found += inside
            if not inside and not each.startswith("."):
                left[Path(each).suffix or each] += 1
    return sorted(found), left


def conversations_in(name: str) -> list[str]:
    """Return a name for each conversation of a store; the name of any other file, if it ends as one with a conversation."""
    path = Path(name)
    if is_sqlite(path) or is_zip(path):
        with suppress(InputError, OSError):  # not the store of an agent
            return [f"{name}#{each}" for each in ids_in(path)]
    return [name] if name.endswith(SUFFIXES) else []


def holds_events(folder: Path) -> bool:
    """Return true for a folder in which OpenHands keeps the events of one conversation."""
    return any(next(each.glob("event-*.json"), None) for each in (folder, folder / "events"))


def newest_sessions(environment: Mapping[str, str], limit: int) -> tuple[list[str], list[str]]:
    """Return the newest sessions of all agents, newest first, and a line about each agent that has any.

    The sessions in a store are not among them.
    """
    found: list[tuple[float, str]] = []
    lines: list[str] = []
    for agent in AGENTS:
        files = list(agent.files(environment))
        if files:
            note = "; FILE is its newest conversation, FILE#ID another" if agent.is_store else ""
            lines.append(f"{agent.title}: {len(files):,} in {places_of(agent, environment)}{note}")
        if not agent.is_store:
            found += [(each.stat().st_mtime, str(each)) for each in files]
    return [name for _, name in sorted(found, reverse=True)[:limit]], lines


def places_of(agent: Agent, environment: Mapping[str, str]) -> str:
    """Return the patterns that the files of an agent match, as text."""
    root = agent.root(environment)
    return ", ".join(str(root / pattern) for pattern in agent.patterns)
