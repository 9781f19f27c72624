"""The spoken text of a conversation, without tools and without thinking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from toolcarry.model.content import shown_text
from toolcarry.model.formats import SPEAKERS, USER, needs_import
from toolcarry.model.formats.in_text import begins_with_result
from toolcarry.model.pairing import object_at
from toolcarry.model.session import Places, TypedAhead
from toolcarry.model.speakers import CLIENT, safe_turn, told


def dialogue(messages: Sequence[Any]) -> str | None:
    """Return the turns of the active branch, each between lines that open and close it; ``None`` as ``turns_of`` does.

    What Claude Code and Codex write as the user, or as the assistant, is their own: a summary of what was compacted, or any
    other text. So is a result that a client writes as the user.
    """
    turns = turns_of(messages)
    if turns is None:
        return None
    return "\n\n".join(
        f"[{turn.speaker}]\n{safe_turn(turn.text)}\n[/{turn.speaker}]" for turn in reversed(turns)
    )


class SpokenText(NamedTuple):
    """A spoken text: the position of its message, who said it, and what."""

    position: int
    speaker: str
    text: str


def turns_of(messages: Sequence[Any]) -> list[SpokenText] | None:
    """Return the turns of the active branch, newest first; ``None`` if only an importer can read one of the messages."""
    places, ahead = Places(messages), TypedAhead()
    turns: list[SpokenText] = []
    for position in range(len(messages) - 1, -1, -1):
        record = object_at(position, messages[position])
        placed = places.place(record, position)
        if places.needs_import:
            return None
        if placed is None or not placed[2]:
            continue
        message = placed[0]
        said, client = told(record, message, ahead)
        if needs_import(message, said):
            return None
        speaker = SPEAKERS.get(said.speaker)
        text = shown_text(said.content) if speaker else ""
        if has_words(text):
            is_result = speaker == USER and begins_with_result(text)
            turns.append(
                SpokenText(position, client or (CLIENT if is_result else str(speaker)), text)
            )
    return turns


def has_words(text: str) -> bool:
    """Return true if text has a character other than white space."""
    return bool(text.strip(" \t\r\n"))
