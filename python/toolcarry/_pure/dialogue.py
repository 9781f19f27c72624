"""What was said in a conversation, without tools and without thinking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._pure.content import TEXTS
from toolcarry._pure.formats.read import SPEAKERS, read_spoken
from toolcarry._pure.pairing import object_at
from toolcarry._pure.session import Places
from toolcarry._pure.text.sanitize import clean
from toolcarry.wire import Wire, as_list, as_object

SPACE = " \t\r\n"


def dialogue(messages: Sequence[Any]) -> str:
    """The turns of the active branch, each between lines that open and close it."""
    places = Places(messages)
    turns: list[str] = []
    for position in range(len(messages) - 1, -1, -1):
        placed = places.place(object_at(position, messages[position]), position)
        if placed is None or not placed[2]:
            continue
        said = read_spoken(placed[0])
        speaker = SPEAKERS.get(said.speaker)
        text = spoken_text(said.content) if speaker else ""
        if text.strip(SPACE):
            turns.append(f"[{speaker}]\n{safe_turn(text)}\n[/{speaker}]")
    turns.reverse()
    return "\n\n".join(turns)


def spoken_text(content: object) -> str:
    """The text of a message: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for item in as_list(content) or ():
        text = item if isinstance(item, str) else part_text(as_object(item) or {})
        if text is not None:
            texts.append(text)
    return "\n".join(texts)


def part_text(part: Wire) -> str | None:
    """What a part of a message says aloud; ``None`` where it is no text, or a thought."""
    kind = part.get("type")
    if (kind is not None and kind not in TEXTS) or part.get("thought") is True:
        return None
    text = part.get("text")
    if text is None and kind == "text":
        text = part.get("content")  # OpenTelemetry
    return text if isinstance(text, str) else None


def safe_turn(text: str) -> str:
    """``text`` cleaned, without newlines around it, and without a line that could end or open a turn."""
    text = clean(text).strip("\n")
    for name in ("USER", "ASSISTANT"):
        text = text.replace(f"[{name}]", f"[\\{name}]").replace(f"[/{name}]", f"[\\/{name}]")
    return text
