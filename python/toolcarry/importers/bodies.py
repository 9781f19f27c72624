"""Import the bytes of other producers: they are decoded, and read as objects from then on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from toolcarry._input.document import open_body
from toolcarry.importers.messages import Import

__all__ = ["ImportedBody", "import_body"]


class ImportedBody(NamedTuple):
    """The messages of a body in a form that both backends read."""

    messages: list[Any]
    skipped_lines: tuple[int, ...]
    """The numbers, from 1, of all lines that hold no object."""
    items: Sequence[Any]
    """The producer's own messages, or lines."""
    length: int
    """The number of messages, without lines at the end that hold none."""


def import_body(body: bytes, given: Import) -> ImportedBody:
    """Return the imported messages of a document, or of JSONL, of which one message replaces each line.

    >>> import_body(b'{"steps": [{"step_id": 1, "source": "user", "message": "Hi."}]}', Import()).messages
    [{'role': 'user', 'content': 'Hi.', 'imported': True}]
    """
    opened = open_body(body)
    items = list(opened.messages)
    messages = given.messages(items)
    length = len(messages)
    while opened.lines is not None and length and not messages[length - 1]:
        length -= 1
    return ImportedBody(messages, opened.skipped_lines, items, length)
