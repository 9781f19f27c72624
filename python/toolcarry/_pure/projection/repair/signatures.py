"""Signatures: thoughts that lack one go, and calls that need one get the one for calls of other models."""

from __future__ import annotations

from typing import Final

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry._pure.projection.edits import NewValue, Path, at
from toolcarry._pure.projection.repair.state import Repair


def leave_out_thoughts(repair: Repair) -> None:
    """Remove thoughts without a signature, which another model had, or which a gateway passed on without it."""
    edited, destination = repair.edited, repair.destination
    callers = {path[0] for path in repair.pairs.calls}  # they get the model's role
    for position, message in enumerate(edited.messages if destination.signed_thoughts else ()):
        is_models = message.get("role") == destination.model or position in callers
        if not is_models or position in edited.guard:
            continue
        for index, item in enumerate(as_list(message.get("content")) or ()):
            part = as_object(item) or {}
            if part.get("type") == "thinking" and not text_or_empty(part.get("signature")):
                edited.take_out((position, "content", index))
                repair.mends.add("unsigned_thought", position)


_UNSIGNED: Final[str] = read_table("texts")["unsigned_call"]


def sign_calls(repair: Repair) -> None:
    """Sign the first call of each message of the open turn, if the destination refuses one without a signature.

    The signature is the one for calls of other models. The turn is open from the last message in which the user speaks.
    """
    edited, destination, pairs, _, mends, _ = repair
    if not destination.signed_calls:
        return
    firsts: dict[int, Path] = {}
    for path in sorted(pairs.calls):
        firsts.setdefault(int(path[0]), path)
    unsigned: list[Path] = []
    for position in range(len(edited.messages) - 1, -1, -1):
        if position in edited.guard or edited.is_gone((position,)):
            continue
        first = firsts.get(position)
        if first is None:
            if _is_users_word(repair, position):
                break
        elif not is_signed(as_object(at(edited.messages, first)) or {}):
            unsigned.append(first)
    for path in reversed(unsigned):
        entry = pairs.calls[path].entry
        edited.edit(path, {"thoughtSignature": NewValue(_UNSIGNED)})
        mends.add("unsigned_call", entry.position, entry.call_id)


def is_signed(part: JsonObject) -> bool:
    """Return true if a part has a signature, by any of both names."""
    return any(text_or_empty(part.get(key)) for key in ("thoughtSignature", "thought_signature"))


def _is_users_word(repair: Repair, position: int) -> bool:
    """Return true if a message without calls is the user's, and no result is in it."""
    edited, destination = repair.edited, repair.destination
    message = edited.messages[position]
    if message.get("role") == destination.model:
        return False
    parts = [as_object(part) or {} for part in as_list(message.get(destination.key)) or ()]
    return bool(parts) and not any(map(destination.is_result, parts))
