"""A short conversation in a store, and what commands write of it."""

from __future__ import annotations

import json
from pathlib import Path

from toolcarry.tract import Tract

CALLS = [
    {"id": "t1", "name": "Bash", "arguments": {"command": "pytest"}},
    {"id": "t2", "name": "Read", "arguments": {"file_path": "a.py"}},
]
HOSTILE = "first\x1b[31m line\x07\nsecond\x9b2J\r\nthird \ud800 \u202e"


def say(tract: Tract) -> dict[str, str]:
    commits = {
        "user": tract.user("Run the tests.\nAll of them."),
        "call": tract.assistant("I will.", tool_calls=CALLS),
        "bash": tract.tool_result("t1", "Bash", "1 failed", is_error=True),
        "hostile": tract.user(HOSTILE, metadata={"no\x1b[0mte": "a\x07b"}),
    }
    found = {key: commit.commit_hash for key, commit in commits.items()}
    found["edit"] = tract.tool_result("t1", "Bash", "1", edit=found["bash"]).commit_hash
    return found


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def many(path: Path, count: int, words: int) -> Path:
    """A long session."""
    with path.open("w") as file:
        for number in range(count):
            line = {
                "role": "user",
                "content": f"message {number}: {'word ' * words}{number * 7919}",
            }
            file.write(f"{json.dumps(line)}\n")
    return path
