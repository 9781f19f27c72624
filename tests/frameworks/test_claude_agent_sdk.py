"""The messages of Claude's Agent SDK, as its own parser reads them from the stream of the command line."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from support.framework_talk import ASKED, DONE, PIXEL, SAID, TURNS, answered, check

pytest.importorskip("claude_agent_sdk", reason="claude-agent-sdk is not installed; `just frameworks` installs it")  # fmt: skip


def stream() -> list[dict[str, Any]]:
    """The lines of ``claude -p --output-format stream-json``."""
    more = {"session_id": "s", "parent_tool_use_id": None}
    found: list[dict[str, Any]] = [{"type": "system", "subtype": "init", "session_id": "s", "uuid": "u-1"}]  # fmt: skip

    def add(role: str, content: Any) -> None:
        message = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{len(found)}", "type": "message", "model": "claude-sonnet-4-5"}
        found.append({"type": role, "message": message, "uuid": f"u{len(found)}", **more})

    for asked, calls in TURNS:
        if asked is not None:
            add("user", asked)
        said = [{"type": "text", "text": SAID}] if asked == ASKED else []
        add("assistant", [*said, *({"type": "tool_use", "id": call.call_id, "name": call.name, "input": call.arguments} for call in calls)])  # fmt: skip
        for call, text in answered(calls):
            image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}  # fmt: skip
            content: Any = [{"type": "text", "text": text}, image] if call.has_image else text
            add("user", [{"type": "tool_result", "tool_use_id": call.call_id, "content": content, "is_error": call.has_failed}])  # fmt: skip
    add("assistant", [{"type": "text", "text": DONE}])
    result = {"type": "result", "subtype": "success", "duration_ms": 1, "duration_api_ms": 1, "is_error": False, "num_turns": 2, "session_id": "s", "result": DONE, "uuid": "u-2"}  # fmt: skip
    return [*found, result]


def test_a_stream(api: ModuleType) -> None:
    from claude_agent_sdk._internal.message_parser import parse_message

    lines = stream()
    parsed = [parse_message(line) for line in lines]
    assert None not in parsed
    body = "\n".join(map(json.dumps, lines)).encode()
    check(api, "claude-agent-sdk", "stream-json, which its parser reads", body, "claude-code")
