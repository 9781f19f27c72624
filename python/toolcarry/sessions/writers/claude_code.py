"""Claude Code: a line of JSON for each message, in a folder that is named for the working directory.

Source: the records that Claude Code 2.1.332 writes, and claude-agent-sdk, ``list_sessions``, which finds them.
"""

from __future__ import annotations

import re
import unicodedata
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from toolcarry._input.json import dump
from toolcarry.sessions.draft import Draft
from toolcarry.sessions.files import add_file

__all__ = ["DESTINATION", "folder_of", "new_id", "records", "write"]

DESTINATION: Final = "anthropic"
VERSION: Final = "2.1.332"
"""The version whose records these are."""
MODEL: Final = "unknown"
"""The model of the answers. ``<synthetic>`` would mark them as texts of the client."""
LONGEST: Final = 200
"""The most characters of a folder's name, of longer ones a hash follows."""


def new_id() -> str:
    return str(uuid.uuid4())


def write(draft: Draft, root: Path) -> Path:
    """Write a session and return its file."""
    path = root / "projects" / folder_of(str(draft.directory)) / f"{draft.session_id}.jsonl"
    add_file(path, b"".join(dump(record) + b"\n" for record in records(draft)))
    return path


def records(draft: Draft) -> Iterator[dict[str, Any]]:
    """Yield the records, each with the id of the one before it."""
    parent: str | None = None
    for message in draft.messages:
        role = message["role"]
        content = message["content"]
        held: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            held = {
                "id": f"msg_{uuid.uuid4().hex[:24]}",
                "type": "message",
                "role": role,
                "model": MODEL,
                "content": [as_own(draft, block) for block in blocks],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {"input_tokens": 0, "output_tokens": 0},
            }
        record = {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": str(draft.directory),
            "sessionId": draft.session_id,
            "version": VERSION,
            "gitBranch": draft.branch,
            "type": role,
            "message": held,
            "uuid": str(uuid.uuid4()),
            "timestamp": draft.stamp(),
        }
        parent = record["uuid"]
        yield record


def as_own(draft: Draft, block: dict[str, Any]) -> dict[str, Any]:
    """Return a block, of a call as Claude Code makes it."""
    if block.get("type") != "tool_use":
        return block
    own = draft.own(block["name"], block["input"])
    return {**block, "name": own.name, "input": own.arguments}


def folder_of(directory: str) -> str:
    """Return the name of the folder for the sessions of a working directory.

    >>> folder_of("/home/ann/the barn")
    '-home-ann-the-barn'
    """
    given = unicodedata.normalize("NFC", directory)
    units = given.encode("utf-16-le")  # JavaScript counts these
    plain = "".join(
        chr(unit) if unit < 128 and re.match("[A-Za-z0-9]", chr(unit)) else "-"
        for unit in memoryview(units).cast("H")
    )
    if len(plain) <= LONGEST:
        return plain
    number = 0
    for unit in memoryview(units).cast("H"):
        number = (number * 31 + unit) & 0xFFFFFFFF
    signed = number - (1 << 32) if number >= 1 << 31 else number
    return f"{plain[:LONGEST]}-{base36(abs(signed))}"


def base36(number: int) -> str:
    """Return a number in the digits 0 to z.

    >>> base36(1295)
    'zz'
    """
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits or "0"
