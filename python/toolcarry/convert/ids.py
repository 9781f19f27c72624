"""The ids by which calls and results belong together in the target: kept where it takes them, else changed, and told.

A call without id is given one, ``call_0`` and so on. An id that repeats stays where that is clear: each call with it
has one result and stands in a turn of its own; Anthropic refuses it all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from toolcarry._input.objects import text_or_empty
from toolcarry._pure.projection.repair.ids import FreeIds
from toolcarry.convert.losses import Losses, listed
from toolcarry.convert.parts import Call, Item, Orphan, Turn

PartOf = TypeVar("PartOf", Call, Item, Orphan)

ALLOWED: Final = {
    "anthropic": re.compile(r"[A-Za-z0-9_-]+"),
    "openai": re.compile(r".{1,40}", re.DOTALL),
    "responses": re.compile(r".{1,64}", re.DOTALL),
    "bedrock": re.compile(r"[A-Za-z0-9_.:-]{1,64}"),
}
"""What an id may be: the providers refuse all others."""

REPEATING: Final = ("openai", "responses", "gemini")
"""The targets that take an id in one turn, and again in another."""


def give_ids(turns: Sequence[Turn], target: str, losses: Losses) -> list[Turn]:
    """The turns, with ids that the target takes. Ollama gets those alone that the order cannot do without, and for Gemini
    none is made up that it can.
    """
    ids = Ids(turns, target, losses)
    found: list[Turn] = []
    for turn in turns:
        parts = (
            ids.named(part) if isinstance(part, (Call, Orphan)) else part for part in turn.parts
        )
        found.append(Turn(turn.role, tuple(parts)))
    ids.tell()
    return found


class Ids:
    """The ids that were given, and those that are still to come."""

    def __init__(self, turns: Sequence[Turn], target: str, losses: Losses) -> None:
        self._target = target
        self._losses = losses
        self._given: set[str] = set()
        self._made_up: list[str] = []
        self._next = 0
        self._has_lost = False
        self._free = FreeIds(text_or_empty(item.wire.get("id")) for item in of(turns, Item))
        self._free.taken |= {part.call_id for part in of(turns, Orphan)}
        self._free.taken |= {part.call_id for part in of(turns, Call)}
        self._may_repeat = clear_ids(turns) if target in REPEATING else set()

    def named(self, part: Call | Orphan) -> Call | Orphan:
        """The part with the id that it has in the target."""
        call_id = part.call_id
        is_clear = isinstance(part, Call) and len(part.results) == 1
        if is_clear and (self._target == "ollama" or (self._target == "gemini" and not call_id)):
            self._has_lost = self._has_lost or call_id != ""
            return replace(part, call_id="")
        if not call_id:
            return replace(part, call_id=self._make_up())
        allowed = ALLOWED.get(self._target)
        new = call_id
        if allowed is not None and not allowed.fullmatch(call_id):
            new = self._free.plain(call_id)
        elif isinstance(part, Call) and self._is_given(call_id):
            new = self._free.like(call_id)
        if isinstance(part, Call):
            self._given.add(new)
        if new != call_id:
            self._losses.add(part.position, "changed_id", f"{call_id} is {new}")
        return replace(part, call_id=new)

    def _is_given(self, call_id: str) -> bool:
        return call_id in self._given and call_id not in self._may_repeat

    def _make_up(self) -> str:
        """An id for what has none."""
        while (new := f"call_{self._next}") in self._free.taken:
            self._next += 1
        self._free.taken.add(new)
        self._made_up.append(new)
        return new

    def tell(self) -> None:
        if self._made_up:
            self._losses.add(None, "made_up_ids", listed(self._made_up, 5))
        if self._has_lost:
            self._losses.add(None, "no_ids", "calls and results are paired by their order")


def of(turns: Iterable[Turn], kind: type[PartOf]) -> Iterator[PartOf]:
    """The parts of one kind."""
    return (part for turn in turns for part in turn.parts if isinstance(part, kind))


def clear_ids(turns: Iterable[Turn]) -> set[str]:
    """The ids whose calls are told apart by where they stand: each has one result, and a turn of its own."""
    seen: set[str] = set()
    unclear: set[str] = set()
    for turn in turns:
        in_turn: set[str] = set()
        for call in of([turn], Call):
            if len(call.results) != 1 or call.call_id in in_turn:
                unclear.add(call.call_id)
            in_turn.add(call.call_id)
        seen |= in_turn
    return seen - unclear
