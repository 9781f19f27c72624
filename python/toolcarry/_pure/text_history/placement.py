"""Find the message for the line of each call.

A call from the messages is placed in its own message; one of a host's own records in the first assistant message of
its turn. A turn without one gets a new message. A call that belongs to no turn is placed in the nearest earlier
assistant message.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from toolcarry._input.objects import JsonObject
from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.text_history.call_line import ToolLine
from toolcarry._pure.text_history.message import (
    ASSISTANT,
    HistoryMessage,
    Turn,
    made_message,
    turn_of,
    whole_number,
)


def place_entries(
    history_messages: list[HistoryMessage],
    entries: Iterable[Entry],
    turns: Mapping[int, Turn],
    limit: int,
    end: int,
) -> None:
    """Add the lines of a conversation's calls, oldest first, to its messages, in order of position.

    ``end`` is the position after all messages, and ``turns`` are the turns of messages by their position, in order.
    A result without call is placed in the nearest earlier assistant message.
    """
    made: list[HistoryMessage] = []
    early: list[ToolLine] = []
    nearest: HistoryMessage | None = None
    number = 0
    for entry in entries:
        while (
            number < len(history_messages) and history_messages[number].position <= entry.position
        ):
            if history_messages[number].role == ASSISTANT:
                nearest = history_messages[number]
            number += 1
        if entry.call is not None and (nearest is None or nearest.position < entry.position):
            nearest = made_message(entry.position, turns.get(entry.position))
            made.append(nearest)
        (early if nearest is None else nearest.lines).append(ToolLine(entry, limit))
    history_messages += made
    history_messages.sort(key=_by_position)
    if early:
        first_assistant(history_messages, end).lines[:0] = early


def place_records(
    history_messages: list[HistoryMessage],
    records: Sequence[tuple[JsonObject, Entry]],
    turns: Mapping[int, Turn],
    turn_id: str,
    limit: int,
    end: int,
) -> list[int]:
    """Add the lines of a host's records, and return the indexes of those whose turn is unknown."""
    last_of_turn: dict[Turn, int] = {turn: position for position, turn in turns.items()}
    of_turn: dict[Turn, HistoryMessage] = {}
    for message in history_messages:
        if message.role == ASSISTANT:
            of_turn.setdefault(message.turn, message)
    assistants = [message for message in history_messages if message.role == ASSISTANT]
    positions = [message.position for message in assistants]
    without_turn: list[int] = []
    seat: HistoryMessage | None = None
    for number, (record, entry) in enumerate(records):
        turn = turn_of(record, turn_id)
        if turn is not None and turn in last_of_turn:
            if turn not in of_turn:
                of_turn[turn] = made_message(last_of_turn[turn], turn)
                history_messages.append(of_turn[turn])
            seat = of_turn[turn]
        else:
            without_turn.append(number)
            position = whole_number(record.get("position"))
            if position is not None and assistants:
                seat = assistants[max(bisect_right(positions, position) - 1, 0)]
            seat = seat or first_assistant(history_messages, end)
        seat.lines.append(ToolLine(entry, limit))
    history_messages.sort(key=_by_position)
    return without_turn


def first_assistant(history_messages: list[HistoryMessage], end: int) -> HistoryMessage:
    """Return the first assistant message. If no message is one, add it at the end."""
    for message in history_messages:
        if message.role == ASSISTANT:
            return message
    made = made_message(end)
    history_messages.append(made)
    return made


def joined(history_messages: Sequence[HistoryMessage]) -> list[HistoryMessage]:
    """Return the messages that have a text or lines. The lines of a message without text join the assistant message
    directly before it in its turn.
    """
    kept: list[HistoryMessage] = []
    for message in history_messages:
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


def _by_position(message: HistoryMessage) -> int:
    return message.position
