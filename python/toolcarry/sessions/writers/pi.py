"""pi: a line of JSON for each message, each with the id of the one before it.

Source: github.com/badlogic/pi-mono, packages/coding-agent/docs/session.md and src/core/session-manager.ts (version 3).
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from toolcarry._input.json import dump
from toolcarry.sessions.draft import Draft, stamp_of
from toolcarry.sessions.files import add_file
from toolcarry.sessions.steps import Result, Step, steps

__all__ = ["DESTINATION", "folder_of", "new_id", "records", "write"]

DESTINATION: Final = "anthropic"
KEPT: Final = frozenset(("text", "image"))
NOTHING: Final = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
USAGE: Final = {**NOTHING, "totalTokens": 0, "cost": {**NOTHING, "total": 0}}


def new_id() -> str:
    return str(uuid.uuid4())


def folder_of(directory: str) -> str:
    """Return the name of the folder for the sessions of a working directory.

    >>> folder_of("/home/ann/the barn")
    '--home-ann-the barn--'
    """
    return f"--{re.sub(r'[/:]', '-', re.sub(r'^/', '', directory.replace(chr(92), '/')))}--"


def write(draft: Draft, root: Path) -> Path:
    """Write a session and return its file."""
    time = re.sub("[:.]", "-", stamp_of(draft.began))
    folder = root / "sessions" / folder_of(str(draft.directory))
    path = folder / f"{time}_{draft.session_id}.jsonl"
    add_file(path, b"".join(dump(record) + b"\n" for record in records(draft)))
    return path


def records(draft: Draft) -> Iterator[dict[str, Any]]:
    yield {
        "type": "session",
        "version": 3,
        "id": draft.session_id,
        "timestamp": stamp_of(draft.began),
        "cwd": str(draft.directory),
    }
    parent: str | None = None
    for message in messages(draft):
        moment = draft.next_time()
        name = uuid.uuid4().hex[:12]
        entry = {"type": "message", "id": name, "parentId": parent, "timestamp": stamp_of(moment)}
        yield {**entry, "message": {**message, "timestamp": int(moment.timestamp() * 1000)}}
        parent = name


def messages(draft: Draft) -> Iterator[dict[str, Any]]:
    """Yield the messages: of the user, of the assistant with its calls, and of the tools."""
    for step in steps(draft, KEPT):
        if step.role == "user":
            yield {"role": "user", "content": [part_of(draft, block) for block in step.blocks]}
            continue
        yield of_assistant(draft, step)
        for call in step.calls:
            yield {
                "role": "toolResult",
                "toolCallId": call.call_id,
                "toolName": call.name,
                "content": content_of(draft, call.result),
                "isError": call.result.is_error,
            }


def of_assistant(draft: Draft, step: Step) -> dict[str, Any]:
    calls = [
        {"type": "toolCall", "id": call.call_id, "name": call.name, "arguments": call.arguments}
        for call in step.calls
    ]
    return {
        "role": "assistant",
        "content": [*(part_of(draft, block) for block in step.blocks), *calls],
        "api": "anthropic-messages",
        "provider": "anthropic",
        "model": "unknown",
        "usage": USAGE,
        "stopReason": "toolUse" if calls else "stop",
    }


def content_of(draft: Draft, result: Result) -> list[dict[str, Any]]:
    text = [{"type": "text", "text": result.text}] if result.text or not result.media else []
    return [*text, *(part_of(draft, block) for block in result.media)]


def part_of(draft: Draft, block: dict[str, Any]) -> dict[str, Any]:
    """Return a text or an image; of an image that is not in the session, its address as text."""
    if block["type"] == "text":
        return {"type": "text", "text": block["text"]}
    source = block["source"]
    if source.get("type") != "base64":
        draft.leave_out("image by its address, which is kept as text")
        return {"type": "text", "text": f"[image: {source.get('url', '')}]"}
    return {"type": "image", "data": source["data"], "mimeType": source["media_type"]}
