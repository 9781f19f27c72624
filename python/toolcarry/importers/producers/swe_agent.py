"""SWE-agent's ``.traj``: a history in the format of OpenAI Chat, with ``tool_call_ids``; or, in older files, a trajectory
of steps, each with a command and an observation.
"""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_list, text_or_empty
from toolcarry.importers.producers.base import About, Imported, Signs, ToolCall, ToolResult

NAME = "swe-agent"
ABOUT = About(
    "SWE-agent, .traj",
    "`tool_call_ids`; `action` and `observation`",
    "SWE-agent/SWE-agent, sweagent/types.py",
)
SIGNS = Signs(("response", "observation", "tool_call_ids"))
ASIDE = frozenset(("state", "query", "info", "extra_info"))
SHELL = "bash"
"""The name of the tool that runs the command of a step."""
OF_A_RESULT = frozenset(("role", "content"))


def read(message: JsonObject) -> Imported | None:
    role = message.get("role")
    if role == "tool":
        return None if result(message) is None else Imported(NAME, rewritten=as_chat(message))
    if role == "assistant" and "message_type" in message:
        members = {key: value for key, value in message.items() if key != "message_type"}
        return Imported(NAME, rewritten=members)
    if role is not None:
        return None
    ran, seen, message_parts = call(message), result(message), message.get("response")
    is_said = isinstance(message.get("action"), str) and isinstance(message_parts, str)
    if not is_said and ran is None:
        return None
    speaker, content = ("assistant", message_parts) if is_said else ("", None)
    if ran is None or seen is None:  # a step that ran nothing
        return Imported("", speaker, content)
    return Imported(NAME, speaker, content, [ran], [seen])


def call(wire: JsonObject) -> ToolCall | None:
    return ToolCall(wire, "", SHELL, {"command": wire["action"]}) if is_step(wire) else None


def result(wire: JsonObject) -> ToolResult | None:
    if is_step(wire):
        return ToolResult(wire, "", SHELL, wire["observation"], False)
    ids = as_list(wire.get("tool_call_ids"))
    if not ids or wire.get("role") != "tool":
        return None
    return ToolResult(wire, text_or_empty(ids[0]), "", wire.get("content"), False)


def as_chat(message: JsonObject) -> JsonObject:
    """Return a result in the format of OpenAI Chat. If it names several ids, it answers the first."""
    ids = as_list(message["tool_call_ids"]) or ("",)
    kept = {key: value for key, value in message.items() if key in OF_A_RESULT}
    return {**kept, "tool_call_id": text_or_empty(ids[0])}


def is_step(wire: JsonObject) -> bool:
    """Return whether an object is a step of a trajectory that ran something."""
    action = wire.get("action")
    return isinstance(action, str) and action != "" and isinstance(wire.get("observation"), str)
