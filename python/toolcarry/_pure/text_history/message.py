"""A message of a text history: its text, and the lines of its calls."""

from __future__ import annotations

from typing import Final

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry._pure.content import THINKING_PARTS, attached_text, part_text, spoken_part
from toolcarry._pure.content.media import FILE_PARTS
from toolcarry._pure.context.dialogue import has_words
from toolcarry._pure.formats import SPEAKERS
from toolcarry._pure.text.sanitize import without_controls
from toolcarry._pure.text_history.call_line import SEPARATOR, ToolLine
from toolcarry._pure.text_history.thinking import without_thinking

Turn = str | int | None
"""The name of a turn, if the host gives it one."""

ASSISTANT: Final = "assistant"
_ROLES: Final = {"USER": "user", "ASSISTANT": ASSISTANT}
THOUGHTS: Final[tuple[str, ...]] = (*THINKING_PARTS, "reasoning")
"""The kinds of parts, and of items, that are thoughts."""
SILENT_PARTS: Final[tuple[str, ...]] = tuple(read_table("parts")["silent_parts"])
"""The most frequent kinds of parts without text: calls and results. They need no further check."""


class HistoryMessage:
    """A message that is being built. One that ``is_made`` holds calls without an assistant message; its position is
    that of the call, or of the message before it.
    """

    __slots__ = ("is_made", "lines", "position", "role", "text", "turn")

    def __init__(
        self, role: str, text: str, position: int, turn: Turn, *, is_made: bool = False
    ) -> None:
        self.role = role
        self.text = text
        self.position = position
        self.turn = turn
        self.is_made = is_made
        self.lines: list[ToolLine] = []

    @property
    def text_before_lines(self) -> str:
        """The text, as it appears before the lines."""
        return self.text.rstrip("\n") + SEPARATOR if self.lines and self.text else self.text

    def content(self) -> str:
        """Return the text, and the lines after it."""
        if not self.lines:
            return self.text
        return self.text_before_lines + SEPARATOR.join([line.text() for line in self.lines])


def made_message(position: int, turn: Turn = None) -> HistoryMessage:
    return HistoryMessage(ASSISTANT, "", position, turn, is_made=True)


def role_of(speaker: str) -> str:
    """Return the role of a speaker; an unknown speaker keeps the name from the input."""
    return _ROLES.get(SPEAKERS.get(speaker, ""), speaker)


def turn_of(wire: JsonObject, key: str) -> Turn:
    """Return the name of the turn of a message or a call: a string or an integer."""
    value = wire.get(key)
    if isinstance(value, str):
        return value or None
    return whole_number(value)


def whole_number(value: object) -> int | None:
    """Return a number of up to 64 bits."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if -(1 << 63) <= value < 1 << 63 else None


def history_text(content: object, role: str) -> tuple[str, bool]:
    """Return the text of a message's content, and true if a thought was left out.

    Images and other media become a line; text that is only white space becomes empty.
    """
    text, is_thinking = read_parts(content)
    text = without_controls(text)
    if role == ASSISTANT:
        spoken = without_thinking(text)
        is_thinking = is_thinking or spoken is not text
        text = spoken
    return text if has_words(text) else "", is_thinking


def read_parts(content: object) -> tuple[str, bool]:
    """Return the text of a message's content, parts on lines of their own, and true if one is a thought."""
    if isinstance(content, str):
        return content, False
    texts: list[str] = []
    is_thinking = False
    for item in as_list(content) or ():
        if isinstance(item, str):
            texts.append(item)
            continue
        part = as_object(item) or {}
        kind = part.get("type")
        if kind in SILENT_PARTS:
            continue
        text = spoken_part(part)
        if text is not None:
            texts.append(text)
        elif is_thought(part):
            is_thinking = True
        else:
            # A host may name a file by other members than those of the providers.
            text = part_text(part, 0) if kind in FILE_PARTS else attached_text(part)
            if text is not None:
                texts.append(text)
    return "\n".join(texts), is_thinking


def is_thought(part: JsonObject) -> bool:
    """Return true if a part, or an item, is a thought of the model."""
    return part.get("type") in THOUGHTS or part.get("thought") is True or "reasoningContent" in part
