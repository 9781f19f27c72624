"""Requests to be mended, and what must hold of each that is."""

import json
from types import ModuleType
from typing import Any

from support.builders import wire
from support.providers.validity import problems

from toolcarry import ProjectPolicy

REPAIR = ProjectPolicy(repair=True)
ASK = wire.user({"type": "text", "text": "Go on."})
INTERRUPTED = wire.result("t1", "[Tool use interrupted: no result]", is_error=True)


def repair(api: ModuleType, messages: list[Any], provider: str = "anthropic") -> Any:
    """Return the repaired projection; check that it is valid, stable, and the same from objects and from bytes."""
    projected = api.project(messages, policy=REPAIR)
    assert problems(provider, projected.messages) == []
    assert api.project(projected.messages, policy=REPAIR).messages == projected.messages
    key = {"responses": "input", "gemini": "contents"}.get(provider, "messages")
    body = json.dumps({key: messages}).encode()
    by_bytes = api.project_body(body, policy=REPAIR)
    assert json.loads(by_bytes.body)[key] == projected.messages
    assert mends_of_messages(by_bytes) == list(projected.report.mends)
    return projected


def mends_of_messages(projected: Any) -> list[Any]:
    """Return the corrections without the definitions of tools, which only a whole body has."""
    return [mend for mend in projected.report.mends if mend.kind != "missing_definitions"]


def kinds(projected: Any) -> list[str]:
    return [mend.kind for mend in projected.report.mends]


def chat(*calls: tuple[str, str], content: Any = None) -> dict[str, Any]:
    made = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for call_id, name in calls
    ]
    return {"role": "assistant", "content": content, "tool_calls": made}


def answer(call_id: str, content: str = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}
