"""OpenTelemetry's ``gen_ai.input.messages``: typed parts, ``tool_call`` and ``tool_call_response`` among them."""

from __future__ import annotations

from toolcarry._input.objects import Wire, as_list, as_object, first_given, text_or_empty
from toolcarry._pure.formats.message import Said, Spoken, ToolCall, ToolResult

NAME = "opentelemetry"
CALLS = frozenset(("tool_call", "server_tool_call"))
RESULTS = frozenset(("tool_call_response", "server_tool_call_response"))


def read(message: Wire, _role: object, said: Said) -> str:
    found = ""
    for part in map(as_object, as_list(message.get("parts")) or ()):
        kind = "" if part is None else text_or_empty(part.get("type"))
        if part is None or not kind:
            continue
        if kind in CALLS:
            said.calls.append(to_call(part))
        elif kind in RESULTS:
            said.results.append(to_result(part))
        elif "text" in part:
            continue  # others have typed parts, too
        found = NAME
    return found


def call(wire: Wire) -> ToolCall | None:
    is_call = (
        text_or_empty(wire.get("type")) in CALLS and "args" not in wire
    )  # with ``args`` it is LangChain's
    return to_call(wire) if is_call else None


def result(wire: Wire) -> ToolResult | None:
    return to_result(wire) if text_or_empty(wire.get("type")) in RESULTS else None


def to_call(part: Wire) -> ToolCall:
    given = first_given(part, "arguments", "server_tool_call")
    return ToolCall(part, text_or_empty(part.get("id")), text_or_empty(part.get("name")), given)


def to_result(part: Wire) -> ToolResult:
    content = first_given(part, "response", "result", "server_tool_call_response")
    call_id, name = part.get("id"), part.get("name")
    return ToolResult(part, text_or_empty(call_id), text_or_empty(name), content, False)


def spoken(_message: Wire) -> Spoken | None:
    return None
