"""A message of a text history: what is told of one that was said, and the lines of the calls below it."""

from __future__ import annotations

from typing import Final

from toolcarry._input.objects import Wire, as_list, as_object
from toolcarry._pure.content import is_of_media, part_text, spoken_part
from toolcarry._pure.dialogue import SPACE
from toolcarry._pure.formats import SPEAKERS
from toolcarry._pure.text.sanitize import without_controls
from toolcarry._pure.text_history.call_line import SEPARATOR, ToolLine
from toolcarry._pure.text_history.thinking import without_thinking

Turn = str | int | None
"""What names a turn, where the host has a name for it."""

ASSISTANT: Final = "assistant"
ROLES: Final = {"USER": "user", "ASSISTANT": ASSISTANT}
THOUGHTS: Final = ("thinking", "redacted_thinking", "reasoning")
"""The kinds of parts, and of items, that are thoughts."""
HOLD_NO_TEXT: Final = ("tool_use", "tool_result")
"""The kinds of parts that most messages hold: they are calls and results, so that nothing else is asked of them."""
TOLD: Final = ("refusal", "file", "input_file", "search_result")
"""The kinds of parts without a text of their own that are told all the same, as a result's would be."""


class Told:
    """A message in the making. One that ``is_made`` stands for calls that no message of the assistant's made; its position
    is that of the call, or of what stands before it.
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
    def said(self) -> str:
        """The text, as it stands before the lines."""
        return self.text.rstrip("\n") + SEPARATOR if self.lines and self.text else self.text

    def content(self) -> str:
        """The text, and the lines behind it."""
        if not self.lines:
            return self.text
        return self.said + SEPARATOR.join([line.text() for line in self.lines])


def made_message(position: int, turn: Turn = None) -> Told:
    return Told(ASSISTANT, "", position, turn, is_made=True)


def role_of(speaker: str) -> str:
    """The role of a speaker; whom nobody here knows is called as the wire calls him."""
    return ROLES.get(SPEAKERS.get(speaker, ""), speaker)


def turn_of(wire: Wire, key: str) -> Turn:
    """What names the turn of a message or of a call: a text or a whole number."""
    value = wire.get(key)
    if isinstance(value, str):
        return value or None
    return whole_number(value)


def whole_number(value: object) -> int | None:
    """A number of up to 64 bits."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if -(1 << 63) <= value < 1 << 63 else None


def told_text(content: object, role: str) -> tuple[str, bool]:
    """What is told of a message's content, and whether a thought was left out.

    Images and the like become a line; without any words the text is empty.
    """
    text, is_thinking = read_parts(content)
    text = without_controls(text)
    if role == ASSISTANT:
        spoken = without_thinking(text)
        is_thinking = is_thinking or spoken is not text
        text = spoken
    return text if text.strip(SPACE) else "", is_thinking


def read_parts(content: object) -> tuple[str, bool]:
    """The text of a message's content, parts on lines of their own, and whether one of them is a thought."""
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
        if kind in HOLD_NO_TEXT:
            continue
        text = spoken_part(part)
        if text is not None:
            texts.append(text)
        elif is_thought(part):
            is_thinking = True
        elif kind in TOLD or is_of_media(part):
            texts.append(part_text(part, 0))
    return "\n".join(texts), is_thinking


def is_thought(part: Wire) -> bool:
    """Whether a part, or an item, is what a model thought."""
    return part.get("type") in THOUGHTS or part.get("thought") is True or "reasoningContent" in part
