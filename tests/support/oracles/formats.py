"""A second, naive reading of the wire formats other than Anthropic's and Chat's, sharing no code with the library."""

import json
from typing import Any, NamedTuple

JsonObject = dict[str, Any]


class ToolFields(NamedTuple):
    """A call or a result: the wire's object, its id, its tool, and its arguments or its content."""

    wire: JsonObject
    call_id: str
    name: str
    value: Any


Found = tuple[list[ToolFields], list[ToolFields]]
"""The calls and the results of a message."""


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def first(wire: JsonObject, *names: str) -> Any:
    return next((wire[name] for name in names if wire.get(name) is not None), None)


def member(wire: JsonObject, *names: str) -> JsonObject:
    """Return the first member with one of these names if it is an object, else an empty one."""
    value = first(wire, *names)
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def shaped(message: JsonObject) -> Found | None:
    """Return the calls and results of a message in one of these formats; ``None`` for any other message."""
    if message.get("role") is not None:
        return swe_message(message) or spoken_parts(message)
    kind = text(message.get("type"))
    if isinstance(message.get("parts"), list):
        return spoken_parts(message)
    if kind.endswith(("_call", "_call_output", "tool_search_output")):
        return response_item(message)
    if isinstance(message.get("payload"), dict):
        is_item = kind == "response_item"
        return response_item(message["payload"]) if is_item else ([], [])
    if kind in LANGCHAIN_KINDS and isinstance(message.get("data"), dict):
        return langchain(message, message["data"])
    if "kind" in message:
        return openhands(message)
    if "step_id" in message and "source" in message:
        return atif(message)
    return step(message)


def speaks_as_user(message: JsonObject) -> bool:
    """True if a message is the user's."""
    role = message.get("role")
    payload = message.get("payload")
    if role is None and isinstance(payload, dict) and message.get("type") == "response_item":
        role = payload.get("role")
    if role is None and message.get("type") == "human" and isinstance(message.get("data"), dict):
        role = "user"
    if role is None and "step_id" in message:
        role = message.get("source")
    return role == "user"


def spoken_parts(message: JsonObject) -> Found | None:
    """Gemini's and OpenTelemetry's parts, and Bedrock's blocks of the content."""
    has_content = message.get("role") is not None and message.get("content") is not None
    blocks = objects(message.get("content" if has_content else "parts"))
    told = [(as_call(block), as_result(block)) for block in blocks]
    if has_content:
        told = [(as_call(block), as_result(block)) for block in blocks if "type" not in block]
        if message["role"] in ("tool", "function") or not any(map(any, told)):
            return None
    elif not blocks or (
        any("type" in block for block in blocks)
        and not any(isinstance(block.get("type"), str) for block in blocks)
    ):
        return None
    elif any("type" in block for block in blocks):
        told = [found for block, found in zip(blocks, told, strict=True) if text(block.get("type"))]
    calls = [call for call, _ in told if call is not None]
    return calls, [result for _, result in told if result is not None]


def as_call(block: JsonObject) -> ToolFields | None:
    kind = text(block.get("type"))
    if kind in ("tool_call", "server_tool_call"):
        given = first(block, "arguments", "server_tool_call")
        return ToolFields(block, text(block.get("id")), text(block.get("name")), given)
    if "type" in block:
        return None
    if isinstance(block.get("toolUse"), dict):
        used = block["toolUse"]
        return ToolFields(
            block, text(used.get("toolUseId")), text(used.get("name")), used.get("input")
        )
    if isinstance(first(block, "functionCall"), dict):
        used = block["functionCall"]
        return ToolFields(block, text(used.get("id")), text(used.get("name")), used.get("args"))
    if isinstance(block.get("executableCode"), dict):
        return ToolFields(block, "", "code_execution", block["executableCode"])
    return None


def as_result(block: JsonObject) -> ToolFields | None:
    kind = text(block.get("type"))
    if kind in ("tool_call_response", "server_tool_call_response"):
        content = first(block, "response", "result", "server_tool_call_response")
        return ToolFields(block, text(block.get("id")), text(block.get("name")), content)
    if "type" in block:
        return None
    if isinstance(block.get("toolResult"), dict):
        given = block["toolResult"]
        return ToolFields(block, text(given.get("toolUseId")), "", given.get("content"))
    if isinstance(block.get("functionResponse"), dict):
        given = block["functionResponse"]
        return ToolFields(
            block, text(given.get("id")), text(given.get("name")), gemini_answer(given)
        )
    if isinstance(block.get("codeExecutionResult"), dict):
        return ToolFields(block, "", "code_execution", block["codeExecutionResult"].get("output"))
    return None


