"""The state that all ways to repair a request share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from toolcarry._input.objects import text_or_empty
from toolcarry._pure.projection.blocks import Block
from toolcarry._pure.projection.edits import Draft, NewValue, Path
from toolcarry._pure.projection.repair.destinations import INTERRUPTED, Destination
from toolcarry._pure.projection.repair.frame import Frame
from toolcarry._pure.projection.repair.pairs import Pairs
from toolcarry._pure.projection.repair.report import Mends
from toolcarry._pure.projection.request import EditedMessages


class Repair(NamedTuple):
    """A request that is being repaired, and the report about it."""

    edited: EditedMessages
    destination: Destination
    pairs: Pairs
    ids: Mapping[int, str]
    """The new ids of calls, by the order of their entries."""
    mends: Mends
    frame: Frame | None = None
    """``None`` if the request is a list of messages."""

    def answer(self, block: Block) -> list[Draft]:
        """Return a result for a call that has none; nothing if none can be made up."""
        entry, name = block.entry, self.pairs.name_of(block)
        made = self.destination.make(self.ids[entry.order], name, entry.call or {})
        if made is None:
            self.mends.open_kinds.add(text_or_empty((entry.call or {}).get("type")))
            return []
        self.mends.add("missing_result", entry.position, entry.call_id)
        self.mends.texts[entry.order] = INTERRUPTED
        return [NewValue(made)]

    def report_stray(self, path: Path, call_id: str) -> None:
        """Report a result that is removed, since it answers no call, or one that is answered already."""
        is_second = call_id != "" and call_id in self.pairs.ids
        kind = "duplicate_result" if is_second else "orphan_result"
        self.mends.add(kind, int(path[0]), call_id)
        self.mends.left_out.add(path)
