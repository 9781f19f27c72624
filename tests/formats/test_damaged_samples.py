"""Each text of a sample, whole or damaged, is in a block, in the dialogue, in ``unread``, or in a class that is counted."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
import pytest
from support.builders.producers import ANSWER, ASKED, DOCUMENTS, FAILURE, NAME, SAID
from support.examples import IS_LONG
from support.rows import for_each

from toolcarry import (
    InputError,
    carry,
    convert,
    dialogue,
    extract_tool_blocks,
    inspect,
    project,
    recount,
)

pytestmark = pytest.mark.usefixtures("rust")

Path = tuple[str | int, ...]
KINDS = ("type", "kind", "part_kind", "block_type", "role")
TEXTS = (ASKED, SAID, ANSWER, FAILURE)
THOUGHT = "The hens are asleep."
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
    "claude_code": [
        {"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s", "message": {"role": "user", "content": ASKED}},
        {"type": "assistant", "uuid": "v", "parentUuid": "u", "sessionId": "s", "message": {
            "role": "assistant", "content": [{"type": "thinking", "thinking": THOUGHT}, {"type": "text", "text": SAID},
            {"type": "tool_use", "id": "c", "name": "look", "input": {}}]}},
        {"type": "user", "uuid": "w", "parentUuid": "v", "sessionId": "s", "toolUseResult": {"stdout": ANSWER}, "message": {
            "role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": ANSWER}]}},
        {"type": "summary", "summary": "a visit to the barn", "leafUuid": "w"},
    ],
    "codex": [
        {"type": "session_meta", "payload": {"id": "s", "cwd": "/", "instructions": "Be kind to animals."}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASKED}]}},
        {"type": "event_msg", "payload": {"type": "agent_reasoning", "text": THOUGHT}},
        {"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAID}]}},
        {"type": "response_item", "payload": {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}},
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c", "output": ANSWER}},
    ],
}  # fmt: skip
ELSEWHERE = {"cassette"}
"""A request of a cassette repeats the messages of the one before it, and is read no more if it is damaged."""
BRANCHES = {"pi": ("id", "parentId"), "claude_code": ("uuid", "parentUuid")}
"""The members by which a message is on the active branch."""
AMBIGUOUS = {("pydantic_ai", "tool_name"), ("autogen", "content"), ("claude_code", "content")}
"""A request for another answer, which answers no call if it names no tool; and results that the file repeats elsewhere."""


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
    """Yield copies in which the text is in an object or a list, or an object around it has another type or name."""
    for depth in range(1, len(place) + 1):
        key = place[depth - 1]
        is_text = depth == len(place) or (depth == len(place) - 1 and isinstance(place[-1], int))
        for odd in ("object", "list", "name") if is_text else ("type", "name"):
            changed, holder = copied(items, place[:depth])
            held = holder[key]
            if odd == "type":
                if not (isinstance(held, dict) and isinstance(held.get("type"), str)):
                    continue
                held["type"] = "odd"
            elif odd == "name":
                if not isinstance(key, str):
                    continue
                rename(holder, key)
            else:
                holder[key] = {"odd": held} if odd == "object" else [[held]]
            yield f"{odd} at {dotted(place[:depth])}", changed


def with_other_members(items: list[Any]) -> Iterator[tuple[Path, str, list[Any]]]:
    """Yield copies in which one member, anywhere, has another name, or is absent: both in the long run, else in turns."""
    both = ("name", "absent")
    for number, place in enumerate(members(items)):
        for odd in both if IS_LONG else (both[number % 2],):
            changed, holder = copied(items, place)
            if odd == "name":
                rename(holder, place[-1])
            else:
                del holder[place[-1]]
            yield place, f"{odd} at {dotted(place)}", changed


def copied(items: list[Any], place: Path) -> tuple[list[Any], Any]:
    """Return a copy, and what holds the value at a place in it."""
    changed = orjson.loads(orjson.dumps(items))
    holder: Any = changed
    for step in place[:-1]:
        holder = holder[step]
    return changed, holder


def rename(holder: dict[str, Any], name: object) -> None:
    """Give a member another name, in its place."""
    named = {"odd" if key == name else key: held for key, held in holder.items()}
    holder.clear()
    holder.update(named)


def members(value: Any, at: Path = ()) -> Iterator[Path]:
    """Yield the place of each member of an object."""
    for key, held in value.items() if isinstance(value, dict) else ():
        yield (*at, key)
        yield from members(held, (*at, key))
    for index, held in enumerate(value if isinstance(value, list) else ()):
        yield from members(held, (*at, index))


def dotted(place: Path) -> str:
    return ".".join(map(str, place))


SOURCES = {**{name: make() for name, make in DOCUMENTS.items() if name not in ELSEWHERE}, **NATIVE}


@for_each("name", SOURCES)
def test_nothing_is_lost_in_silence(name: str) -> None:
    items = SOURCES[name]
    shown, reported = read(items)
    silent = []
    for text in TEXTS:
        for place in places(items, text) if text in shown else ():
            for label, changed in damaged(items, place):
                silent += [f"{each!r}: {label}" for each in silent_of(changed, [text], reported)]
    assert silent == []


@pytest.mark.parametrize("name", SOURCES)
def test_nothing_is_lost_because_of_another_member(name: str) -> None:
    items = SOURCES[name]
    shown, reported = read(items)
    silent = []
    for place, label, changed in with_other_members(items):
        if place[-1] in BRANCHES.get(name, ()) or (name, place[-1]) in AMBIGUOUS:
            continue
        written = json.dumps(changed)
        left = [text for text in TEXTS if text in shown and text in written]
        silent += [f"{text!r}: {label}" for text in silent_of(changed, left, reported)]
    assert silent == []


def silent_of(changed: list[Any], wanted: Sequence[str], reported: int) -> list[str]:
    """Return the texts that are not read, if no more is reported than before the damage."""
    try:
        shown, now_reported = read(changed) if wanted else ("", 0)
    except InputError:
        return []
    return [text for text in wanted if text not in shown] if now_reported <= reported else []


@for_each("name", SOURCES)
def test_each_text_is_in_a_class(name: str) -> None:
    items = SOURCES[name]
    shown, _ = read(items)
    survey = inspect("\n".join(map(json.dumps, items)).encode())
    assert not survey.unread
    lost = [
        f"{text!r} at {dotted(place)}"
        for text in sorted({text for text in texts(items) if " " in text})
        if json.dumps(text)[1:-1] not in shown and not is_taken_apart(text, shown)
        for place in places(items, text)
        if survey.asides.keys().isdisjoint([survey.shape, *classes(items, place)])
    ]
    assert lost == []


def is_taken_apart(text: str, shown: str) -> bool:
    """Return true if an importer reads a text in parts: marks around a result, the header of one, or JSON."""
    pieces = (piece for piece in (*TEXTS, f"{NAME} loft") if piece in text)
    return text.startswith(f"[{NAME} for") or any(piece in shown for piece in pieces)


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for held in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from texts(held)


def classes(items: list[Any], place: Path) -> Iterator[Any]:
    """Yield the names of the members on the way to a place, and the kinds and the marks of the objects."""
    held: Any = items
    for step in place:
        held = held[step]
        yield step
        if isinstance(held, dict):
            yield from (kind for kind in map(held.get, KINDS) if isinstance(kind, str))
            yield from (key for key, value in held.items() if value is True)


def test_there_are_many_damages() -> None:
    found = 0
    for items in SOURCES.values():
        found += sum(1 for _ in with_other_members(items))
        for text in TEXTS:
            found += sum(len([*damaged(items, place)]) for place in places(items, text))
    assert found > (3_000 if IS_LONG else 2_000)


def test_a_text_in_another_member_is_reported_by_every_job() -> None:
    items = SOURCES["goose"]
    changed, holder = copied(items, (1, "content"))
    holder["remark"] = "the hens are asleep"
    whole = [{**item, "remark": "the hens are asleep"} for item in items]
    for given in (changed, "\n".join(map(json.dumps, changed)).encode()):
        unread = inspect(given).unread
        assert (unread.count, unread.texts, unread.first[0].position) == (1, 1, 1)
        assert "remark" in unread.first[0].keys
        assert carry(given).report.unread == unread
        assert recount(given).report.unread == unread
        assert convert(given, to="openai").unread == unread
    assert project(changed).report.unread == unread
    unread = inspect(whole).unread
    assert (unread.count, unread.total, unread.is_everything) == (len(items), len(items), False)
