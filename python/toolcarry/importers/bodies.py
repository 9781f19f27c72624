"""Import the bytes of other producers: imported messages are rewritten, everything else is unchanged."""

from __future__ import annotations

import codecs
from typing import Any

from toolcarry._input.document import loads_line, messages_of, open_body
from toolcarry._input.json import dump
from toolcarry.importers.messages import Import

__all__ = ["import_body", "import_line"]


def import_body(body: bytes, given: Import) -> bytes:
    """Return a document or JSONL that both backends read, imported message by message or line by line.

    >>> import_body(b'{"steps": [{"step_id": 1, "source": "user", "message": "Hi."}]}', Import())
    b'[{"role":"user","content":"Hi."}]'
    """
    opened = open_body(body)
    if opened.lines is None:
        return dump(given.messages(opened.messages))
    lines = body.removeprefix(codecs.BOM_UTF8).split(b"\n")
    return b"\n".join(import_line(line, given, number) for number, line in enumerate(lines))


def import_line(line: bytes, given: Import, number: int) -> bytes:
    """Return a line with its content imported; the line itself if nothing needs an import."""
    record = loads_line(line)
    if record is None:
        return line
    messages = messages_of(record)
    if messages is None:
        new: Any = given.message(record, number)
        return line if new is record else dump(new)
    return dump({"messages": given.messages(messages)})
