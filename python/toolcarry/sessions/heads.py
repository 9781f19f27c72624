"""The facts at the beginning of a session's file, without reading the rest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from toolcarry._input.archive import unpack

__all__ = ["Head", "head_of"]

MOST_BYTES: Final = 1 << 18
MOST_LINES: Final = 40


class Head(NamedTuple):
    """The id of a session, its working directory if it says so, and if it is one of a sub-agent."""

    session_id: str = ""
    directory: str = ""
    is_side: bool = False


def head_of(path: Path) -> Head:
    """Return the head of a session's file. Raises ``OSError`` if it can't be read.

    A session of Gemini CLI names its directory by a file next to it, or by a hash of it: then ``directory`` begins with
    ``sha256:``.
    """
    session_id = directory = ""
    is_side = False
    for record in records(path):
        held = record.get("payload")
        held = held if isinstance(held, dict) else record
        kind = record.get("type")
        given = held.get("sessionId") or (held.get("id") if kind in ("session_meta", "session") else None)  # fmt: skip
        if isinstance(given, str):
            session_id = session_id or given
        if isinstance(held.get("cwd"), str):
            directory = directory or held["cwd"]
        if kind == "session_meta" and isinstance(held.get("source"), dict):
            is_side = is_side or "subagent" in held["source"]
        is_side = is_side or held.get("kind") == "subagent" or record.get("isSidechain") is True
        if isinstance(held.get("projectHash"), str):
            directory = directory or project_of(path) or f"sha256:{held['projectHash']}"
        if session_id and directory:
            break
    return Head(session_id or path.name.split(".")[0], directory, is_side)


def project_of(path: Path) -> str:
    """Return the directory that Gemini CLI notes next to its sessions."""
    marker = path.parent.parent / ".project_root"
    return marker.read_text("utf-8", "replace").strip() if marker.is_file() else ""


def hash_of(directory: Path) -> str:
    """Return a directory as older sessions of Gemini CLI name it.

    >>> hash_of(Path("/barn"))[:14]
    'sha256:adeca9e'
    """
    return f"sha256:{hashlib.sha256(str(directory).encode()).hexdigest()}"


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the first records of a file: its lines, or the only document in it."""
    with path.open("rb") as file:
        begin = file.read(MOST_BYTES)
        if path.suffix not in (".jsonl", ".json"):
            begin = unpack(begin + file.read())
        for line in islice(begin.split(b"\n"), MOST_LINES):
            found = decoded(line)
            if found is not None:
                yield found
                continue
            if line.strip() == b"{":  # a document over several lines
                whole = decoded(begin + file.read())
                if whole is not None:
                    yield whole
                return


def decoded(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
