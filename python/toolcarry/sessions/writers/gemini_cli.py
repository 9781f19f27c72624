"""Gemini CLI: a line of JSON for each message, in a folder that it assigns to the working directory.

Source: github.com/google-gemini/gemini-cli, packages/core/src: services/chatRecordingTypes.ts and chatRecordingService.ts,
config/projectRegistry.ts and storageMigration.ts, which takes over a folder that is named by the hash of the directory.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from toolcarry._input.json import dump
from toolcarry.sessions.draft import Draft, stamp_of
from toolcarry.sessions.files import add_file
from toolcarry.sessions.steps import Result, StepCall, data_url_of, steps

__all__ = ["DESTINATION", "new_id", "records", "write"]

DESTINATION: Final = "anthropic"


def new_id() -> str:
    return str(uuid.uuid4())


def write(draft: Draft, root: Path) -> Path:
    """Write a session and return its file."""
    name = f"session-{stamp_of(draft.began)[:16].replace(':', '-')}-{draft.session_id[:8]}.jsonl"
    path = root / ".gemini" / "tmp" / folder_of(root, str(draft.directory)) / "chats" / name
    add_file(path, b"".join(dump(record) + b"\n" for record in records(draft)))
    return path


def folder_of(root: Path, directory: str) -> str:
    """Return the name of the folder for a directory: the one that the client gave it, else its hash."""
    try:
        given = json.loads((root / ".gemini" / "projects.json").read_text("utf-8"))
        name = given["projects"][directory]
        if isinstance(name, str) and name == Path(name).name:
            return name
    except (OSError, ValueError, KeyError, TypeError):
        pass  # the client has no list, or none with this directory
    return hashlib.sha256(directory.encode()).hexdigest()


def records(draft: Draft) -> Iterator[dict[str, Any]]:
    began = stamp_of(draft.began)
    yield {
        "sessionId": draft.session_id,
        "projectHash": hashlib.sha256(str(draft.directory).encode()).hexdigest(),
        "startTime": began,
        "lastUpdated": began,
        "kind": "main",
    }
    for step in steps(draft):
        record = {"id": str(uuid.uuid4()), "timestamp": draft.stamp()}
        parts = [part_of(block) for block in step.blocks]
        if step.role == "user":
            yield {**record, "type": "user", "content": parts}
            continue
        told: dict[str, Any] = {"thoughts": [], "tokens": None, "model": "unknown"}
        calls = [call_of(draft, call) for call in step.calls]
        yield {**record, "type": "gemini", "content": parts, **told, "toolCalls": calls}


def part_of(block: dict[str, Any]) -> dict[str, Any]:
    """Return a text, or content that is not text."""
    if block["type"] == "text":
        return {"text": block["text"]}
    kind, address = data_url_of(block)
    if address.startswith("data:"):
        return {"inlineData": {"mimeType": kind, "data": address.partition(",")[2]}}
    return {"fileData": {"mimeType": kind, "fileUri": address}}


def call_of(draft: Draft, call: StepCall) -> dict[str, Any]:
    """Return a call with its result, as the client records both."""
    return {
        "id": call.call_id,
        "name": call.name,
        "args": call.arguments,
        "status": "error" if call.result.is_error else "success",
        "timestamp": draft.stamp(),
        "result": [{"functionResponse": response_of(call, call.result)}],
    }


def response_of(call: StepCall, result: Result) -> dict[str, Any]:
    key = "error" if result.is_error else "output"
    response = {"id": call.call_id, "name": call.name, "response": {key: result.text}}
    media = [part_of(block) for block in result.media]
    return {**response, **({"parts": media} if media else {})}
