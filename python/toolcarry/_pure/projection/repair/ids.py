"""The ids by which a provider pairs calls and results. Refused ones are replaced, always in the same way."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable, Sequence
from typing import Any, Final

from toolcarry._input.objects import JsonObject, as_object
from toolcarry._pure.projection.blocks import Block
from toolcarry._pure.projection.edits import Changed, NewValue, Path
from toolcarry._pure.projection.repair.destinations import Destination, IdAt
from toolcarry._pure.projection.repair.message_parts import REQUEST_MODEL_ROLES
from toolcarry._pure.projection.repair.pairs import Pairs
from toolcarry._pure.projection.repair.report import Mends
from toolcarry._pure.projection.request import EditedMessages

_REFUSED: Final = re.compile(r"[^A-Za-z0-9_-]")
LONGEST: Final = 32
"""The length of the longest id that is made from another one."""
STEM: Final = "call"
"""The id that is made from an empty one."""


class FreeIds:
    """The ids that are taken, and those that no new id may be. New ids are made deterministically."""

    def __init__(
        self, taken: Iterable[str] = (), avoided: Container[str] = (), *, at_most: int = 0
    ) -> None:
        """``at_most`` is the number of characters of all ids that the destination takes, if they are short."""
        self.taken = set(taken)
        self._avoided = avoided
        self._at_most = at_most if at_most < LONGEST else 0
        self._numbers: dict[str, int] = {}
        """The next number for each id that several calls have."""

    def plain(self, call_id: str) -> str:
        """Return a free id of characters that every provider accepts."""
        if self._at_most:
            return self._short(call_id)
        return self.like(_REFUSED.sub("_", call_id[:LONGEST]).strip("_") or STEM)

    def like(self, call_id: str) -> str:
        """Return ``call_id`` if it is free, else with the first free number after it."""
        if self._at_most:
            return self._short(call_id)
        stem = call_id[:LONGEST]
        new, number = stem, self._numbers.get(stem, 2)
        while new in self.taken or new in self._avoided:
            new = f"{stem}_{number}"
            number += 1
        self._numbers[stem] = number
        self.taken.add(new)
        return new

    def _short(self, call_id: str) -> str:
        """Return a free id that is too short to show the old one: digits of its hash."""
        number = 1
        while True:
            name = call_id.encode("utf-32-le", "surrogatepass") + f"#{number}".encode()
            new = hashlib.sha256(name).hexdigest()[: self._at_most]
            if new not in self.taken and new not in self._avoided:
                self.taken.add(new)
                return new
            number += 1


class Ids:
    """The ids of calls, in the order of the conversation, so that a later call changes none of them."""

    def __init__(self, destination: Destination, pairs: Pairs) -> None:
        self._takes = destination.id.takes_id
        self._is_by_turn = not destination.is_unique
        self._pairs = pairs
        self._at_most = destination.id.at_most
        self._free = self._fresh()
        self._turn = -1

    def _fresh(self) -> FreeIds:
        return FreeIds(self._pairs.foreign_ids, self._pairs.orphan_ids, at_most=self._at_most)

    def of(self, call_id: str, turn: int) -> str:
        """Return the id of the next call."""
        if not call_id and self._takes(""):
            return call_id
        if self._is_by_turn and turn != self._turn:
            self._free = self._fresh()
            self._turn = turn
        if not self._takes(call_id):
            return self._free.plain(call_id)
        if call_id in self._free.taken:
            return self._free.like(call_id)
        self._free.taken.add(call_id)
        return call_id


def assign_ids(
    edited: EditedMessages, destination: Destination, pairs: Pairs, mends: Mends
) -> dict[int, str]:
    """Give each call, and its result, an id that the provider accepts. Return the ids by the order of the entries."""
    ids = Ids(destination, pairs)
    turns = turn_numbers(edited.messages, destination, pairs)
    mixed = mixed_turns(pairs, turns)
    found: dict[int, str] = {}
    for path, block in pairs.calls.items():
        entry = block.entry
        own = entry.call_id
        turn = turns[entry.position]
        new = found[entry.order] = ids.of(own, turn)
        if new != destination.call_id.text(entry.call or {}):
            mends.add("renamed_id", entry.position, own, new)
            edited.edit(path, id_member(destination.call_id, entry.call or {}, path, new))
        needs_id = turn in mixed or not destination.id.takes_id("")
        fit_result(edited, destination, block, pairs, (new, needs_id), mends)
    return found


def fit_result(
    edited: EditedMessages,
    destination: Destination,
    block: Block,
    pairs: Pairs,
    given: tuple[str, bool],
    mends: Mends,
) -> None:
    """Give a result its call's name and id. A result without id gets one only if it needs it."""
    entry, path, name = block.entry, pairs.result_of(block), pairs.name_of(block)
    call_id, needs_id = given
    if entry.result is None or path is None:
        return
    own = destination.result_id.text(entry.result)
    if own != call_id and (own or needs_id):
        edited.edit(path, id_member(destination.result_id, entry.result, path, call_id))
        if call_id == entry.call_id:
            mends.add("renamed_id", entry.result_position, own, call_id)
    own = "" if destination.result_name is None else destination.result_name.text(entry.result)
    if destination.result_name is not None and not is_named(destination, own, name):
        if own != entry.tool_name:  # else its call has a new name, and is reported
            mends.add("renamed_tool", entry.result_position, entry.call_id, name)
        edited.edit(path, id_member(destination.result_name, entry.result, path, name))


def is_named(destination: Destination, name: str, tool_name: str) -> bool:
    """Return true if a result has its call's name. A result that is a message of its own needs none."""
    return name == tool_name or (not name and destination.form == "chat")


def mixed_turns(pairs: Pairs, turns: Sequence[int]) -> set[int]:
    """Return the turns in which only some calls have ids. There, a result without id could answer either kind.

    A call that is only in the content counts too, although its result is removed.
    """
    entries = [block.entry for block in pairs.calls.values()]
    with_id = {turns[entry.position] for entry in entries if entry.call_id}
    without = {turns[entry.position] for entry in entries if not entry.call_id}
    return with_id & (without | {turns[position] for position in pairs.lone})


def turn_numbers(messages: Sequence[Any], destination: Destination, pairs: Pairs) -> list[int]:
    """Return the turn number of each message. If results are parts, consecutive messages of one side are one turn."""
    if destination.form != "turns":
        return list(range(len(messages)))
    with_calls = {path[0] for path in pairs.calls}
    numbers: list[int] = []
    side: bool | None = None
    for position, message in enumerate(messages):
        own = message.get("role") in REQUEST_MODEL_ROLES or position in with_calls
        numbers.append((numbers[-1] if numbers else 0) + (own is not side))
        side = own
    return numbers


def id_member(place: IdAt, wire: JsonObject, path: Path, new: str) -> dict[str, NewValue | Changed]:
    """Return the members that give a part another id."""
    member: dict[str, NewValue | Changed] = {place.key: NewValue(new)}
    holder = place.holder(wire)
    if not holder:
        return member
    is_there = as_object(wire.get(holder)) is not None
    return {holder: Changed((*path, holder) if is_there else None, member)}
