"""Compactions of a session: the record from which the context of the next request starts, and what that record adds.

Claude Code writes the summary as a user message. Codex writes a record with the new history, or in older versions with
the summary only. All earlier messages stay in the file, but the agent no longer sends them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from toolcarry._input.document import loads_line
from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry.importers.messages import Import

__all__ = ["last_compaction", "replacement_of"]


def replacement_of(item: object) -> list[Any] | None:
    """Return the messages with which a record replaces all earlier ones in the context; ``None`` for other records.

    They are in a form that both backends read. Claude Code's summary is itself a message, so its record adds none.

    >>> replacement_of({"isCompactSummary": True}), replacement_of({"type": "user"})
    ([], None)
    >>> replacement_of({"type": "compacted", "payload": {"message": "So far: all good."}})
    [{'role': 'user', 'content': 'So far: all good.'}]
    """
    record = as_object(item) or {}
    if record.get("isCompactSummary") is True:
        return []
    if record.get("type") != "compacted":
        return None
    payload: JsonObject = as_object(record.get("payload")) or {}
    history = as_list(payload.get("replacement_history"))
    if history is not None:
        return Import(is_restored=False).each(
            [each for each in history if as_object(each) is not None]
        )
    text = payload.get("message")
    return [{"role": "user", "content": text}] if isinstance(text, str) else []


MARKS: Final = {"claude-code": b'"isCompactSummary"', "codex": b'"compacted"'}


def last_compaction(
    data: bytes, counts: Sequence[int], shape: str = "mixed"
) -> tuple[int, list[Any]] | None:
    """Return the line of the last compaction in a session file, and what it adds; ``None`` if there is none.

    ``counts`` are the tokens of each line: a summary without tokens is on another branch. ``shape`` is the file's
    shape, as reported by ``inspect``. Only lines that may hold a compaction are decoded.
    """
    marks = [MARKS[shape]] if shape in MARKS else MARKS.values()
    places = {mark: data.rfind(mark) for mark in marks}
    while (at := max(places.values())) >= 0:
        start, stop = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        added = replacement_of(loads_line(data[start : len(data) if stop < 0 else stop]))
        line = data.count(b"\n", 0, start)
        if added or (added is not None and list(counts[line : line + 1]) > [0]):
            return line, added
        for mark, place in places.items():
            if place >= start:
                places[mark] = data.rfind(mark, 0, start)
    return None
