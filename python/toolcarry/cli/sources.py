"""The files that are named on the command line: files, folders, patterns, and the places where agents keep sessions."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolcarry.cli.exit_codes import FAILED, NOT_FOUND, FileError
from toolcarry.cli.io import STDIN
from toolcarry.cli.terminal import label

__all__ = ["PLACES", "Place", "expand", "newest_sessions", "session_files"]

ENDS: Final = (".jsonl", ".json", ".traj")
PACKED: Final = ("", ".gz", ".zst", ".zstd")
SUFFIXES: Final = tuple(end + packed for end in ENDS for packed in PACKED)
"""The ends of the names of files that may hold a conversation."""
MAGIC: Final = frozenset("*?[")


def expand(names: Sequence[str]) -> list[str]:
    """Return the files for names: a folder gives all conversations in it, at any depth, and a pattern all matches.

    A file is named once; standard input stays as often as it is named, which is refused later. A folder of OpenHands
    events is one conversation. Raises ``FileError`` for a folder without a conversation and for a pattern without a match.
    """
    found: dict[str, None] = {}
    for name in names:
        found |= dict.fromkeys(files_of(name))
    return [*found, *[STDIN] * (names.count(STDIN) - 1)]


def files_of(name: str) -> list[str]:
    """Return the files for one name. A name without a file stays, so that its job reports it."""
    if name == STDIN or "\0" in name or os.path.isfile(name):  # noqa: PTH113 - a Path raises an error for some names
        return [name]
    if os.path.isdir(name):  # noqa: PTH112 - as above
        if holds_events(Path(name)):
            return [name]
        inside = session_files(Path(name))
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
        found += session_files(Path(match)) if Path(match).is_dir() else [match]
    return found


def session_files(folder: Path) -> list[str]:
    """Return the files of a folder that may hold a conversation, by their names, sorted.

    Links to folders are not followed, and folders whose names begin with a dot are left out.
    """
    found: list[str] = []
    for root, folders, files in os.walk(folder):
        if holds_events(Path(root)):
            found.append(root)
            folders.clear()
            continue
        folders[:] = [each for each in folders if not each.startswith(".")]
        found += [os.path.join(root, each) for each in files if each.endswith(SUFFIXES)]  # noqa: PTH118 - a Path would shorten names
    return sorted(found)


def holds_events(folder: Path) -> bool:
    """Return true for a folder in which OpenHands keeps the events of one conversation."""
    return any(next(each.glob("event-*.json"), None) for each in (folder, folder / "events"))


@dataclass(frozen=True, slots=True)
class Place:
    """A folder in which an agent keeps its sessions.

    ``variable`` names an environment variable that replaces the first ``folder`` in the home directory. ``note`` says how
    to get at sessions that are not files.
    """

    agent: str
    variable: str
    folder: str
    pattern: str
    note: str = ""

    def root(self, environment: Mapping[str, str]) -> Path:
        """Return the folder on this machine."""
        given = environment.get(self.variable, "")
        return Path(given) if given else Path.home() / self.folder

    def files(self, environment: Mapping[str, str]) -> Iterator[Path]:
        """Yield the sessions in this place."""
        yield from self.root(environment).glob(self.pattern)


# Claude Code: https://code.claude.com/docs/en/claude-directory. Codex: github.com/openai/codex, docs/config.md. Gemini
# CLI: https://geminicli.com/docs/cli/session-management. opencode: github.com/anomalyco/opencode,
# packages/opencode/src/storage/db.ts.
PLACES: Final = (
    Place("Claude Code", "CLAUDE_CONFIG_DIR", ".claude", "projects/*/*.jsonl"),
    Place("Codex", "CODEX_HOME", ".codex", "sessions/*/*/*/rollout-*.jsonl*"),
    Place("Codex", "CODEX_HOME", ".codex", "archived_sessions/rollout-*.jsonl*"),
    Place("Gemini CLI", "GEMINI_CLI_HOME", "", ".gemini/tmp/*/chats/session-*.json*"),
    Place("opencode", "XDG_DATA_HOME", ".local/share", "opencode/opencode*.db", "FILE is its newest conversation, FILE#ID another"),
)  # fmt: skip
"""The places of the agents that most people use."""


def newest_sessions(environment: Mapping[str, str], limit: int) -> tuple[list[str], list[str]]:
    """Return the newest sessions of all places, newest first, and a line about each place that has any."""
    found: list[tuple[float, str]] = []
    lines: list[str] = []
    for place in PLACES:
        files = list(place.files(environment))
        if files:
            where = place.root(environment) / place.pattern
            lines.append(f"{place.agent}: {len(files):,} in {where}" + (f"; {place.note}" if place.note else ""))  # fmt: skip
        if not place.note:
            found += [(each.stat().st_mtime, str(each)) for each in files]
    return [name for _, name in sorted(found, reverse=True)[:limit]], lines
