"""Single jobs on imported messages: the parts of commits, the format of a conversation, a block to explain."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from toolcarry._input.document import loads_line
from toolcarry._input.objects import JsonObject, as_object
from toolcarry._pure.context import to_entry
from toolcarry._pure.formats.message import MessageParts
from toolcarry._pure.history import session_lines as parts
from toolcarry._pure.history.session_lines import LinePart, Part
from toolcarry._pure.inspect import one_of, record_format
from toolcarry._pure.pairing.block import Entry
from toolcarry.errors import NeedsImport
from toolcarry.importers.messages import Import
from toolcarry.importers.read import read_message
from toolcarry.types.values import ToolBlock

__all__ = ["entry_of", "format_of", "read_line", "read_parts"]


def read_parts(record: JsonObject) -> list[Part]:
    """The parts of a message or a record, as commits of the history have them."""
    try:
        return parts.read_parts(record)
    except NeedsImport:
        given = Import()
    found = [
        part._replace(wires=tuple(map(given.original, part.wires)))
        for part in parts.read_parts(given.message(record))
    ]
    held = (record, record.get("message"))
    is_result = any(
        part.kind == parts.RESULT and any(part.wires[0] is each for each in held) for part in found
    )
    # A message that is a result itself says no more than that.
    silent = [part._replace(text="") if part.kind == parts.CALL else part for part in found]
    return [part for part in silent if part.kind != parts.MESSAGE] if is_result else found


def entry_of(block: ToolBlock, age: int) -> Entry:
    """A block as the steps see it."""
    try:
        return to_entry(block, age)
    except NeedsImport:
        (block,) = Import().blocks([block])
        return to_entry(block, age)


def read_line(
    read_lines: Callable[[list[bytes], int], list[list[LinePart] | None]], line: bytes, ends: int
) -> list[LinePart] | None:
    """``read_lines`` of one line, which an importer may have to read."""
    try:
        return read_lines([line], ends)[0]
    except NeedsImport:
        return [parts.line_part(part, ends) for part in read_parts(loads_line(line) or {})]


def format_of(messages: Iterable[Any]) -> str:
    """The format of messages, as ``inspect`` tells it."""
    names = {name_of(as_object(message) or {}) for message in messages}
    return one_of(names)


def name_of(message: JsonObject) -> str:
    return record_format(message) or read_message(message, message.get("role"), MessageParts())
