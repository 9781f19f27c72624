"""Results that are made up for calls that have none, and texts, as each provider writes them."""

from __future__ import annotations

from typing import Any, Final

from toolcarry._data import read_table
from toolcarry.wire import Wire, text_or_empty

INTERRUPTED: Final[str] = read_table("texts")["interrupted"]
"""What stands for a result that never came. The readers know it for one that only stands for another."""
SHOWN = "computer_call"
"""The call of Responses whose result is a screenshot: none can be made, since the model would believe it."""


def anthropic_result(call_id: str, _name: str, _call: Wire) -> Any:
    return {"type": "tool_result", "tool_use_id": call_id, "content": INTERRUPTED, "is_error": True}


def bedrock_result(call_id: str, _name: str, _call: Wire) -> Any:
    content = [{"text": INTERRUPTED}]
    return {"toolResult": {"toolUseId": call_id, "content": content, "status": "error"}}


def gemini_result(call_id: str, name: str, _call: Wire) -> Any:
    own = {"id": call_id} if call_id else {}
    return {"functionResponse": {**own, "name": name, "response": {"error": INTERRUPTED}}}


def chat_result(call_id: str, _name: str, _call: Wire) -> Any:
    return {"role": "tool", "tool_call_id": call_id, "content": INTERRUPTED}


def ollama_result(call_id: str, name: str, _call: Wire) -> Any:
    own = {"tool_call_id": call_id} if call_id else {}
    return {"role": "tool", "tool_name": name, **own, "content": INTERRUPTED}


def responses_result(call_id: str, _name: str, call: Wire) -> Any:
    kind = text_or_empty(call.get("type"))
    made: dict[str, Any] = {"type": f"{kind}_output", "call_id": call_id}
    if kind == SHOWN:
        return None
    if kind == "shell_call":
        outcome = {"type": "exit", "exit_code": 1}
        return {**made, "output": [{"stdout": "", "stderr": INTERRUPTED, "outcome": outcome}]}
    if kind == "apply_patch_call":
        return {**made, "status": "failed", "output": INTERRUPTED}
    return {**made, "output": INTERRUPTED}


def typed_text(text: str) -> Any:
    return {"type": "text", "text": text}


def bare_text(text: str) -> Any:
    return {"text": text}
