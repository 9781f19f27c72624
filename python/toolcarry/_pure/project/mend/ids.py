"""The ids by which a provider pairs calls and results: those that it refuses are replaced, the same way each time."""

from __future__ import annotations

import re
from collections.abc import Mapping

from toolcarry._pure.project.blocks import Block
from toolcarry._pure.project.drafts import Changed, Made, Path
from toolcarry._pure.project.material import Material
from toolcarry._pure.project.mend.dialects import Dialect, IdAt
from toolcarry._pure.read import read_result
from toolcarry.types import Mend

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
        self._position = -1

    def of(self, call_id: str, position: int) -> str:
        """The id of the next call."""
        ids = self._dialect.ids
        if ids is None:
            return call_id
        if self._dialect.is_unique == "turn" and position != self._position:
            self._taken, self._numbers = set(), {}
            self._position = position
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


def give_ids(
    material: Material, dialect: Dialect, calls: Mapping[Path, Block], mends: list[Mend]
) -> dict[int, str]:
    """Give each call, and its result, an id that the provider takes; the ids by the order of the entries."""
    ids = Ids(dialect)
    found: dict[int, str] = {}
    for path, block in calls.items():
        entry = block.entry
        own = entry.call_id
        new = found[entry.order] = ids.of(own, int(path[0]))
        if new != own:
            mends.append(Mend("renamed_id", entry.position, own, new))
            material.edit(path, id_member(dialect.call_id, path, new))
        result, place = entry.result, block.result_path
        if dialect.ids is None or result is None or place is None:
            continue
        if read_result(result).call_id != new:
            material.edit(place, id_member(dialect.result_id, place, new))
    return found


def id_member(place: IdAt, path: Path, new: str) -> dict[str, Made | Changed]:
    holder, key = place
    member: dict[str, Made | Changed] = {key: Made(new)}
    return {holder: Changed((*path, holder), member)} if holder else member
