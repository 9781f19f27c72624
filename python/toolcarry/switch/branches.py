"""The lengths of a line's requests to each backend that answered. They show where the conversation may branch.

A client that repeats a request to a second backend has two answers, and may continue with either. Which one it chose is
known only if its next request is longer than all requests that the other backends answered.
"""

from __future__ import annotations

from typing import Final

__all__ = ["RequestLengths"]

MOST: Final = 16
"""The number of backends that are distinguished; beyond it the oldest is forgotten."""


class RequestLengths:
    """The state of one branch in this process: the numbers of messages of its requests."""

    __slots__ = ("_answered", "_asked", "_parting")

    def __init__(self) -> None:
        self._asked: dict[str, int] = {}
        self._answered: dict[str, int] = {}
        self._parting: set[str] = set()

    def ask(self, backend: str, length: int, *, is_new_beginning: bool) -> None:
        """Record a request to a backend. A beginning that is made for it may be shared with other answers."""
        bounded(self._asked)[backend] = length
        if is_new_beginning:
            others = (known for name, known in self._answered.items() if name != backend)
            if length <= max(others, default=0):
                self._parting.add(backend)
            else:
                self._parting.discard(backend)

    def answer(self, backend: str) -> bool:
        """Record that a backend has answered its last request. Return true if another one has also answered it."""
        length = self._asked.get(backend, 0)
        is_parting = backend in self._parting
        if is_parting:
            self._answered.clear()
            self._parting.clear()
        bounded(self._answered)[backend] = max(length, self._answered.get(backend, 0))
        return is_parting


def bounded(lengths: dict[str, int]) -> dict[str, int]:
    if len(lengths) >= MOST:
        del lengths[next(iter(lengths))]
    return lengths
