"""New ids for calls whose id a destination refuses, always made in the same way."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable
from typing import Final

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
