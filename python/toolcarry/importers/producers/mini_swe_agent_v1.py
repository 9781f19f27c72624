"""mini-swe-agent 1: a trajectory whose commands stand in fences in the texts, and whose results are texts of the user.

The document says what it is, its messages don't: without it they are any chat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    CLIENT,
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    between,
    many,
    nothing,
    without,
)

NAME = "mini-swe-agent-1"
ABOUT = About(
    "mini-swe-agent 1, .traj.json",
    "`trajectory_format` `mini-swe-agent-1`",
    "mini-swe-agent 1.17.5, real trajectories",
)
SIGNS = Signs(("trajectory_format", "info"))
ASIDE = frozenset(("extra", "info"))
TOOL = "bash"
ACTION: Final = r"```bash\s*\n(.*?)\n```"
"""The client's default setting for recognising a command, used if a trajectory does not state it."""
PLAIN: Final = r"[^\\.*+?()\[\]{}|^$]"
SIMPLE: Final = re.compile(rf"({PLAIN}+(?:\\s\*)?(?:\\n)?)\(\.\*\?\)((?:\\n)?{PLAIN}+)")
"""A setting of two plain marks; a file could have any regular expression, and some never end."""
FAILED: Final = re.compile(
    r"<returncode>(?!0</returncode>)|The last command <command>|Command not executed|Interrupted by user: "
)
"""The beginnings of the results of commands that failed, took too long, or were not run."""
TYPED: Final = re.compile(
    r"Interrupted by user: |Command not executed(: |\. The user rejected )|The user added a new task: "
)
"""The beginnings of texts with words that the user typed: agents/interactive.py, interactive_textual.py."""


def claims(message: JsonObject) -> bool:
    return message.get("trajectory_format") == NAME


read = call = result = nothing


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Return the messages of a document."""
    documents = [each for each in map(as_object, items) if each is not None and claims(each)]
    if len(documents) > 1:
        raise many(len(documents), "trajectories")
    messages = as_list(documents[0].get("messages")) if len(items) == 1 else None
    yield from items if messages is None else turns(messages, action_of(documents[0]))


def action_of(document: JsonObject) -> re.Match[str] | None:
    """Return the marks of a command; ``None`` for a setting with others than two plain marks."""
    info = as_object(document.get("info")) or {}
    agent = as_object((as_object(info.get("config")) or {}).get("agent")) or {}
    return SIMPLE.fullmatch(text_or_empty(agent.get("action_regex")) or ACTION)


def turns(messages: Sequence[Any], action: re.Match[str] | None) -> Iterator[Any]:
    asked: int | None = None
    """The number of commands in the message before, if that is the assistant's: the client runs a single one."""
    for item in messages:
        message = as_object(item) or {}
        role, text = message.get("role"), message.get("content")
        if role == "assistant" and isinstance(text, str) and action is not None:
            found = list(between(text, re.compile(action[1]), action[2].replace(r"\n", "\n")))
            asked = len(found)
            yield said(text, found)
        elif role == "user" and isinstance(text, str) and asked is not None:
            yield answer(message, text, is_run=asked == 1)
            asked = None
        else:
            yield item
            asked = None


def said(text: str, found: list[tuple[int, str, int]]) -> Imported:
    if len(found) != 1:
        return Imported(NAME, "assistant", text)
    ((start, command, end),) = found
    given = {"command": command.strip()}
    wire = {"type": "function", "function": {"name": TOOL, "arguments": given}}
    calls = [ToolCall(wire, "", TOOL, given)]
    return Imported(NAME, "assistant", without(text, [(start, end)]), calls, sources=[text])


def answer(message: JsonObject, text: str, *, is_run: bool) -> Imported:
    """Return the answer of the client to a message of the assistant: a result, or what is wrong with its format."""
    is_typed, is_failed = TYPED.match(text) is not None, FAILED.match(text) is not None
    if not is_run or (is_typed and not is_failed):
        return Imported(NAME, "user" if is_typed else CLIENT, text)
    results = [ToolResult(message, "", TOOL, text, is_failed)]
    return Imported(NAME, "user", text, results=results) if is_typed else Imported(NAME, results=results)  # fmt: skip
