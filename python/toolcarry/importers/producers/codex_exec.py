"""``codex exec --json``: events about items; for each id, the last event counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_object, first_given, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
    records,
    texts_of,
)

NAME = "codex-exec"
ABOUT = About(
    "codex exec --json",
    "types `item.started`, `item.updated`, `item.completed` with an `item`",
    "openai/codex, codex-rs/exec/src/exec_events.rs",
)
SIGNS = Signs(("item",), ("item.", "thread.", "turn."))
EVENTS = ("thread.", "turn.", "item.")
NAMES = {
    "command_execution": "shell",
    "file_change": "apply_patch",
    "web_search": "web_search",
    "mcp_tool_call": "",
    "collab_tool_call": "",
}
"""The types of items that are calls, with the name of the tool, if the item has none."""
SILENT = frozenset(("reasoning", "todo_list", "error"))
ENDED = frozenset(("completed", "failed", "declined"))


def claims(message: JsonObject) -> bool:
    return kind_of(message).startswith("item.") and as_object(message.get("item")) is not None


def read(message: JsonObject) -> Imported | None:
    item = as_object(message.get("item")) or {}
    if not kind_of(message).startswith(EVENTS):
        return Imported(NAME) if kind_of(message) == "error" and "message" in message else None
    if kind_of(item) == "agent_message":
        return Imported(NAME, "assistant", item.get("text"))
    made, seen = call(item), result(item)
    if made is None:
        is_silent = kind_of(item) in SILENT or not kind_of(message).startswith("item.")
        return Imported(NAME) if is_silent else None
    return Imported(NAME, "assistant", None, [made], [] if seen is None else [seen])


def call(wire: JsonObject) -> ToolCall | None:
    kind = kind_of(wire)
    if kind not in NAMES or not text_or_empty(wire.get("id")):
        return None
    name = NAMES[kind] or text_or_empty(wire.get("tool"))
    given = first_given(wire, "arguments", "changes", "prompt")
    if kind in ("command_execution", "web_search"):
        key = "command" if kind == "command_execution" else "query"
        given = {key: wire.get(key)}
    elif kind != "mcp_tool_call":
        given = {"changes" if kind == "file_change" else "prompt": given}
    server = text_or_empty(wire.get("server"))
    return ToolCall(wire, text_or_empty(wire["id"]), name, given, server)


def result(wire: JsonObject) -> ToolResult | None:
    kind, status = kind_of(wire), kind_of(wire, "status")
    # A search has no status, and no results in the event.
    if kind not in NAMES or "id" not in wire or status not in ENDED:
        return None
    ended, error = as_object(wire.get("result")) or {}, as_object(wire.get("error")) or {}
    content = first_given(wire, "aggregated_output", "agents_states")
    if content is None:
        content = first_given(error, "message") or first_given(
            ended, "content", "structured_content"
        )
    code = wire.get("exit_code")
    has_failed = status != "completed" or (type(code) is int and code != 0)
    if content is None:  # a change of files
        content = status
    return ToolResult(wire, text_or_empty(wire["id"]), "", content, has_failed)


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Return for each id its last item, where the first one stands."""
    last = {name_of(event): position for position, event in enumerate(records(items))}
    seen: set[str] = set()
    for position, item in enumerate(items):
        name = name_of(as_object(item) or {})
        if not name:
            yield item
        elif name in seen:
            yield Imported("" if position == last[name] else NAME)
        else:
            seen.add(name)
            newest = items[last[name]]
            found = read(as_object(newest) or {})
            sources = list(texts_of(item)) if position != last[name] else ()
            yield newest if found is None else found._replace(sources=sources)


def name_of(event: JsonObject) -> str:
    return text_or_empty((as_object(event.get("item")) or {}).get("id")) if claims(event) else ""
