"""Split messages and lines of any producer into the parts that become commits of the history."""

from __future__ import annotations

from collections.abc import Callable

from toolcarry._input.document import loads_line
from toolcarry._input.objects import JsonObject
from toolcarry.importers.messages import Import
from toolcarry.model import session_lines as parts
from toolcarry.model.session_lines import LinePart, Part
from toolcarry.types.values import EncodingName

__all__ = ["read_line", "read_parts"]


def read_parts(record: JsonObject) -> list[Part]:
    """Return the parts of a message or a record that become commits of the history."""
    known = parts.read_parts(record)
    if known is not None:
        return known
    given = Import()
    found = [
        part._replace(wires=tuple(map(given.original, part.wires)))
        for part in parts.read_parts(given.message(record)) or ()
    ]
    held = (record, record.get("message"))
    is_result = any(
        part.kind == parts.RESULT and any(part.wires[0] is each for each in held) for part in found
    )
    # A message that is itself a result has no other content.
    silent = [part._replace(text="") if part.kind == parts.CALL else part for part in found]
    return [part for part in silent if part.kind != parts.MESSAGE] if is_result else found


def read_line(
    read_lines: Callable[[list[bytes]], list[list[LinePart] | None] | None],
    count: Callable[[str, EncodingName], int],
    line: bytes,
) -> list[LinePart] | None:
    """Run the kernel ``read_lines`` on one line, which may need an importer. ``count`` counts tokens."""
    found = read_lines([line])
    if found is not None:
        return found[0]
    return [parts.line_part(part, count) for part in read_parts(loads_line(line) or {})]
