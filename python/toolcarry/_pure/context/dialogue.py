"""The spoken text of a conversation, without tools and without thinking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._input.objects import JsonObject
from toolcarry._pure.content import shown_text
from toolcarry._pure.formats import SPEAKERS, may_be_spoken, read_message, read_spoken
from toolcarry._pure.formats.message import MessageParts
from toolcarry._pure.pairing import object_at
from toolcarry._pure.session import Places
from toolcarry._pure.text.sanitize import clean


def dialogue(messages: Sequence[Any]) -> str:
    """Return the turns of the active branch, each between lines that open and close it.

    What Claude Code writes as the user, or as the assistant, is its own: a summary of what was compacted, or any other text.
    """
    places = Places(messages)
    turns: list[str] = []
    for position in range(len(messages) - 1, -1, -1):
        record = object_at(position, messages[position])
        placed = places.place(record, position)
        if placed is None or not placed[2]:
            continue
        message = placed[0]
        said = read_spoken(message)
        if may_be_spoken(message, said):
            read_message(message, message.get("role"), MessageParts())
        speaker = SPEAKERS.get(said.speaker)
        if speaker is not None and message is not record:
            speaker = client_of(record) or speaker
        text = shown_text(said.content) if speaker else ""
        if has_words(text):
            turns.append(f"[{speaker}]\n{safe_turn(text)}\n[/{speaker}]")
    turns.reverse()
    return "\n\n".join(turns)


SUMMARY, CLIENT = "SUMMARY", "CLIENT"


def client_of(record: JsonObject) -> str:
    """Return the name for what the client wrote in a record; empty if the user or the assistant said it."""
    if record.get("isCompactSummary") is True:
        return SUMMARY
    is_own = record.get("isMeta") is True or record.get("isApiErrorMessage") is True
    return CLIENT if is_own else ""


def has_words(text: str) -> bool:
    """Return true if text has a character other than white space."""
    return bool(text.strip(" \t\r\n"))


def safe_turn(text: str) -> str:
    """Return ``text`` cleaned, without newlines around it, and without a line that could end or open a turn."""
    text = clean(text).strip("\n")
    for name in ("USER", "ASSISTANT", SUMMARY, CLIENT):
        text = text.replace(f"[{name}]", f"[\\{name}]").replace(f"[/{name}]", f"[\\/{name}]")
    return text
