"""Blocks that a caller gives, as the entries that the steps use."""

from __future__ import annotations

from toolcarry._input.objects import as_object
from toolcarry.model.formats import read_call, read_result
from toolcarry.model.pairing.block import Entry, new_entry
from toolcarry.types.values import ToolBlock


def to_entry(block: ToolBlock, age: int) -> Entry:
    """Return a block as an entry of this age."""
    wire, result = as_object(block.tool_use), as_object(block.tool_result)
    call = None if wire is None else read_call(wire)
    answer = None if result is None else read_result(result)
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
