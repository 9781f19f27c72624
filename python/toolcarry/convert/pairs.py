"""Calls with their results, by the message that they stand in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from toolcarry._pure.pairing import Walk
from toolcarry._pure.pairing.block import Entry
from toolcarry._util.plural import counted
from toolcarry.convert.losses import Losses
from toolcarry.convert.parts import Call, Orphan, Result
from toolcarry.errors import NeedsImport
from toolcarry.importing.messages import Import
from toolcarry.importing.read import read_result


class Pairs:
    """What the walk paired: the active branch by position, and how much of the rest there is."""

    def __init__(self, messages: Sequence[Any], positions: Mapping[int, int]) -> None:
        """``positions`` are those of the results, by the identity of their objects."""
        self._positions = positions
        imported = Import()
        try:
            walk = Walk(messages)
            entries = list(walk.entries())
        except NeedsImport:
            walk = Walk(imported.messages(messages))
            entries = list(walk.entries())
        entries.reverse()
        for entry in entries:
            imported.restore(entry)
        self._second_results = {
            order: list(map(imported.original, results))
            for order, results in walk.second_results.items()
        }
        self._by_position: defaultdict[int, list[Entry]] = defaultdict(list)
        self._left = {"side_chain": 0, "other_branch": 0}
        for entry in entries:
            if entry.is_active:
                self._by_position[entry.position].append(entry)
            else:
                self._left["side_chain" if entry.scope else "other_branch"] += 1

    def calls_at(self, position: int) -> list[Entry]:
        """The calls in a message, in their order."""
        return [entry for entry in self._by_position[position] if entry.call is not None]

    def orphans_at(self, position: int) -> list[Orphan]:
        """The results without call in a message."""
        found = [entry for entry in self._by_position[position] if entry.call is None]
        return [
            Orphan(position, entry.call_id, entry.name, self.results_of(entry)[0])
            for entry in found
        ]

    def call_of(self, entry: Entry) -> Call:
        """The call of an entry with all its results."""
        wire = entry.call or {}
        results = self.results_of(entry)
        return Call(entry.position, entry.call_id, entry.name, entry.arguments, results, wire)

    def results_of(self, entry: Entry) -> tuple[Result, ...]:
        """What came back: the block's result first, then further ones."""
        if entry.result is None:
            return ()
        others = map(read_result, self._second_results.get(entry.order, ()))
        found = [(entry.result, entry.content, entry.is_error)]
        found += [(other.wire, other.content, other.is_error) for other in others]
        return tuple(
            Result(self._positions.get(id(wire), entry.position), content, is_error, wire)
            for wire, content, is_error in found
        )

    def tell_what_is_left(self, left: dict[str, int], losses: Losses) -> None:
        """Count what the active branch leaves behind: messages, and the blocks in them."""
        for kind, blocks in self._left.items():
            if left.get(kind) or blocks:
                held = f" with {counted(blocks, 'call')}" if blocks else ""
                losses.add(None, kind, f"{counted(left.get(kind, 0), 'message')}{held}")
