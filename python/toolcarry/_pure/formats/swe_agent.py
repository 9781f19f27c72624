"""SWE-agent's ``.traj``: a history as OpenAI Chat has it, with ``tool_call_ids``; or, in older files, a trajectory of
steps, each a command and what was observed.
"""

from __future__ import annotations

from toolcarry._input.objects import Wire, as_list, text_or_empty
from toolcarry._pure.formats import anthropic, chat
from toolcarry._pure.formats.message import Said, Spoken, ToolCall, ToolResult

NAME = "swe-agent"
SHELL = "bash"
"""What runs the command of a step."""


def read(message: Wire, role: object, said: Said) -> str:
    if role is None:
        found, answer = call(message), result(message)
        if found is not None and answer is not None:
            said.calls.append(found)
            said.results.append(answer)
            return NAME
        return ""
    if role == "tool":
        answer = result(message)
        if answer is None:
            return ""
        said.results.append(answer)
        return NAME
    if role == "assistant" and "message_type" in message:
        if not chat.read(message, role, said):
            anthropic.read(message, role, said)
        return NAME
    return ""


def call(wire: Wire) -> ToolCall | None:
    return ToolCall(wire, "", SHELL, {"command": wire["action"]}) if is_step(wire) else None


def result(wire: Wire) -> ToolResult | None:
    if is_step(wire):
        return ToolResult(wire, "", SHELL, wire["observation"], False)
    ids = as_list(wire.get("tool_call_ids"))
    if not ids or wire.get("role") != "tool":
        return None
    return ToolResult(wire, text_or_empty(ids[0]), "", wire.get("content"), False)


def is_step(wire: Wire) -> bool:
    """Whether an object is a step of a trajectory that ran something."""
    action = wire.get("action")
    return isinstance(action, str) and action != "" and isinstance(wire.get("observation"), str)


def spoken(message: Wire) -> Spoken | None:
    has_said = isinstance(message.get("action"), str) and isinstance(message.get("response"), str)
    return Spoken("assistant", message["response"]) if has_said and "role" not in message else None
