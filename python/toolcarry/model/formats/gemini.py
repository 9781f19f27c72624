"""Gemini: parts that hold ``functionCall`` or ``functionResponse``, often without ids.

Code that ran on the server (``executableCode``, ``codeExecutionResult``) and its tools (``toolCall``,
``toolResponse``) are calls and results like any other.
"""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_list, as_object, first_given, text_or_empty
from toolcarry.model.formats.message import MessageParts, Spoken, ToolCall, ToolResult
from toolcarry.model.formats.unread import is_known_part

NAME = "gemini"
CODE = "code_execution"


def read(message: JsonObject, _role: object, message_parts: MessageParts) -> str:
    given = as_list(message.get("parts")) or ()
    parts = [part for part in map(as_object, given) if part is not None]
    if not parts or any(
        part.get("type") is not None and not is_of_protocol(part) for part in parts
    ):
        return ""
    strange = next((part for part in parts if not is_known_part(part)), None)
    if strange is not None:
        message_parts.note(strange)
        if not any(map(is_known_part, parts)):
            return ""
    if any(as_object(part) is None and not isinstance(part, str) for part in given):
        message_parts.note(message)
    for part in parts:
        found = call(part)
        if found is not None:
            message_parts.calls.append(found)
        answer = result(part)
        if answer is not None:
            message_parts.results.append(answer)
    return NAME


def is_of_protocol(part: JsonObject) -> bool:
    """Return true if a part is one of the Model Context Protocol, which clients put between those of Gemini.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#contentblock
    """
    kind = part.get("type")
    if kind in ("image", "audio"):
        return isinstance(part.get("data"), str) and isinstance(part.get("mimeType"), str)
    if kind == "resource":
        return as_object(part.get("resource")) is not None
    return kind == "resource_link" and isinstance(part.get("uri"), str)


def call(wire: JsonObject) -> ToolCall | None:
    used = as_object(first_given(wire, "functionCall", "function_call", "toolCall"))
    if used is not None:
        name = text_or_empty(first_given(used, "name", "toolType"))
        return ToolCall(wire, text_or_empty(used.get("id")), name, used.get("args"))
    code = as_object(first_given(wire, "executableCode", "executable_code"))
    return None if code is None else ToolCall(wire, text_or_empty(code.get("id")), CODE, code)


def result(wire: JsonObject) -> ToolResult | None:
    given = as_object(first_given(wire, "functionResponse", "function_response", "toolResponse"))
    if given is not None:
        name = text_or_empty(first_given(given, "name", "toolType"))
        content, is_error = answer_of(given)
        return ToolResult(wire, text_or_empty(given.get("id")), name, content, is_error)
    ran = as_object(first_given(wire, "codeExecutionResult", "code_execution_result"))
    if ran is None:
        return None
    has_failed = ran.get("outcome") in ("OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED")
    return ToolResult(wire, text_or_empty(ran.get("id")), CODE, ran.get("output"), has_failed)


def answer_of(given: JsonObject) -> tuple[object, bool]:
    """Return the content of a function's response, and true if it is an error."""
    response = as_object(given.get("response"))
    is_error = response is not None and response.get("error") is not None
    if as_list(given.get("parts")):
        return {"functionResponse": given}, is_error  # media next to the answer
    if response is None:
        return given.get("response"), False
    if len(response) == 1:
        only = first_given(response, "output", "result", "error")
        return (response if only is None else only), is_error
    return response, is_error


def spoken(message: JsonObject) -> Spoken | None:
    parts = as_list(message.get("parts"))
    if parts is None:
        return None
    role = message.get("role")
    return Spoken("user" if role is None else text_or_empty(role), parts)
