"""OpenAI Chat (``tool_calls``, role ``tool``, the legacy ``function_call`` and role ``function``), and Ollama's dialect
of it (arguments as objects, ``tool_name``, no ids).

A call or a result without its message has no mark of this shape: if no other shape fits, it is taken for Chat's.
"""

from __future__ import annotations

from typing import Final

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object, first_given, text_or_empty
from toolcarry.model.formats import anthropic
from toolcarry.model.formats.message import MessageParts, Spoken, ToolCall, ToolResult
from toolcarry.model.formats.unread import has_foreign_calls, is_call_entry

NAME = "openai-chat"
OLLAMA = "ollama"
FAILED: Final[tuple[str, ...]] = tuple(read_table("structures")["failed_flags"])


def read(message: JsonObject, role: object, message_parts: MessageParts) -> str:
    is_answer = role == "tool" or role == "function"
    if not is_answer and (
        role == "user" or first_given(message, "tool_calls", "function_call") is None
    ):
        return ""
    found = anthropic.read(message, role, message_parts)  # the content may hold blocks all the same
    if is_answer and not message_parts.results:
        message_parts.calls.clear()
        answer = to_result(message)
        is_named = answer.call_id != "" or answer.name != "" or role == "function"
        if not is_named and not is_nameless(message, message_parts):
            return ""
        message_parts.unread = None  # the parts of a result may be of any kind
        message_parts.results.append(answer)
        has_id = first_given(message, "tool_call_id", "call_id") is not None
        return NAME if role == "function" or has_id else OLLAMA
    content = message.get("content")
    if content is not None and not isinstance(content, str) and as_list(content) is None:
        message_parts.note(message)
    if message_parts.calls:
        unite(message, message_parts)
    return read_calls(message, message_parts) or found


def is_nameless(message: JsonObject, message_parts: MessageParts) -> bool:
    """Return true if an answer that names neither its call nor its tool is Ollama's: a string, or known parts.

    The content is required, and another producer names the call elsewhere: ``toolCallId``, or in the parts.
    """
    content = message.get("content")
    is_said = isinstance(content, str) or (
        as_list(content) is not None and message_parts.unread is None
    )
    return is_said and not has_foreign_calls(message)


def unite(message: JsonObject, message_parts: MessageParts) -> None:
    """For a call that is also in ``tool_calls``, use the fields from there, which the provider reads."""
    entries = [as_object(item) for item in as_list(message.get("tool_calls")) or ()]
    own = {
        call.call_id: call for call in (to_call(entry) for entry in entries if entry is not None)
    }
    for index, call in enumerate(message_parts.calls):
        other = own.get(call.call_id) if call.call_id else None
        if other is not None:
            message_parts.calls[index] = call._replace(name=other.name, arguments=other.arguments)


def read_calls(message: JsonObject, message_parts: MessageParts) -> str:
    """Read the calls of a message. A call that is in the content too is one call."""
    known = {known.call_id for known in message_parts.calls} - {""}
    role = message.get("role")
    found: list[ToolCall] = []
    for item in as_list(message.get("tool_calls")) or ():
        entry = as_object(item)
        if entry is not None and (
            text_or_empty(entry.get("id")) in known or is_call_entry(entry, role)
        ):
            found.append(to_call(entry))
        else:  # an object whose members can't be read, or another producer's call
            message_parts.note(message if entry is None else entry)
    message_parts.calls.extend(call for call in found if call.call_id not in known)
    legacy = as_object(message.get("function_call"))
    if legacy is not None:
        message_parts.calls.append(to_call(legacy))
    elif found:
        is_ollama = (
            found[0].wire.get("custom") is None and as_object(found[0].arguments) is not None
        )
        return OLLAMA if is_ollama else NAME
    return NAME if legacy is not None else ""


def call(_wire: JsonObject) -> ToolCall | None:
    return None


def result(_wire: JsonObject) -> ToolResult | None:
    return None


def spoken(_message: JsonObject) -> Spoken | None:
    return None


def to_call(wire: JsonObject) -> ToolCall:
    custom = as_object(wire.get("custom"))
    source = custom or as_object(wire.get("function")) or wire
    given = first_given(source, "input", "arguments")
    if custom and given is not None:  # free text, which is not JSON even if it looks like it
        given = {"input": given}
    return ToolCall(wire, text_or_empty(wire.get("id")), text_or_empty(source.get("name")), given)


def to_result(wire: JsonObject) -> ToolResult:
    call_id = text_or_empty(first_given(wire, "tool_use_id", "tool_call_id", "call_id"))
    name = text_or_empty(first_given(wire, "tool_name", "name"))
    is_error = any(wire.get(key) is True for key in FAILED)
    return ToolResult(wire, call_id, name, wire.get("content"), is_error)
