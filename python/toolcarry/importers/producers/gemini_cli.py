"""Gemini CLI: its chat files, as one document or as lines, and its ``--output-format stream-json``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
    objects,
    records,
    shown_parts,
    texts_of,
)
from toolcarry.model.formats import gemini

NAME = "gemini-cli"
ABOUT = About(
    "Gemini CLI, ~/.gemini/tmp/*/chats/session-*.json and .jsonl; stream-json",
    "type `gemini`; a `projectHash` next to a `sessionId`; types `tool_use` and `tool_result` with a `tool_id`",
    "google-gemini/gemini-cli, packages/core/src/services/chatRecordingTypes.ts, output/types.ts",
)
SIGNS = Signs(
    ("toolCalls", "tool_id", "info", "projectHash"), ("gemini", "init", "message", "tool")
)
ASIDE = frozenset(
    ("resultDisplay", "displayContent", "displayName", "summary", "memoryScratchpad", "directories")
)
SPEAKERS = {"user": "user", "gemini": "assistant"}
SILENT = frozenset(("info", "error", "warning", "init", "result"))
FAILED = frozenset(("error", "cancelled"))


def claims(message: JsonObject) -> bool:
    kind = kind_of(message)
    if kind == "gemini":
        return "content" in message or "toolCalls" in message
    if "projectHash" in message and "sessionId" in message:  # the first line of a chat file
        return True
    return kind in ("tool_use", "tool_result") and isinstance(message.get("tool_id"), str)


def read(message: JsonObject) -> Imported | None:
    made, seen = call(message), result(message)
    kind = kind_of(message)
    if kind in ("tool_use", "tool_result") and (made or seen):
        speaker = "" if made is None else "assistant"
        calls, results = [made] if made else [], [seen] if seen else []
        return Imported(NAME, speaker, None, calls, results)
    if kind in SPEAKERS:
        entries = objects(message.get("toolCalls"))
        calls = [ran for entry in entries if (ran := call(entry))]
        results = [gave for entry in entries if (gave := result(entry))]
        return Imported(NAME, SPEAKERS[kind], said(message.get("content")), calls, results)
    is_record = "$set" in message or "$rewindTo" in message or "projectHash" in message
    return Imported(NAME) if kind in SILENT or is_record else None


def said(content: object) -> object:
    """Return a content, which is a text, a part of Gemini, or a list of both."""
    part = as_object(content)
    return shown_parts(content if part is None else [part])


def call(wire: JsonObject) -> ToolCall | None:
    if kind_of(wire) == "tool_use" and "tool_id" in wire:
        call_id, name = text_or_empty(wire["tool_id"]), text_or_empty(wire.get("tool_name"))
        return ToolCall(wire, call_id, name, wire.get("parameters"))
    if "status" not in wire or "args" not in wire:
        return None
    return ToolCall(
        wire, text_or_empty(wire.get("id")), text_or_empty(wire.get("name")), wire["args"]
    )


def result(wire: JsonObject) -> ToolResult | None:
    status = kind_of(wire, "status")
    if kind_of(wire) == "tool_result" and "tool_id" in wire:
        error = (as_object(wire.get("error")) or {}).get("message")
        content = wire.get("output") or error
        return ToolResult(wire, text_or_empty(wire["tool_id"]), "", content, status in FAILED)
    if "args" not in wire or not (wire.get("result") or status in FAILED):
        return None
    contents = [answer.content for part in objects(wire.get("result")) if (answer := gemini.result(part))]  # fmt: skip
    content = contents[0] if len(contents) == 1 else contents or wire.get("resultDisplay")
    return ToolResult(wire, text_or_empty(wire.get("id")), "", content, status in FAILED)


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Join the pieces of a streamed text. In a chat file of lines, the last of an id counts, and what was rewound is inactive."""
    last = {name_of(record): position for position, record in enumerate(records(items))}
    rewound = rewound_positions(items)
    seen: set[str] = set()
    for speaker, run in groupby(enumerate(items), lambda numbered: piece_speaker(numbered[1])):
        if speaker is not None:
            texts = [item["content"] for _, item in run]
            yield Imported(NAME, speaker, "".join(texts), sources=texts)
            yield from [Imported(NAME)] * (len(texts) - 1)
            continue
        for position, item in run:
            record = as_object(item) or {}
            name = name_of(record)
            if kind_of(record) == "message" and isinstance(record.get("content"), str):
                yield Imported(NAME, text_or_empty(record.get("role")), record["content"])
            elif name in seen:
                yield Imported("" if position == last[name] else NAME)
            elif name and kind_of(record) in SPEAKERS:
                seen.add(name)
                found = read(as_object(items[last[name]]) or {})
                is_active, earlier = position not in rewound, position != last[name]
                sources = list(texts_of(record)) if earlier else ()
                yield (
                    item if found is None else found._replace(is_active=is_active, sources=sources)
                )
            else:
                yield item


def name_of(record: JsonObject) -> str:
    return text_or_empty(record.get("id"))


def piece_speaker(item: object) -> str | None:
    """Return who says a piece of a streamed text; ``None`` for anything else."""
    record = as_object(item) or {}
    is_piece = kind_of(record) == "message" and record.get("delta") is True
    is_said = is_piece and isinstance(record.get("content"), str)
    return text_or_empty(record.get("role")) if is_said else None


def rewound_positions(items: Sequence[Any]) -> set[int]:
    """Return the positions of messages that a later record takes back: the one that it names, and all after it."""
    rewound: set[int] = set()
    first: dict[str, int] = {}
    for position, record in enumerate(records(items)):
        name = record.get("$rewindTo")
        if isinstance(name, str):
            rewound.update(range(first.get(name, position), position))
            first = {each: at for each, at in first.items() if at < first.get(name, position)}
        elif name_of(record):
            first.setdefault(name_of(record), position)
    return rewound
