"""The latest steps, in time order: each call with its result, and the requests of the user at their places.

Steps are taken from the newest backwards. Each may take a share of what is left, so that the newest ones have the most
room; where the share is too small for a step's text, its heading and one line about the result are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from toolcarry.fallback.context.handover.kinds import TABLE
from toolcarry.fallback.context.handover.pieces import NOTHING, Paper, Piece
from toolcarry.fallback.context.handover.step_text import StepWriter
from toolcarry.fallback.context.handover.steps import Step
from toolcarry.fallback.dialogue import SpokenText

HEADING: Final[str] = TABLE["headings"]["steps"]
_NEWEST: Final = 5
"""The number of newest steps that may each take half of the remaining room if they are cut; an older step may take a
third."""
_MOST: Final = 60
_FREE: Final = 140
"""The tokens that every step may take, if they are left."""
_WHOLE_NEWEST, _WHOLE = 88, 50
"""The hundredths of what is left that a step may take if it is whole then: one of the newest, and an older one."""
_LEAST: Final = 24
"""The tokens below which no older step is tried."""
_CHANGES: Final = 10
"""The newest steps whose changes are shown before the output of other steps, in at most three fifths of the room."""
_MOST_OUTLINED: Final = 2
"""The older steps with one line about a result that has more. The next one ends the latest steps."""


class Latest:
    """The latest steps that fit, and the requests between them."""

    def __init__(self) -> None:
        self.pieces: list[tuple[int, int, Piece]] = []
        """The pieces with their places in time: the position of the message, and the number of the call."""
        self.numbers: dict[int, Piece] = {}
        self.merged: set[int] = set()
        """The numbers of the steps that are equal to the one after them, which stands for both."""
        self.turns: set[int] = set()
        self.size = 0

    def add(self, position: int, number: int, piece: Piece) -> None:
        self.pieces.append((position, number, piece))
        self.size += piece.size

    def grow(self, steps: Sequence[Step], writer: StepWriter, room: int, least: int) -> None:
        """Spend what is left on the steps that were shortened, the newest first."""
        for place, (position, number, piece) in enumerate(self.pieces):
            if room < least:
                return
            if piece.is_cut and number:
                grown = writer.write(steps[number - 1], piece.size + room)
                if grown is not None and grown.size > piece.size:
                    room -= grown.size - piece.size
                    self.size += grown.size - piece.size
                    self.pieces[place] = position, number, grown
                    self.numbers[number] = grown

    def begins_after(self, request: int, steps: Sequence[Step]) -> bool:
        """Return true if all of its steps came after the request with this number."""
        return all(steps[number - 1].turn >= request for number in self.numbers)

    def drop_request(self, position: int) -> None:
        """Leave out a request that stands elsewhere, and is not paid for here."""
        self.pieces = [each for each in self.pieces if each[:2] != (position, 0)]

    def text(self) -> str:
        self.pieces.sort(key=_by_time)
        return "".join([piece.text for *_, piece in self.pieces])


def _by_time(item: tuple[int, int, Piece]) -> tuple[int, int]:
    return item[:2]


def find_runs(steps: Sequence[Step]) -> dict[int, int]:
    """Return the runs of steps that are equal, with their results: the first number of each by the last one."""
    runs: dict[int, int] = {}
    for before, step in pairwise(steps):
        if is_equal(before, step):
            runs[step.number] = runs.pop(before.number, before.number)
    return runs


def is_equal(one: Step, other: Step) -> bool:
    """Return true if two steps asked for the same and got the same."""
    return (
        one.entry.tool_name == other.entry.tool_name
        and one.entry.call is not None
        and other.entry.call is not None
        and (one.state, one.turn, one.directory) == (other.state, other.turn, other.directory)
        and one.entry.given == other.entry.given
        and one.text == other.text
    )


def take_latest(
    steps: Sequence[Step],
    requests: Sequence[SpokenText],
    last_request: Piece,
    writer: StepWriter,
    paper: Paper,
    room: int,
    spare: int = 0,
) -> Latest:
    """Return the newest steps that fit into a room. ``last_request`` is paid for already.

    The newest ones may take from the ``spare`` room, too, which is meant for something else.
    """
    found = Latest()
    turn = len(requests)
    if requests and last_request is not NOTHING:
        found.add(requests[-1].position, 0, last_request._replace(size=0))
        found.turns.add(requests[-1].position)
        turn -= 1
    left, outlined = room, 0
    title = _LEAST * paper.token
    kept = _newest_changes(steps, writer, room * 3 // 5, title)
    writer.runs = find_runs(steps)
    after = len(steps) + 1
    for step in reversed(steps):
        if left < _LEAST * paper.token or len(found.numbers) >= _MOST:
            break
        if step.number >= after:
            continue
        if step.kind == "plan" and step.has_succeeded:
            continue
        while turn > step.turn:
            turn -= 1
            text = requests[turn].text
            asked = paper.spoken("User", text, left // 3) or paper.spoken_in_short("User", text)
            if asked.size > left:
                return found
            found.add(requests[turn].position, 0, asked)
            found.turns.add(requests[turn].position)
            left -= asked.size
        is_newest = len(found.numbers) < _NEWEST
        changes = [number for number in kept if number < step.number]
        between = step.number - 1 - changes[-1] - (len(changes) - 1) if changes else 0
        older = sum([kept[number] for number in changes]) + between * title
        free = max(left - older, min(left, title))
        share = max(free // 2 if is_newest else free // 3, min(free, _FREE * paper.token))
        more = 0 if older else spare
        whole = (free + more) * _WHOLE_NEWEST // 100 if is_newest else free * _WHOLE // 100
        share = max(share, min(kept.get(step.number, 0), left))
        piece = writer.write(step, max(share, whole))
        if piece is None or piece.is_cut:
            piece = writer.write(step, share)
        if piece is None:
            break
        if piece.is_outlined and len(found.numbers) >= _NEWEST and not older:
            outlined += 1
            if outlined > _MOST_OUTLINED:
                break  # a line of the ledger says as much
        found.add(step.entry.position, step.number, piece)
        found.numbers[step.number] = piece
        left -= piece.size
        after = writer.runs.get(step.number, step.number)
        found.merged.update(range(after, step.number))
        if older == 0 and step.number in kept:
            size = found.size  # nothing is kept any more: the newer steps get what it left
            found.grow(steps, writer, (left + spare) * 2 // 3, title)
            left -= found.size - size
    return found


def _newest_changes(
    steps: Sequence[Step], writer: StepWriter, room: int, spare: int
) -> dict[int, int]:
    """Return the room that the newest changes of files need, as far as they fit, by the numbers of their steps.

    A step is written whole if it has a ``spare`` room besides its size.
    """
    found: dict[int, int] = {}
    for step in reversed(steps[-_CHANGES:]):
        if step.is_change and step.has_succeeded:
            piece = writer.write(step, room)
            if piece is None or piece.is_outlined:
                break
            found[step.number] = piece.size + spare
            room -= found[step.number]
    return found
