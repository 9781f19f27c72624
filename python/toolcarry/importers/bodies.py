"""Import the bytes of other producers: they are decoded, and read as objects from then on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from toolcarry._input.document import open_body
from toolcarry.importers.messages import Import, recognise

__all__ = ["ImportedBody", "import_body"]


class ImportedBody(NamedTuple):
    """The messages of a body in a form that both backends read."""

    messages: list[Any]
    skipped_lines: tuple[int, ...]
    """The numbers, from 1, of all lines that hold no object."""
    shape: str
    """The name of the format, as ``inspect`` reports it; empty if nobody asked for it."""
    length: int
    """The number of messages, without lines at the end that hold none."""


def import_body(
    body: bytes, given: Import, format_of: Callable[[Sequence[Any]], str] | None = None
) -> ImportedBody:
    """Return the imported messages of a document, or of JSONL, of which one message replaces each line.

    ``format_of`` tells the format of a conversation without an importer of its own, if that is asked for. The decoded
    document is dropped as its messages are imported.

    >>> import_body(b'{"steps": [{"step_id": 1, "source": "user", "message": "Hi."}]}', Import()).messages
    [{'role': 'user', 'content': 'Hi.', 'imported': True}]
    """
    opened = open_body(body)
    items = list(opened.messages)
    has_lines, skipped_lines = opened.lines is not None, opened.skipped_lines
    del opened
    producer = recognise(items)
    shape = "" if producer is None else producer.NAME
    if producer is None and format_of is not None:
        shape = format_of(items)
    messages = given.drain(items, producer)
    length = len(messages)
    while has_lines and length and not messages[length - 1]:
        length -= 1
    return ImportedBody(messages, skipped_lines, shape, length)
