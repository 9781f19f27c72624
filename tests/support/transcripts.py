"""Real transcripts, which are not part of this project: tests that use them skip where they are absent."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHECKOUT = Path(os.environ.get("TOOLCARRY_CHECKOUT") or Path(__file__).parents[2])
"""The checkout; the gate tests a copy of it elsewhere."""
TRANSCRIPTS = CHECKOUT.parent / "shared" / "transcripts"
FILES: list[Path] = sorted(
    path for path in TRANSCRIPTS.rglob("*") if path.suffix in (".json", ".jsonl", ".traj")
)


def real_conversations(folder: Path) -> Iterator[tuple[str, list[Any]]]:
    """The name and the messages of each: the requests of agents, and the main chains of their sessions."""
    for path in sorted((folder / "openai_chat").glob("*.json")):
        found = json.loads(path.read_bytes())
        messages = found.get("messages") if isinstance(found, dict) else found
        if isinstance(messages, list):
            yield path.name, messages
    for path in sorted((folder / "claude_code").rglob("*.jsonl")):
        records = []
        for line in path.read_bytes().splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            inner = record.get("message") if isinstance(record, dict) else None
            if isinstance(inner, dict) and not record.get("isSidechain"):
                records.append(inner)
        yield path.name, records


def growing(messages: list[Any]) -> Iterator[list[Any]]:
    """Yield the requests of an agent: one before each model turn, and one at the end."""
    for position in range(1, len(messages)):
        roles = [messages[position - 1].get("role"), messages[position].get("role")]
        if roles[0] != "assistant" and roles[1] == "assistant":
            yield messages[:position]
    yield messages
