"""Ids that no call has yet, made of those that a provider refuses."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import Final

REFUSED: Final = re.compile(r"[^A-Za-z0-9_-]")
LONGEST: Final = 32
"""Of an id that is made of another."""
STEM: Final = "call"
"""What an id is made of that is made of nothing."""


class FreeIds:
    """The ids that are taken, and others that none is made to be. What is made of an id is the same each time."""

    def __init__(self, taken: Iterable[str] = (), avoided: Container[str] = ()) -> None:
        self.taken = set(taken)
        self._avoided = avoided
        self._numbers: dict[str, int] = {}
        """The next number for each id that several have."""

    def plain(self, call_id: str) -> str:
        """A free id of the characters that every provider takes."""
        return self.like(REFUSED.sub("_", call_id[:LONGEST]).strip("_") or STEM)

    def like(self, call_id: str) -> str:
        """``call_id`` where it is free, else with the first number behind it that is."""
        stem = call_id[:LONGEST]
        new, number = stem, self._numbers.get(stem, 2)
        while new in self.taken or new in self._avoided:
            new = f"{stem}_{number}"
            number += 1
        self._numbers[stem] = number
        self.taken.add(new)
        return new
