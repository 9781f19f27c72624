"""mini-swe-agent: a trajectory whose ``extra`` members say what was run, for models that write commands in their texts.

With tool calls, the messages are OpenAI's, which the backends read; only the message at the end is its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry.importers.producers import answers
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    between,
    objects,
    without,
)

NAME = "mini-swe-agent"
ABOUT = About(
    "mini-swe-agent 2, .traj.json",
    "role `exit` with an `extra` that has an `exit_status`; a response with `extra`",
    "mini-swe-agent 2.4.6, real trajectories",
)
SIGNS = Signs(("extra",))
ASIDE = frozenset(("extra", "info"))
TOOL = "bash"
FENCE: Final = (re.compile(r"```[\w-]*\s*\n"), "\n```")


def claims(message: JsonObject) -> bool:
    extra = as_object(message.get("extra")) or {}
    is_end = message.get("role") == "exit" and "exit_status" in extra
    return is_end or ("actions" in extra and bool(answers.messages_of(message)))


def read(message: JsonObject) -> Imported | None:
    if message.get("role") == "exit":
        return Imported(NAME)
    seen = result(message)
    if seen is not None:
        return Imported(NAME, results=[seen])
    made = call(message)
    if made is None:
        return None
    command = (as_object(made.arguments) or {}).get("command")
    text = message["content"]
    return Imported(NAME, "assistant", said(text, command), [made], sources=[text])


def said(text: str, command: object) -> str:
    """Return a text without the fence in which its command stands."""
    found = [(start, end) for start, held, end in between(text, *FENCE) if held.strip() == command]
    return without(text, found) if found else text


def call(wire: JsonObject) -> ToolCall | None:
    """Return the command that a text asks for: models that write texts run one at a time."""
    actions = objects((as_object(wire.get("extra")) or {}).get("actions"))
    is_text = wire.get("role") == "assistant" and isinstance(wire.get("content"), str)
    if not is_text or as_list(wire.get("tool_calls")) or len(actions) != 1:
        return None
    return ToolCall(wire, "", TOOL, {"command": actions[0].get("command")})


def result(wire: JsonObject) -> ToolResult | None:
    extra = as_object(wire.get("extra")) or {}
    if wire.get("role") != "user" or "returncode" not in extra or "raw_output" not in extra:
        return None
    return ToolResult(wire, "", TOOL, wire.get("content"), extra["returncode"] not in (0, None))


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Return the messages, with the items of a response in its place."""
    for item in items:
        message = as_object(item)
        inner = answers.messages_of(message) if message is not None and claims(message) else []
        yield from inner or [item]
