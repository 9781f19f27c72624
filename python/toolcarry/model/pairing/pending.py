"""Blocks of one scope that wait for their other half: results for calls by id, and the turn of those without ids."""

from __future__ import annotations

from collections import deque

from toolcarry.model.pairing.block import Entry

MAX_LEFT = 256
"""The maximum number of results that a turn leaves for the calls before a user message."""


class OpenTurn:
    """The calls and the results of one turn that have no id to pair them by, newest first."""

    __slots__ = ("calls", "has_calls", "results")

    def __init__(self) -> None:
        self.calls: list[Entry] = []
        self.results: list[Entry] = []
        self.has_calls = False

    def pair(self) -> None:
        """Give each result, in order, to the first open call of its name; one without a name, to the first open call."""
        for with_id in (False, True):
            calls = [entry for entry in reversed(self.calls) if bool(entry.call_id) is with_id]
            self._pair_with(calls)

    def rest(self) -> OpenTurn | None:
        """Return the rest of a paired turn: its results without call, for calls before the user message.

        If there are too many, they stay without call, so that each user message is a step of bounded size.
        """
        left = [entry for entry in self.results if entry.result is not None]
        if not 0 < len(left) <= MAX_LEFT:
            return None
        rest = OpenTurn()
        rest.results = left
        rest.has_calls = True  # so that no results of an earlier turn join them
        return rest

    def _pair_with(self, calls: list[Entry]) -> None:
        by_name: dict[str, deque[Entry]] = {}
        in_order = deque(calls)
        for entry in calls:
            by_name.setdefault(entry.name, deque()).append(entry)
        for waiting in reversed(self.results):
            if waiting.result is None:
                continue
            name = waiting.tool_name
            open_calls = by_name.get(name, deque()) if name else in_order
            while open_calls and open_calls[0].result is not None:
                open_calls.popleft()
            if open_calls:
                open_calls.popleft().take_over(waiting)
                waiting.result = None


class PendingResults:
    """The results of one scope that wait for their calls, by id and by turn."""

    __slots__ = ("pending", "turn")

    def __init__(self) -> None:
        self.pending: dict[str, list[Entry]] = {}
        self.turn: OpenTurn | None = None

    def nearest_result(self, call_id: str) -> Entry | None:
        """Remove and return the nearest result after a call."""
        stack = self.pending.get(call_id)
        if stack is None:
            return None
        nearest = stack.pop()
        if not stack:
            del self.pending[call_id]
        return nearest
