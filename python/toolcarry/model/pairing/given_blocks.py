"""Blocks that a caller gives, as the entries that the steps use."""

from __future__ import annotations

from collections.abc import Sequence

from toolcarry._input.objects import as_object
from toolcarry.model.formats import read_call, read_result
from toolcarry.model.pairing.block import Entry, new_entry
from toolcarry.types.values import ToolBlock


def to_entries(blocks: Sequence[ToolBlock], ages: Sequence[int]) -> list[Entry] | None:
    """Return blocks as entries of these ages, newest first; ``None`` if only an importer can read one of them."""
    found: list[Entry] = []
    for block, age in zip(reversed(blocks), ages, strict=True):
        entry = to_entry(block, age)
        if entry is None:
            return None
        found.append(entry)
    return found


def to_entry(block: ToolBlock, age: int) -> Entry | None:
    """Return a block as an entry of this age; ``None`` if only an importer can read its call or its result."""
    wire, result = as_object(block.tool_use), as_object(block.tool_result)
    call = None if wire is None else read_call(wire)
    answer = None if result is None else read_result(result)
    if (wire is not None and call is None) or (result is not None and answer is None):
        return None
    said = call or answer
    entry = new_entry(
        wire,
        result,
        "" if said is None else said.call_id,
        "" if said is None else said.name,
        None if call is None else call.arguments,
        None if answer is None else answer.content,
        block.is_error or (answer is not None and answer.is_error),
        block.position,
        age,
        block.scope,
        block.notes.is_active,
    )
    entry.server = "" if call is None else call.server
    entry.directory = block.notes.directory
    return entry
