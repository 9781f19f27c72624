"""The spoken text of a conversation, message by message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_object
from toolcarry._pure.context.dialogue import CLIENT, SUMMARY, told
from toolcarry._pure.formats import SPEAKERS, read_message
from toolcarry._pure.formats.message import MessageParts
from toolcarry._pure.formats.message import Spoken as Words
from toolcarry._pure.pairing import object_at
from toolcarry._pure.session import Places, TypedAhead
from toolcarry._pure.text_history.message import (
    ASSISTANT,
    THOUGHTS,
    HistoryMessage,
    Turn,
    history_text,
    role_of,
    turn_of,
)

TOOL_ROLES: Final[tuple[str, ...]] = tuple(read_table("roles")["tool_roles"])
"""The speakers of results."""


class Spoken:
    """The messages of the active branch for the history, in order: those with text, and all assistant messages.

    ``silent`` are the positions of those without text, ``without_role`` of those without a speaker, and ``turns`` holds
    the turns of all that name one. ``thinking`` counts messages whose thoughts were left out, ``inactive`` those of
    other branches and of side chains, and ``client`` the texts that the client wrote: a summary counts if a message
    that it covers is told; a summary of messages that are gone is kept.
    """

    def __init__(self, messages: Sequence[Any], turn_id: str) -> None:
        self.history_messages: list[HistoryMessage] = []
        self.silent: set[int] = set()
        self.without_role: list[int] = []
        self.turns: dict[int, Turn] = {}
        self.thinking = self.inactive = self.client = 0
        self._turn_id = turn_id
        places, ahead = Places(messages), TypedAhead()
        summary: tuple[JsonObject, int, Words] | None = None
        for position in range(len(messages) - 1, -1, -1):
            record = object_at(position, messages[position])
            placed = places.place(record, position)
            if placed is None:
                continue
            message, _, is_active = placed
            if not is_active:
                self.inactive += 1
                continue
            said, kind = told(record, message, ahead)
            if kind == CLIENT:
                self.client += 1
                continue
            self.client += summary is not None
            summary = (message, position, said) if kind == SUMMARY else None
            if summary is None:
                self._read(message, position, said)
        if summary is not None:
            self._read(*summary)
        self.history_messages.reverse()
        self.without_role.reverse()
        self.turns = dict(reversed(self.turns.items()))

    def _read(self, message: JsonObject, position: int, said: Words) -> None:
        turn = turn_of(message, self._turn_id)
        if turn is not None:
            self.turns[position] = turn
        speaker, content = said
        role = role_of(speaker)
        if is_thought_alone(message, role):
            self.thinking += 1
            self.silent.add(position)
            return
        text, is_thinking = ("", False) if role in TOOL_ROLES else history_text(content, role)
        if not text and role == ASSISTANT:
            text, _ = history_text(message.get("refusal"), role)
        if text and speaker not in SPEAKERS:
            message_parts = MessageParts()
            read_message(message, message.get("role"), message_parts)
            if message_parts.results:  # the text of a tool is its result
                text = ""
            elif not role:
                self.without_role.append(position)
                return
        self.thinking += is_thinking
        if not text and message:  # an empty object replaces a line that was skipped
            self.silent.add(position)
        if text or role == ASSISTANT:
            self.history_messages.append(HistoryMessage(role, text, position, turn))


def is_thought_alone(message: JsonObject, role: str) -> bool:
    """Return true if a message is an item with nothing but a thought, also in a record of Codex."""
    if message.get("type") in THOUGHTS:
        return True
    record = None if role else as_object(message.get("payload"))
    return record is not None and record.get("type") in THOUGHTS
