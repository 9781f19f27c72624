"""Match the calls of a request with those of the history, by what they say and by their neighbours.

    history    ls   pytest   git status   pytest   cat a
    request                  git status   pytest   cat a     a client that dropped old turns: three matches
    request    pytest                                        which of the two? no match

Two calls are the same if their ids, names and arguments agree. That is enough if no other call has that id. Calls
without an id, and with one that occurs again, are certain only by their neighbours: such a call must be the only one of
its kind on both sides, next to the same call, or between two matches with the same calls in between. A request may have
calls that the history lacks, and the other way round, so calls are never counted. What is not certain has no match.
"""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

from toolcarry._input.json import dump_canonical
from toolcarry.model.formats import UNKNOWN
from toolcarry.tract.store.types import CommitInfo, Kind

__all__ = ["Call", "Calls", "Said", "add_commit", "match"]

T = TypeVar("T")

FRACTION: Final = re.compile(rb"\d[.eE]")
"""A sign of a number with a fraction or an exponent."""


class Said(NamedTuple):
    """The id, the name and the arguments of a call."""

    call_id: str
    """Empty if it has none."""
    name: str
    arguments: Mapping[str, object]

    def key(self) -> Key:
        """Return a key that calls share whose id, name and arguments are equal as JSON values."""
        written = dump_canonical(self.arguments)
        if FRACTION.search(written):  # 1.0 and 1 are the same value
            written = dump_canonical(json.loads(written, parse_float=number))
        return self.call_id, self.name, written


Key = tuple[str, str, bytes]


def number(written: str) -> float | int:
    value = float(written)
    return int(value) if value.is_integer() else value


class Call(Generic[T]):
    """A call with its results."""

    __slots__ = ("results", "said")

    def __init__(self, said: Said) -> None:
        self.said = said
        self.results: list[T] = []


class Calls(Generic[T]):
    """The calls of a conversation in their order, each with its results; ``lone`` has the results without a call by
    the ids that they name.

    A result belongs to the nearest earlier unanswered call with its id, or else to the nearest call with it. Without an
    id, it belongs to the first unanswered call of its tool in the last message that has one; without a name, to the
    first unanswered call of the last message with calls.
    """

    def __init__(self) -> None:
        self.calls: list[Call[T]] = []
        self.lone: dict[str, list[T]] = {}
        self._turns: list[list[Call[T]]] = []
        self._open: dict[str, list[Call[T]]] = {}
        self._latest: dict[str, Call[T]] = {}
        self._turn: deque[Call[T]] = deque()

    def add_calls(self, given: Iterable[Said]) -> list[Call[T]]:
        """Add the calls of a message."""
        added: list[Call[T]] = [Call(said) for said in given]
        if added:
            self._turns.append(added)
            self._turn = deque(added)
        for call in reversed(added):  # so that ``pop`` takes the first call of a message first
            key = call.said.call_id or f"\0{call.said.name}"
            self._open.setdefault(key, []).append(call)
            self._latest[key] = call
        self.calls += added
        return added

    def unsure(self) -> set[int]:
        """Return the positions of the calls that may have the results of others which share their id, or have none."""
        found: set[int] = set()
        start = 0
        for turn in self._turns:
            alike: dict[str, list[int]] = {}
            for place, call in enumerate(turn, start):
                alike.setdefault(call.said.call_id, []).append(place)
            for places in alike.values():
                counts = {len(turn[place - start].results) for place in places}
                if len(counts) > 1 or max(counts) > 1:
                    found.update(places)
            start += len(turn)
        return found

    def add_result(self, call_id: str, name: str, result: T) -> None:
        """Add a result, whose ``call_id`` and ``name`` may be empty."""
        found = self._call_of(call_id, name)
        if found is None:
            self.lone.setdefault(call_id, []).append(result)
        else:
            found.results.append(result)

    def _call_of(self, call_id: str, name: str) -> Call[T] | None:
        if not call_id and not name:
            while self._turn and self._turn[0].results:
                self._turn.popleft()
            return self._turn[0] if self._turn else None
        key = call_id or f"\0{name}"
        waiting = self._open.get(key, [])
        while waiting:
            call = waiting.pop()
            if not call.results:
                return call
        return self._latest.get(key)


