"""Find the message for the line of each call.

A call from the messages is placed in its own message; one of a host's own records in the first assistant message of
its turn. A turn without one gets a new message. A call that belongs to no turn is placed in the nearest earlier
assistant message.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from toolcarry._input.objects import Wire
from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.text_history.call_line import ToolLine
from toolcarry._pure.text_history.message import (
    ASSISTANT,
    Told,
    Turn,
    made_message,
    turn_of,
    whole_number,
)


def place_entries(
    told: list[Told], entries: Iterable[Entry], turns: Mapping[int, Turn], limit: int, end: int
) -> None:
    """Add the lines of a conversation's calls, oldest first, to its messages, in order of position.

    ``end`` is the position after all messages, and ``turns`` are the turns of messages by their position, in order.
    A result without call is placed in the nearest earlier assistant message.
    """
    made: list[Told] = []
    early: list[ToolLine] = []
    nearest: Told | None = None
    number = 0
    for entry in entries:
        while number < len(told) and told[number].position <= entry.position:
            if told[number].role == ASSISTANT:
                nearest = told[number]
            number += 1
        if entry.call is not None and (nearest is None or nearest.position < entry.position):
            nearest = made_message(entry.position, turns.get(entry.position))
            made.append(nearest)
        (early if nearest is None else nearest.lines).append(ToolLine(entry, limit))
    told += made
    told.sort(key=by_position)
    if early:
        first_assistant(told, end).lines[:0] = early


def place_records(
    told: list[Told],
    records: Sequence[tuple[Wire, Entry]],
    turns: Mapping[int, Turn],
    turn_id: str,
    limit: int,
    end: int,
) -> list[int]:
    """Add the lines of a host's records, and return the indexes of those whose turn is unknown."""
    last_of_turn: dict[Turn, int] = {turn: position for position, turn in turns.items()}
    of_turn: dict[Turn, Told] = {}
    for message in told:
        if message.role == ASSISTANT:
            of_turn.setdefault(message.turn, message)
    assistants = [message for message in told if message.role == ASSISTANT]
    positions = [message.position for message in assistants]
    without_turn: list[int] = []
    seat: Told | None = None
    for number, (record, entry) in enumerate(records):
        turn = turn_of(record, turn_id)
        if turn is not None and turn in last_of_turn:
            if turn not in of_turn:
                of_turn[turn] = made_message(last_of_turn[turn], turn)
                told.append(of_turn[turn])
            seat = of_turn[turn]
        else:
            without_turn.append(number)
            position = whole_number(record.get("position"))
            if position is not None and assistants:
                seat = assistants[max(bisect_right(positions, position) - 1, 0)]
            seat = seat or first_assistant(told, end)
        seat.lines.append(ToolLine(entry, limit))
    told.sort(key=by_position)
    return without_turn


def first_assistant(told: list[Told], end: int) -> Told:
    """Return the first assistant message. If no message is one, add it at the end."""
    for message in told:
        if message.role == ASSISTANT:
            return message
    made = made_message(end)
    told.append(made)
    return made


def joined(told: Sequence[Told]) -> list[Told]:
    """Return the messages that have a text or lines. The lines of a message without text join the assistant message
    directly before it in its turn.
    """
    kept: list[Told] = []
    for message in told:
        if message.text:
            kept.append(message)
        elif message.lines:
            last = kept[-1] if kept else None
            is_one_turn = last is not None and message.turn in (None, last.turn)
            if last is not None and last.role == ASSISTANT and is_one_turn:
                last.lines += message.lines
            else:
                kept.append(message)
    return kept


def by_position(message: Told) -> int:
    return message.position
