"""The common case of pairing: a message with calls, and right behind it one with their results, in the same order.

Most of what a conversation holds are such exchanges. They are certain as soon as both messages are seen, so that
nothing has to wait; the general way in ``pair`` gives the same, and is taken wherever there is anything else.
"""

from __future__ import annotations

from typing import Any

from toolcarry._pure.entry import Entry, new_entry
from toolcarry.wire import Wire

Blocks = tuple[list[Any], int, bool]
"""The blocks of a message of the user's, its position, and whether it is on the active branch."""


def exchange(
    message: Wire, blocks: Blocks, position: int, order: int, is_active: bool
) -> list[Entry]:
    """The entries, newest first, where the blocks behind it answer the calls of the message, each the one in its place.

    Empty where they do not, or where either message says what only the general way reads.
    """
    results, result_position, _ = blocks
    content = message.get("content")
    if type(content) is not list or "tool_calls" in message or "function_call" in message:
        return []
    entries: list[Entry] = []
    place = len(results)
    for block in reversed(content):
        if type(block) is not dict:
            return []
        kind = block.get("type")
        if kind == "tool_use":
            if not place:
                return []
            place -= 1
            result = results[place]
            if type(result) is not dict or result.get("type") != "tool_result":
                return []
            call_id = block.get("id")
            if type(call_id) is not str or not call_id or result.get("tool_use_id") != call_id:
                return []
            order += 1
            name, answer = block.get("name"), result.get("content")
            if type(name) is not str or (answer is not None and type(answer) not in (str, list)):
                return []
            entry = new_entry(
                block, result, call_id, name, block.get("input"), answer,
                result.get("is_error") is True, position, order, "", is_active,
            )  # fmt: skip
            entry.result_position = result_position
            entries.append(entry)
        elif kind != "text" and kind != "thinking":
            return []
    if place or (len(entries) > 1 and len({entry.call_id for entry in entries}) < len(entries)):
        return []
    return entries
