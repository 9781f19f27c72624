"""Codex: a line of JSON for each item, in a folder for the day.

Source: github.com/openai/codex, codex-rs/protocol/src/protocol.rs (``RolloutItem``) and codex-rs/rollout/src/list.rs,
which lists a session if it has a message of the user among its events.
"""

from __future__ import annotations

import json
import secrets
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from toolcarry._input.json import dump
from toolcarry.sessions.draft import Draft, stamp_of
from toolcarry.sessions.files import add_file

__all__ = ["DESTINATION", "new_id", "records", "write"]

DESTINATION: Final = "openai-responses"
VERSION: Final = "0.163.0"
"""The version whose records these are."""
PATCH: Final = "apply_patch"
"""The tool that takes free text."""


def new_id() -> str:
    """Return a UUID of version 7: it begins with the time."""
    moment = int(time.time() * 1000) << 80
    number = moment | (7 << 76) | (secrets.randbits(12) << 64) | (2 << 62) | secrets.randbits(62)
    return str(uuid.UUID(int=number))


def write(draft: Draft, root: Path) -> Path:
    """Write a session and return its file."""
    local = draft.began.astimezone()
    folder = root / "sessions" / f"{local:%Y}" / f"{local:%m}" / f"{local:%d}"
    path = folder / f"rollout-{local:%Y-%m-%dT%H-%M-%S}-{draft.session_id}.jsonl"
    add_file(path, b"".join(dump(record) + b"\n" for record in records(draft)))
    return path


def records(draft: Draft) -> Iterator[dict[str, Any]]:
    """Yield the records: the session, its items, and an event for each text, which the client shows."""
    meta = {
        "session_id": draft.session_id,
        "id": draft.session_id,
        "timestamp": stamp_of(draft.began),
        "cwd": str(draft.directory),
        "originator": "codex_cli_rs",
        "cli_version": VERSION,
        "source": "cli",
    }
    branch = {"git": {"branch": draft.branch}} if draft.branch else {}
    yield record_of(draft, "session_meta", {**meta, **branch})
    for item in items(draft):
        yield record_of(draft, "response_item", item)
        if item["type"] == "message":
            text = "\n".join(part["text"] for part in item["content"] if "text" in part)
            is_user = item["role"] == "user"
            shown = {"type": "user_message" if is_user else "agent_message", "message": text}
            yield record_of(draft, "event_msg", shown)


def record_of(draft: Draft, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": draft.stamp(), "type": kind, "payload": payload}


def items(draft: Draft) -> Iterator[dict[str, Any]]:
    """Yield the items, without the system prompt."""
    patches: set[str] = set()
    for item in draft.messages:
        kind = item.get("type", "message")
        if kind == "message" and item["role"] not in ("user", "assistant"):
            draft.leave_out_system("".join(text_parts(item)))
        elif kind == "message":
            yield {**item, "type": "message", "content": parts_of(item)}
        elif kind == "function_call":
            call = own_item(draft, item)
            patches.discard(item["call_id"])
            if call["type"] == "custom_tool_call":
                patches.add(item["call_id"])
            yield call
        elif kind == "function_call_output" and item["call_id"] in patches:
            yield {**item, "type": "custom_tool_call_output"}
        else:
            yield item


def parts_of(item: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the content of a message as parts."""
    content = item["content"]
    if not isinstance(content, str):
        return list(content)
    kind = "output_text" if item["role"] == "assistant" else "input_text"
    return [{"type": kind, "text": content}]


def text_parts(item: dict[str, Any]) -> Iterator[str]:
    return (part["text"] for part in parts_of(item) if "text" in part)


def own_item(draft: Draft, item: dict[str, Any]) -> dict[str, Any]:
    """Return a call as Codex makes it; a patch is a call with free text."""
    try:
        arguments = json.loads(item["arguments"])
    except (TypeError, ValueError):
        return item
    if not isinstance(arguments, dict):
        return item
    own = draft.own(item["name"], arguments)
    if own.name == PATCH and own.arguments.keys() == {"input"}:
        call = {"type": "custom_tool_call", "call_id": item["call_id"], "name": PATCH}
        return {**call, "input": own.arguments["input"]}
    if own.arguments == arguments and own.name == item["name"]:
        return item
    return {**item, "name": own.name, "arguments": dump(own.arguments).decode()}
