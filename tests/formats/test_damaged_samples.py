"""A damaged sample: ``inspect`` reports a text that can no longer be read."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from support.builders.producers import ANSWER, ASKED, DOCUMENTS, FAILURE, SAID

from toolcarry import InputError, dialogue, extract_tool_blocks, inspect

pytestmark = pytest.mark.usefixtures("rust")

Path = tuple[str | int, ...]
TEXTS = (ASKED, SAID, ANSWER, FAILURE)
NATIVE: dict[str, list[Any]] = {
    "anthropic": [
        {"role": "user", "content": [{"type": "text", "text": ASKED}]},
        {"role": "assistant", "content": [{"type": "text", "text": SAID}, {"type": "tool_use", "id": "c", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": ANSWER}]},
    ],
    "chat": [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": SAID, "tool_calls": [{"id": "c", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": ANSWER},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": ASKED}]},
        {"role": "model", "parts": [{"text": SAID}, {"functionCall": {"name": "look", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": ANSWER}}}]},
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": ASKED}]},
        {"role": "assistant", "content": [{"text": SAID}, {"toolUse": {"toolUseId": "c", "name": "look", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": ANSWER}]}}]},
    ],
    "responses": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASKED}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAID}]},
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": ANSWER},
    ],
}  # fmt: skip
ELSEWHERE = {"cassette"}
"""A request of a cassette repeats the messages of the one before it, and is read no more if it is damaged."""


def read(items: list[Any]) -> tuple[str, int]:
    """Return all that is read of a file, and how many messages and lines are reported as unread."""
    body = "\n".join(map(json.dumps, items)).encode()
    survey = inspect(body)
    blocks = [(block.tool_use, block.tool_result) for block in extract_tool_blocks(body)]
    return f"{dialogue(body)}\n{json.dumps(blocks)}", survey.unread.count + len(
        survey.skipped_lines
    )


def places(value: Any, text: str, at: Path = ()) -> Iterator[Path]:
    """Yield the place of each text that contains a text."""
    if isinstance(value, str):
        if text in value:
            yield at
        return
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, held in pairs:
        yield from places(held, text, (*at, key))


def damaged(items: list[Any], place: Path) -> Iterator[tuple[str, list[Any]]]:
    """Yield copies in which the text is in an object or a list, or an object around it has another type."""
    for depth in range(1, len(place) + 1):
        where, key = place[: depth - 1], place[depth - 1]
        is_text = depth == len(place) or (depth == len(place) - 1 and isinstance(place[-1], int))
        for odd in ("object", "list") if is_text else ("type",):
            changed = copy.deepcopy(items)
            holder: Any = changed
            for step in where:
                holder = holder[step]
            held = holder[key]
            if odd == "type":
                if not (isinstance(held, dict) and isinstance(held.get("type"), str)):
                    continue
                held["type"] = "odd"
            else:
                holder[key] = {"odd": held} if odd == "object" else [[held]]
            yield f"{odd} at {'.'.join(map(str, place[:depth]))}", changed


SOURCES = {**{name: make() for name, make in DOCUMENTS.items() if name not in ELSEWHERE}, **NATIVE}


@pytest.mark.parametrize("name", SOURCES)
def test_nothing_is_lost_in_silence(name: str) -> None:
    items = SOURCES[name]
    shown, reported = read(items)
    silent = []
    for text in TEXTS:
        for place in places(items, text) if text in shown else ():
            for label, changed in damaged(items, place):
                try:
                    still_shown, now_reported = read(changed)
                except InputError:
                    continue
                if text not in still_shown and now_reported <= reported:
                    silent.append(f"{text!r}: {label}")
    assert silent == []
