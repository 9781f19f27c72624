"""OpenAI Responses: calls and results are items of their own, named by their type.

A tool that runs on the server (``web_search_call``, ``mcp_call``) has its call and its result in one item.
A ``reasoning`` item has no call and no result; it stays with its call if items are moved.
"""

from __future__ import annotations

from toolcarry._data import read_table
from toolcarry._input.json import loads_arguments
from toolcarry._input.objects import JsonObject, as_list, as_object, first_given, text_or_empty
from toolcarry.model.formats.message import MessageParts, Spoken, ToolCall, ToolResult

NAME = "openai-responses"
_TABLE = read_table("responses")
NO_CALLS: frozenset[str] = frozenset(_TABLE["no_calls"])
CALLS: frozenset[str] = frozenset(_TABLE["calls"])
"""The calls whose results are separate items. An item of another kind is a call if it has a ``call_id``."""
SERVER_NAMES: dict[str, str] = _TABLE["server_names"]
"""The calls that may name a server or a namespace, and the member that does."""
OUTPUTS: dict[str, str] = _TABLE["outputs"]
"""The results whose type doesn't end in ``_call_output``, with the tool that they answer for."""
PROGRAMS: frozenset[str] = frozenset(_TABLE["programs"])
"""The items of a program, which runs on the server and may call the client's tools, and of its result."""
TEXT_ARGUMENTS: dict[str, str] = _TABLE["text_arguments"]
"""The calls whose arguments are free text, with the member that holds it. It is not JSON even if it looks like it."""
UNNAMED_CALLS: frozenset[str] = frozenset(_TABLE["unnamed_calls"])
"""Calls whose type doesn't name their tool."""
SERVER_CALLS: dict[str, dict[str, str]] = _TABLE["server_calls"]
"""The calls that hold their results: the members of the arguments and of the result."""
WRAPPED_ARGUMENTS: frozenset[str] = frozenset(_TABLE["wrapped_arguments"])
"""Arguments that are not an object: they become its only member, under their own name."""
MOST_EXIT_CODE = 1 << 32


def read(message: JsonObject, role: object, message_parts: MessageParts) -> str:
    kind = message.get("type")
    if role is not None or not isinstance(kind, str):
        return ""
    if kind in NO_CALLS:
        return NAME
    found = call(message)
    if found is not None:
        message_parts.calls.append(found)
    answer = result(message)
    if answer is not None:
        message_parts.results.append(answer)
    return NAME if found is not None or answer is not None else ""


CURSORS = "tool_call"
"""The type of an event of Cursor's command line, which has a ``call_id`` too."""


def call(wire: JsonObject) -> ToolCall | None:
    kind = text_or_empty(wire.get("type"))
    is_known = kind in CALLS or kind in SERVER_CALLS
    is_item = kind.endswith("_call") and wire.get("call_id") is not None and kind != CURSORS
    if not is_known and not is_item:
        return None
    return ToolCall(
        wire, item_id(wire), tool_name(wire, kind), arguments(wire, kind), server_of(wire, kind)
    )


def server_of(wire: JsonObject, kind: str) -> str:
    """Return the server of an ``mcp_call``, or the namespace of a function.

    Codex writes the namespace of an MCP server as ``mcp__server`` or ``mcp__server__`` (github.com/openai/codex,
    codex-rs/protocol/src/tool_name.rs).
    """
    if kind not in SERVER_NAMES:
        return ""
    server = text_or_empty(wire.get(SERVER_NAMES[kind]))
    if not server.startswith("mcp__"):
        return server
    return server[5:].rstrip("_") or server


def tool_name(wire: JsonObject, kind: str) -> str:
    """Return the name of the tool; for a call without name, the type without its ending."""
    name = text_or_empty(wire.get("name"))
    return name if name or kind in UNNAMED_CALLS else kind.removesuffix("_call")


def arguments(wire: JsonObject, kind: str) -> object:
    """Return the arguments of a call."""
    if kind in SERVER_CALLS:
        key = SERVER_CALLS[kind]["arguments"]
        given = wire.get(key)
        return {key: given} if key in WRAPPED_ARGUMENTS and given is not None else given
    if kind in TEXT_ARGUMENTS:
        text = wire.get(TEXT_ARGUMENTS[kind])
        return None if text is None else {TEXT_ARGUMENTS[kind]: text}
    return first_given(wire, "arguments", "action", "operation", "input")


def result(wire: JsonObject) -> ToolResult | None:
    kind = text_or_empty(wire.get("type"))
    if kind in SERVER_CALLS:
        return server_result(wire, kind)
    if not kind.endswith("_call_output") and kind not in OUTPUTS:
        return None
    output = first_given(wire, "output", "tools", "result")
    content, has_failed = unpacked(output) if isinstance(output, str) else (output, False)
    items = as_list(output) or ()
    has_failed = has_failed or (kind == "shell_call_output" and any(map(has_broken, items)))
    is_error = has_failed or wire.get("status") == "failed"
    name = text_or_empty(wire.get("name")) or OUTPUTS.get(kind, "")
    return ToolResult(wire, item_id(wire), name, content, is_error)


def server_result(wire: JsonObject, kind: str) -> ToolResult:
    error, content = wire.get("error"), wire.get(SERVER_CALLS[kind]["result"])
    if kind == "image_generation_call" and isinstance(content, str):
        content = {"image": {"data": content}}
    if error is not None:
        content = error
    is_error = error is not None or wire.get("status") in ("failed", "incomplete")
    return ToolResult(wire, item_id(wire), tool_name(wire, kind), content, is_error)


def unpacked(output: str) -> tuple[object, bool]:
    """Unpack Codex's JSON ``{"output": ..., "metadata": {"exit_code": ...}}``; true if the command failed."""
    if not output.startswith("{"):
        return output, False
    held = loads_arguments(output)
    text = held.get("output")
    exit_code = exit_code_of(held.get("metadata"))
    if not isinstance(text, str) or exit_code is None:
        return output, False
    return text, exit_code != 0


def has_broken(item: object) -> bool:
    """Return true if a command of a shell failed or timed out."""
    outcome = (as_object(item) or {}).get("outcome")
    is_late = text_or_empty((as_object(outcome) or {}).get("type")) == "timeout"
    return is_late or exit_code_of(outcome) not in (None, 0)


def exit_code_of(holder: object) -> int | None:
    """Return an exit code, unless it is a number that no system returns."""
    exit_code = (as_object(holder) or {}).get("exit_code")
    is_code = type(exit_code) is int and abs(exit_code) <= MOST_EXIT_CODE
    return exit_code if is_code else None


def item_id(wire: JsonObject) -> str:
    """Return the id by which a call and its result are paired: ``call_id`` if present, else ``id``.

    A search for tools by the server has an item for its call and one for its result, each with an ``id`` of its own.
    """
    kind = text_or_empty(wire.get("type"))
    own = "call_id" if kind in ("tool_search_call", "tool_search_output") else "id"
    return text_or_empty(first_given(wire, "call_id", own))


def spoken(_message: JsonObject) -> Spoken | None:
    return None
