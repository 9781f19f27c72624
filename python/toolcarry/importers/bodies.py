"""Import the bytes of other producers: each message is decoded, imported and written before the next one."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from io import SEEK_END, BytesIO
from itertools import chain
from typing import Any, NamedTuple

import orjson

from toolcarry._input.document import holds_conversations, open_body
from toolcarry._input.json import dump
from toolcarry.importers.messages import Import

__all__ = ["ImportedBody", "import_body"]


class ImportedBody(NamedTuple):
    """The messages of a body in a form that both backends read."""

    body: bytes
    """An array of the messages, in JSON."""
    skipped_lines: tuple[int, ...]
    """The numbers, from 1, of all lines that hold no object."""
    messages: Sequence[Any]
    """The producer's own, which are decoded whenever they are asked for."""


def import_body(body: bytes, given: Import) -> ImportedBody:
    """Return the imported messages of a document, or of JSONL, where one message replaces each line.

    Lines at the end that hold no message are left out.

    >>> import_body(b'{"steps": [{"step_id": 1, "source": "user", "message": "Hi."}]}', Import()).body
    b'[{"role":"user","content":"Hi.","imported":true}]'
    """
    opened = open_body(body, is_kept=False)
    source = given.one_by_one(opened.messages)
    placed: list[Any] = []
    messages = JsonArray(before_places(source, given, placed))
    if given.has_places:
        messages = JsonArray(given.in_records(chain(messages, placed, source)))
    if opened.lines is not None:
        messages.end_at_last()
    return ImportedBody(messages.to_bytes(), opened.skipped_lines, opened.messages)


def before_places(source: Iterator[Any], given: Import, placed: list[Any]) -> Iterator[Any]:
    """Yield the messages before the first one with a scope or on another branch, which goes to ``placed``.

    All of them are written again as records, so that the fewer there are, the less is in memory twice.
    """
    for message in source:
        if given.has_places:
            placed.append(message)
            return
        yield message


class JsonArray:
    """Messages that are written one after the other, so that only their JSON is in memory.

    The import leaves out the members by which a message with a list of another name is known to be one. Where it is the
    first one, a role without a value keeps the array from being read as a list of requests.
    """

    def __init__(self, messages: Iterable[Any]) -> None:
        self._text = BytesIO()
        self._ends = array("Q")
        self._last = -1
        """The position of the last message that is not empty."""
        for position, message in enumerate(messages):
            self._text.write(b"," if position else b"[")
            is_mistaken = (
                position == 0 and isinstance(message, dict) and holds_conversations([message])
            )
            self._text.write(dump({**message, "role": None} if is_mistaken else message))
            self._ends.append(self._text.tell())
            self._last = position if message else self._last

    def __len__(self) -> int:
        return len(self._ends)

    def __iter__(self) -> Iterator[Any]:
        """Yield each message as JSON, or an empty one as it is."""
        start = 0
        for end in self._ends:
            self._text.seek(start + 1)
            written = self._text.read(end - start - 1)
            yield {} if written == b"{}" else orjson.Fragment(written)
            start = end

    def end_at_last(self) -> None:
        """Leave out the empty messages at the end."""
        del self._ends[self._last + 1 :]
        self._text.truncate(self._ends[-1] if self._ends else 0)

    def to_bytes(self) -> bytes:
        self._text.seek(0, SEEK_END)
        self._text.write(b"]" if self._ends else b"[]")
        return self._text.getvalue()
