"""The yardstick for the Python backend: the least that a hand-written function must do for such a context.

It knows Anthropic's blocks and three tools, and does the five steps on them: it walks backwards, pairs by id
within one turn, drops what a newer block says, cuts, and joins, until the total is spent. It does without all that
makes the library one: other wire shapes, calls and results that stand apart, shells, ranges, failures, text that must
be cleaned or fenced, sections, markers, and a report.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Block = dict[str, Any]

WRITING = (
    "rm ", "git commit", "npm install", "mv ", "sed -i", "git push", "pip install", "mkdir ", "curl -X POST",
)  # fmt: skip
END = "\n\n"
CUT_END = "\n... [truncated]\n\n"


def reference_walk(messages: Sequence[Block], limit: int, total: int) -> tuple[str, int]:
    """The context, and how many blocks were walked. One function, since a call costs as much as a step."""
    known: set[tuple[str, str]] = set()
    pieces: list[str] = []
    results: list[Block] = []
    walked = 0
    for message in reversed(messages):
        content = message["content"]
        if content.__class__ is not list:
            continue
        calls: dict[str, Block] = {}
        for block in reversed(content):
            kind = block.get("type")
            if kind == "tool_result":
                results.append(block)
            elif kind == "tool_use":
                calls[block["id"]] = block
        if not calls:
            continue
        for result in results:
            call = calls.get(result["tool_use_id"])
            if call is None:
                continue
            walked += 1
            name, given = call["name"], call["input"]
            if name == "Read":
                subject = given.get("file_path", "")
                key = (name, subject)
                if key in known:
                    continue
                known.add(key)
            elif name == "Bash":
                subject = given.get("command", "")
                if not subject.startswith(WRITING):
                    key = (name, subject)
                    if key in known:
                        continue
                    known.add(key)
            else:
                subject = given.get("file_path") or given.get("pattern") or ""
            text = result["content"]
            if text.__class__ is list:
                text = joined(text) if len(text) != 1 else text[0].get("text", "")
            room = limit if limit < total else total  # noqa: FURB136 - min() is a call
            size = len(text)
            if size <= room:
                total -= size
                pieces += (END, text, f"### {name}: {subject}\n")
            else:
                total -= room
                pieces += (CUT_END, text[:room], f"### {name}: {subject}\n")
            if total <= 0:
                pieces.reverse()
                return "".join(pieces), walked
        results = []
    pieces.reverse()
    return "".join(pieces), walked


def joined(parts: Sequence[Block]) -> str:
    return "\n".join([part["text"] for part in parts if part.get("type") == "text"])