def add_commit(paired: Calls[CommitInfo], commit: CommitInfo) -> list[Call[CommitInfo]]:
    """Add a message with calls, or a result; return the calls."""
    if commit.kind is Kind.CALL:
        calls = commit.metadata["tool_calls"]
        return paired.add_calls(Said(call["id"], call["name"], call["arguments"]) for call in calls)
    call_id, name = commit.tool_call_id or "", commit.name or ""
    paired.add_result(call_id, "" if name == UNKNOWN else name, commit)
    return []


def match(own: Calls[Any], known: Calls[Any], fresh: int = 0) -> dict[int, int]:
    """Return the positions of the known calls by those of the own calls that certainly are the same.

    The history may lack the last ``fresh`` own calls, which therefore are certain by their ids alone. Takes linear time.
    """
    one, other = [[call.said.key() for call in calls.calls] for calls in (own, known)]
    counts, known_counts = Counter(one), Counter(other)
    ids, known_ids = (Counter(call_id for call_id, *_ in keys) for keys in (one, other))
    places = {key: place for place, key in enumerate(other)}
    last = len(one) - fresh
    found: dict[int, int] = {}
    single: list[tuple[int, int]] = []
    for place, key in enumerate(one):
        if counts[key] == known_counts[key] == 1:
            is_named = bool(key[0]) and ids[key[0]] == known_ids[key[0]] == 1
            if is_named:
                found[place] = places[key]
            if is_named or place < last:
                single.append((place, places[key]))
    anchors = [
        (place, at)
        for place, at in in_order(single)
        if place in found or has_neighbour(one, place, other, at)
    ]
    near = dict(anchors)
    for (start, known_start), (end, known_end) in gaps(anchors, len(one), len(other)):
        between = one[start:end]
        # At the end, it may be later calls that the history lacks.
        is_sure = end < len(one) or not has_border(between)
        if is_sure and between == other[known_start:known_end]:
            near.update(zip(range(start, end), range(known_start, known_end), strict=True))
    own_unsure, known_unsure = own.unsure(), known.unsure()
    sure = {
        place: at
        for place, at in near.items()
        if place < last and place not in own_unsure and at not in known_unsure
    }
    return sure | found


def in_order(pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the pairs that no other pair crosses."""
    least = float("inf")
    lowest = [least] * len(pairs)
    for place in range(len(pairs) - 1, -1, -1):
        lowest[place] = least
        least = min(least, pairs[place][1])
    highest = -1
    for place, pair in enumerate(pairs):
        if highest < pair[1] < lowest[place]:
            yield pair
        highest = max(highest, pair[1])


def has_neighbour(one: Sequence[Key], place: int, other: Sequence[Key], at: int) -> bool:
    """Return true if the calls before or after two calls are the same, or if there are no others at all."""
    if len(one) == len(other) == 1:
        return True
    is_before = place > 0 and at > 0 and one[place - 1] == other[at - 1]
    is_after = place + 1 < len(one) and at + 1 < len(other) and one[place + 1] == other[at + 1]
    return is_before or is_after


def gaps(
    anchors: Sequence[tuple[int, int]], end: int, known_end: int
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the starts and the ends of the calls between pairs, before the first and after the last one."""
    start = (0, 0)
    for place, at in (*anchors, (end, known_end)):
        if place > start[0]:
            yield start, (place, at)
        start = (place + 1, at + 1)


def has_border(keys: Sequence[Key]) -> bool:
    """Return true if calls begin as they end, so that they may be a part of the same calls later on.

    >>> has_border([("", "a", b""), ("", "b", b""), ("", "a", b"")])
    True
    """
    borders = [0] * len(keys)
    for place in range(1, len(keys)):
        length = borders[place - 1]
        while length and keys[length] != keys[place]:
            length = borders[length - 1]
        borders[place] = length + (keys[length] == keys[place])
    return bool(borders and borders[-1])
