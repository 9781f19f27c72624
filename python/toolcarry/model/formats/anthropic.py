"""Anthropic Messages: calls and results are blocks of the content. Claude Code and Cline write them too.

A server tool's result (``web_search_tool_result`` and others) is a result like any other.
"""

from __future__ import annotations

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_object, first_given, given, text_or_empty
from toolcarry.model.formats.foreign import is_foreign_call
from toolcarry.model.formats.message import MessageParts, Spoken, ToolCall, ToolResult
from toolcarry.model.formats.unread import is_known_part

NAME = "anthropic"
SERVER_CALL_PARTS: tuple[str, ...] = tuple(read_table("structures")["server_call_parts"])
"""The types of calls that a provider's server answers."""
CALLS = frozenset(("tool_use", *SERVER_CALL_PARTS))


def read(message: JsonObject, _role: object, message_parts: MessageParts) -> str:
    content = message.get("content")
    if not isinstance(content, (list, tuple)):
        return ""
    calls, results = message_parts.calls, message_parts.results
    for item in content:
        block = item if isinstance(item, dict) else as_object(item)
        if block is None:
            if not isinstance(item, str):
                message_parts.note(message)
            continue
        kind = block.get("type")
        if kind == "tool_result":
            result = to_result(block)
            is_named = result.call_id != "" or isinstance(block.get("tool_use_id"), str)
            if is_named or result.content is not None:
                results.append(result)
            else:
                message_parts.note(block)
        elif kind == "tool_use":
            calls.append(to_call(block))
            if is_foreign_call(block, kind):
                message_parts.is_foreign = True
        elif isinstance(kind, str) and kind.endswith("_tool_result"):
            results.append(to_result(block))
        elif isinstance(kind, str) and kind in CALLS:
            calls.append(to_call(block))
        elif not is_known_part(block):
            message_parts.note(block)
    return NAME if calls or results else ""


def call(wire: JsonObject) -> ToolCall | None:
    is_call = text_or_empty(wire.get("type")) in CALLS and bool(given(wire) & {"name", "input"})
    return to_call(wire) if is_call else None


def result(wire: JsonObject) -> ToolResult | None:
    kind = wire.get("type")
    if kind == "tool_result":
        return to_result(wire) if given(wire) & {"tool_use_id", "content"} else None
    is_result = isinstance(kind, str) and kind.endswith("_tool_result")
    return to_result(wire) if is_result else None


def spoken(message: JsonObject) -> Spoken | None:
    """Read what the user typed while Claude Code worked: an attachment (``session.message_in``)."""
    prompt = message.get("prompt")
    if message.get("type") != "queued_command" or prompt is None:
        return None
    mode = message.get("commandMode")
    return Spoken("user", prompt) if mode is None or mode == "prompt" else None


def to_call(block: JsonObject) -> ToolCall:
    call_id, name = block.get("id"), block.get("name")
    # https://docs.claude.com/en/docs/agents-and-tools/mcp-connector: an mcp_tool_use names its server.
    is_mcp = block.get("type") == "mcp_tool_use"
    server = text_or_empty(block.get("server_name")) if is_mcp else ""
    return ToolCall(block, text_or_empty(call_id), text_or_empty(name), block.get("input"), server)


def to_result(block: JsonObject) -> ToolResult:
    call_id = text_or_empty(first_given(block, "tool_use_id", "tool_call_id"))
    name = text_or_empty(block.get("name"))
    content = block.get("content")
    is_error = block.get("is_error") is True or is_server_error(content)
    return ToolResult(block, call_id, name, content, is_error)


def is_server_error(content: object) -> bool:
    """Return true if a server's tool returned an error in place of its results, or its code failed."""
    error = None if isinstance(content, (str, list, tuple)) else as_object(content)
    if error is None:
        return False
    code = error.get("return_code")
    has_failed = type(code) is int and code != 0
    return has_failed or text_or_empty(error.get("type")).endswith("_tool_result_error")
