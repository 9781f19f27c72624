"""The spoken text of a conversation, without tools and without thinking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._pure.content import shown_text
from toolcarry._pure.formats import SPEAKERS, read_message, read_spoken
from toolcarry._pure.formats.message import MessageParts
from toolcarry._pure.pairing import object_at
from toolcarry._pure.session import Places
from toolcarry._pure.text.sanitize import clean


def dialogue(messages: Sequence[Any]) -> str:
    """Return the turns of the active branch, each between lines that open and close it."""
    places = Places(messages)
    turns: list[str] = []
    for position in range(len(messages) - 1, -1, -1):
        placed = places.place(object_at(position, messages[position]), position)
        if placed is None or not placed[2]:
            continue
        message = placed[0]
        said = read_spoken(message)
        if not said.speaker:  # an importer may know the speaker
            read_message(message, message.get("role"), MessageParts())
        speaker = SPEAKERS.get(said.speaker)
        text = shown_text(said.content) if speaker else ""
        if has_words(text):
            turns.append(f"[{speaker}]\n{safe_turn(text)}\n[/{speaker}]")
    turns.reverse()
    return "\n\n".join(turns)


def has_words(text: str) -> bool:
    """Return true if a text has a character other than white space."""
    return bool(text.strip(" \t\r\n"))


def safe_turn(text: str) -> str:
    """Return ``text`` cleaned, without newlines around it, and without a line that could end or open a turn."""
    text = clean(text).strip("\n")
    for name in ("USER", "ASSISTANT"):
        text = text.replace(f"[{name}]", f"[\\{name}]").replace(f"[/{name}]", f"[\\/{name}]")
    return text
