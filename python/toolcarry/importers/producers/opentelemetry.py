"""OpenTelemetry's ``gen_ai.input.messages``: typed parts, ``tool_call`` and ``tool_call_response`` among them."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_list, as_object, first_given, text_or_empty
from toolcarry.importers.producers.base import About, Imported, Signs, ToolCall, ToolResult

NAME = "opentelemetry"
ABOUT = About(
    "OpenTelemetry, gen_ai.input.messages",
    "`parts` of the type `tool_call` or `tool_call_response`",
    "open-telemetry/semantic-conventions, docs/gen-ai",
)
SIGNS = Signs(types=("tool_call", "server_tool_call"))
CALLS = frozenset(("tool_call", "server_tool_call"))
RESULTS = frozenset(("tool_call_response", "server_tool_call_response"))
OWN = frozenset(("blob", "uri", "generic"))
KINDS = CALLS | RESULTS | OWN | {"text", "reasoning", "file"}
"""The types of parts in the semantic conventions for generative AI (gen-ai-input-messages.json, MessagePart)."""


def read(message: JsonObject) -> Imported | None:
    parts = as_list(message.get("parts")) or ()
    found = [part for part in map(as_object, parts) if part is not None]
    if not any("type" in part for part in found):
        return None
    calls = [to_call(part) for part in found if kind_of(part) in CALLS]
    results = [to_result(part) for part in found if kind_of(part) in RESULTS]
    if not (calls or results) and any(kind_of(part) not in KINDS for part in found):
        return None
    # Some other producers write texts and files in the same way, so these do not identify the format.
    is_told = any(kind_of(part) in OWN or "content" in part or "file_id" in part for part in found)
    role = message.get("role")
    speaker = "user" if role is None else text_or_empty(role)
    is_named = is_told or bool(calls or results)
    return Imported(NAME if is_named else "", speaker, parts, calls, results)


def call(wire: JsonObject) -> ToolCall | None:
    is_call = kind_of(wire) in CALLS and "args" not in wire  # with ``args`` it is LangChain's
    return to_call(wire) if is_call else None


def result(wire: JsonObject) -> ToolResult | None:
    return to_result(wire) if kind_of(wire) in RESULTS else None


def kind_of(part: JsonObject) -> str:
    return text_or_empty(part.get("type"))


def to_call(part: JsonObject) -> ToolCall:
    given = first_given(part, "arguments", "server_tool_call")
    return ToolCall(part, text_or_empty(part.get("id")), text_or_empty(part.get("name")), given)


def to_result(part: JsonObject) -> ToolResult:
    content = first_given(part, "response", "result", "server_tool_call_response")
    call_id, name = text_or_empty(part.get("id")), text_or_empty(part.get("name"))
    return ToolResult(part, call_id, name, content, False)
