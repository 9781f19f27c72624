"""The ids by which a provider pairs calls and results: those that it refuses are replaced, the same way each time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from toolcarry._pure.project.blocks import Block
from toolcarry._pure.project.drafts import Changed, Made, Path
from toolcarry._pure.project.material import Material
from toolcarry._pure.project.mend.dialects import Dialect, IdAt
from toolcarry._pure.project.mend.mends import Mends
from toolcarry._pure.project.mend.pairs import Pairs
from toolcarry._pure.read import read_result
from toolcarry.wire import Wire, as_object, text_or_empty

REFUSED = re.compile(r"[^A-Za-z0-9_-]")
LONGEST = 32
"""Of an id that is made of a refused one."""
STEM = "call"
"""What an id begins with that is made of nothing."""


class Ids:
    """The ids of calls, in the order of the conversation, so that what comes later changes none of them."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._turn = -1

    def of(self, call_id: str, turn: int) -> str:
        """The id of the next call."""
        ids = self._dialect.ids
        if ids is None or (not call_id and ids.fullmatch("")):
            return call_id
        if self._dialect.is_unique == "turn" and turn != self._turn:
            self._taken, self._numbers = set(), {}
            self._turn = turn
        new = call_id
        if not ids.fullmatch(call_id):
            new = self._free(REFUSED.sub("_", call_id)[:LONGEST].strip("_") or STEM)
        elif call_id in self._taken:
            new = self._free(call_id[:LONGEST])
        self._taken.add(new)
        return new

    def _free(self, stem: str) -> str:
        """``stem`` with the first number behind it that is free."""
        number = self._numbers.get(stem, 1)
        while f"{stem}_{number}" in self._taken:
            number += 1
        self._numbers[stem] = number
        return f"{stem}_{number}"


def give_ids(material: Material, dialect: Dialect, pairs: Pairs, mends: Mends) -> dict[int, str]:
    """Give each call, and its result, an id that the provider takes; the ids by the order of the entries."""
    ids = Ids(dialect)
    turns = turn_numbers(material.messages, dialect)
    found: dict[int, str] = {}
    for path, block in pairs.calls.items():
        entry = block.entry
        own = entry.call_id
        new = found[entry.order] = ids.of(own, turns[entry.position])
        if new != own:
            mends.add("renamed_id", entry.position, own, new)
            material.edit(path, id_member(dialect.call_id, entry.call or {}, path, new))
        fit_result(material, dialect, block, pairs.result_of(block), new, mends)
    return found


def fit_result(
    material: Material,
    dialect: Dialect,
    block: Block,
    path: Path | None,
    call_id: str,
    mends: Mends,
) -> None:
    """Let a result say the id, and the name, of its call, as far as the provider looks at them."""
    entry = block.entry
    if entry.result is None or path is None:
        return
    said = read_result(entry.result)
    ids = dialect.ids
    if ids is not None and said.call_id != call_id and (said.call_id or not ids.fullmatch("")):
        material.edit(path, id_member(dialect.result_id, entry.result, path, call_id))
        if call_id == entry.call_id:
            mends.add("renamed_id", entry.result_position, said.call_id, call_id)
    if dialect.name is not None and said.name and said.name != entry.tool_name:
        mends.add("renamed_tool", entry.result_position, entry.call_id, entry.tool_name)
        material.edit(path, id_member(dialect.name, entry.result, path, entry.tool_name))


def turn_numbers(messages: Sequence[Any], dialect: Dialect) -> list[int]:
    """The turn that each message is part of: where results are parts, messages of one role are one."""
    if dialect.form != "turns":
        return list(range(len(messages)))
    numbers: list[int] = []
    role = ""
    for message in messages:
        own = text_or_empty(message.get("role"))
        is_new = not numbers or own != role
        role = own
        numbers.append((numbers[-1] if numbers else 0) + is_new)
    return numbers


def id_member(place: IdAt, wire: Wire, path: Path, new: str) -> dict[str, Made | Changed]:
    """The members by which a part says another id."""
    member: dict[str, Made | Changed] = {place.key: Made(new)}
    holder = place.holder(wire)
    if not holder:
        return member
    is_there = as_object(wire.get(holder)) is not None
    return {holder: Changed((*path, holder) if is_there else None, member)}