def gemini_answer(given: JsonObject) -> Any:
    answer = given.get("response")
    if isinstance(answer, dict) and len(answer) == 1:
        only = first(answer, "output", "result", "error")
        return answer if only is None else only
    return answer


ON_SERVER = {
    "web_search_call": ("action", "results"),
    "image_generation_call": ("prompt", "result"),
    "mcp_call": ("arguments", "output"),
}


def response_item(item: JsonObject) -> Found:
    kind, call_id = text(item.get("type")), text(first(item, "call_id", "id"))
    name = text(item.get("name"))
    if kind in ON_SERVER:
        given, output = (item.get(key) for key in ON_SERVER[kind])
        if kind == "image_generation_call" and isinstance(output, str):
            output = {"image": {"data": output}}
        answer = output if item.get("error") is None else item["error"]
        name = name or kind.removesuffix("_call")
        return [ToolFields(item, call_id, name, given)], [ToolFields(item, call_id, name, answer)]
    is_named = kind in ("function_call", "custom_tool_call")
    is_call = is_named or kind == "local_shell_call" or "call_id" in item
    if kind.endswith("_call") and is_call:
        given = first(item, "arguments", "action", "operation", "input")
        if kind == "custom_tool_call":
            given = None if item.get("input") is None else {"input": item["input"]}
        name = name if name or is_named else kind.removesuffix("_call")
        return [ToolFields(item, call_id, name, given)], []
    if kind.endswith(("_call_output", "tool_search_output")):
        return [], [ToolFields(item, call_id, name, unpacked(item.get("output")))]
    return [], []


def unpacked(output: Any) -> Any:
    try:
        held = json.loads(output)
        is_packed = type(held["output"]) is str and type(held["metadata"]["exit_code"]) is int
    except (TypeError, ValueError, KeyError):
        return output
    return held["output"] if is_packed else output


def swe_message(message: JsonObject) -> Found | None:
    ids = message.get("tool_call_ids")
    if not isinstance(ids, list) or not ids or message.get("role") != "tool":
        return None
    return [], [ToolFields(message, text(ids[0]), "", message.get("content"))]


def step(message: JsonObject) -> Found | None:
    action, seen = message.get("action"), message.get("observation")
    if not isinstance(action, str) or not action or not isinstance(seen, str):
        return None
    return [ToolFields(message, "", "bash", {"command": action})], [
        ToolFields(message, "", "bash", seen)
    ]


LANGCHAIN_KINDS = ("ai", "human", "tool", "system", "function")


def langchain(message: JsonObject, data: JsonObject) -> Found:
    if message["type"] in ("tool", "function"):
        call_id, name = text(data.get("tool_call_id")), text(data.get("name"))
        return [], [ToolFields(message, call_id, name, data.get("content"))]
    found = objects(data.get("tool_calls")) + objects(data.get("invalid_tool_calls"))
    return [ToolFields(c, text(c.get("id")), text(c.get("name")), c.get("args")) for c in found], []


FAILURES = {"AgentErrorEvent": "error", "UserRejectObservation": "rejection_reason"}


def openhands(event: JsonObject) -> Found:
    kind = text(event.get("kind"))
    call_id, name = text(event.get("tool_call_id")), text(event.get("tool_name"))
    if kind == "ActionEvent":
        asked = member(event, "tool_call")
        given = event.get("action") if asked.get("arguments") is None else asked["arguments"]
        name = text(first(event, "tool_name")) or text(asked.get("name"))
        return [ToolFields(event, call_id or text(asked.get("id")), name, given)], []
    if kind in FAILURES and (call_id or name):
        return [], [ToolFields(event, call_id, name, event.get(FAILURES[kind]))]
    if kind == "ObservationEvent":
        seen = first(member(event, "observation"), "content", "output")
        content = event.get("observation") if seen is None else seen
        return [], [ToolFields(event, call_id, name, content)]
    return [], []


def atif(message: JsonObject) -> Found:
    calls = [
        ToolFields(c, text(c.get("tool_call_id")), text(c.get("function_name")), c.get("arguments"))
        for c in objects(message.get("tool_calls"))
    ]
    results = [
        ToolFields(r, text(r.get("source_call_id")), "", r.get("content"))
        for r in objects(member(message, "observation").get("results"))
    ]
    return calls, results


def told_of(wire: JsonObject) -> Found:
    """Return the calls and results of an object that was taken out of its message."""
    call, result = as_call(wire), as_result(wire)
    if "args" in wire:
        return [ToolFields(wire, text(wire.get("id")), text(wire.get("name")), wire["args"])], []
    if call is None and result is None and "role" not in wire:
        return shaped(wire) or ([], [])
    return [call] if call else [], [result] if result else []
