"""A session of Claude Code as an agent writes it that repairs a project: the same for the same number of calls.

Files are read, searched, edited by lines that were read before, and tested. The prompt cache grows, expires once, and
the conversation is compacted once.
"""

from __future__ import annotations

import json
from typing import Any

FOLDER = "/home/mara/tally"
MODEL = "claude-sonnet-4-5-20250929"
NOUNS = ("ledger", "invoice", "currency", "balance", "receipt", "account", "transfer", "discount", "payment", "customer")  # fmt: skip
VERBS = ("parse", "round", "split", "merge", "store", "check", "print", "convert")


def source_of(noun: str) -> list[str]:
    """Return the lines of a module."""
    lines = [f'"""The {noun}s of tally."""', ""]
    for verb in VERBS:
        lines += [
            f"def {verb}_{noun}(given_{noun}, limit_{verb}={len(verb) * len(noun)}):",
            f"    checked_{verb} = validate_{noun}(given_{noun}, purpose={verb!r})",
            f"    if checked_{verb}.amount > limit_{verb}:",
            f"        raise {noun.title()}Error(f'{verb}: {{given_{noun}}} is over {{limit_{verb}}}')",
            f"    return checked_{verb}.{verb}ed(places={len(noun)})",
            "",
        ]
    return lines


def log_of(noun: str, run: int) -> str:
    """Return the output of a test run."""
    passed = [f"tests/test_{name}.py::test_{verb}_{name} PASSED [{run:>3} ms]" for name in NOUNS[:6] for verb in VERBS]  # fmt: skip
    failed = f"FAILED tests/test_{noun}.py::test_{VERBS[run % 8]}_{noun} - {noun.title()}Error: over {run}"
    return "\n".join([*passed, failed, f"{run} failed, {len(passed)} passed"])


class Writer:
    """The records of a session."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.sent = 0
        self.cached = 0
        self.requests = 0

    def add(self, kind: str, message: dict[str, Any] | None, **more: Any) -> None:
        """Add a record, after the last one."""
        number = len(self.records)
        parent = self.records[-1]["uuid"] if self.records else None
        record = {
            "parentUuid": parent, "isSidechain": False, "cwd": FOLDER, "sessionId": "tally-1", "type": kind,
            "uuid": f"record-{number}", "timestamp": f"2026-03-14T{9 + number // 60:02}:{number % 60:02}:00.000Z",
        }  # fmt: skip
        if message is not None:
            record["message"] = message
            self.sent += len(json.dumps(message)) // 4
        self.records.append({**record, **more})

    def answer(self, *content: dict[str, Any]) -> None:
        """Add what the model said, with the usage of the request that it answers."""
        self.requests += 1
        total = 14_000 + self.sent
        read = 0 if self.requests % 25 == 0 else min(self.cached, total)
        usage = {
            "input_tokens": 4, "cache_read_input_tokens": read, "cache_creation_input_tokens": total - read,
            "output_tokens": 120,
        }  # fmt: skip
        self.cached = total
        self.add("assistant", {"id": f"message-{self.requests}", "role": "assistant", "model": MODEL, "content": list(content), "usage": usage})  # fmt: skip

    def call(self, name: str, given: dict[str, Any], result: str, said: str = "") -> None:
        """Add a call and its result."""
        use = {
            "type": "tool_use",
            "id": f"toolu_{len(self.records):04}",
            "name": name,
            "input": given,
        }
        self.answer(*([{"type": "text", "text": said}] if said else []), use)
        part = {"type": "tool_result", "tool_use_id": use["id"], "content": result}
        self.add("user", {"role": "user", "content": [part]})

    def compact(self, summary: str) -> None:
        """Replace the conversation by a summary."""
        self.add("system", None, subtype="compact_boundary", logicalParentUuid=self.records[-1]["uuid"])  # fmt: skip
        self.records[-1]["parentUuid"] = None
        self.sent = self.cached = 0
        self.add("user", {"role": "user", "content": summary}, isCompactSummary=True)


def claude_session(calls: int = 90) -> bytes:
    """Return a session with about this number of calls."""
    writer = Writer()
    writer.add("user", {"role": "user", "content": "The totals of tally are wrong. Please find out why."})  # fmt: skip
    for step in range(calls // 3):
        noun = NOUNS[step % len(NOUNS)]
        path = f"{FOLDER}/tally/{noun}.py"
        lines = source_of(noun)
        if step == calls // 15:
            writer.compact("The reading of tally has begun; the ledger is right so far.")
        numbered = "\n".join(f"{at:>6}\u2192{line}" for at, line in enumerate(lines, 1))
        writer.call("Read", {"file_path": path}, numbered, "I look at the next module.")
        earlier = NOUNS[(step - 3) % len(NOUNS)] if step >= 3 else noun
        old = source_of(earlier)[3 + 6 * (step % 8)]
        edit = {"file_path": f"{FOLDER}/tally/{earlier}.py", "old_string": old, "new_string": f"{old}  # checked"}  # fmt: skip
        writer.call("Edit", edit, "The file was updated.")
        command = "pytest -q" if step % 2 else f"pytest -q tests/test_{noun}.py"
        writer.call("Bash", {"command": command}, log_of(noun, step))
    writer.answer({"type": "text", "text": "The totals are right now."})
    return b"".join(json.dumps(record).encode() + b"\n" for record in writer.records)
