"""What was said in a conversation, without tools and without thinking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._pure.clean import clean
from toolcarry._pure.pair import object_at
from toolcarry._pure.session import Places
from toolcarry.wire import as_list, as_object

SPEAKERS = {"user": "USER", "assistant": "ASSISTANT", "human": "USER", "ai": "ASSISTANT"}
SPACE = " \t\r\n"


def dialogue(messages: Sequence[Any]) -> str:
    """The turns of the active branch, each between lines that open and close it."""
    places = Places(messages)
    turns: list[str] = []
    for position in range(len(messages) - 1, -1, -1):
        placed = places.place(object_at(position, messages[position]), position)
        if placed is None or not placed[2]:
            continue
        message = placed[0]
        role = message.get("role")
        speaker = SPEAKERS.get(role) if isinstance(role, str) else None
        text = spoken_text(message.get("content")) if speaker else ""
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
        part = item if isinstance(item, str) else as_object(item)
        if isinstance(part, str):
            texts.append(part)
        elif part is not None and part.get("type") == "text" and isinstance(part.get("text"), str):
            texts.append(part["text"])
    return "\n".join(texts)


def safe_turn(text: str) -> str:
    """``text`` cleaned, without newlines around it, and without a line that could end or open a turn."""
    text = clean(text).strip("\n")
    for name in ("USER", "ASSISTANT"):
        text = text.replace(f"[{name}]", f"[\\{name}]").replace(f"[/{name}]", f"[\\/{name}]")
    return text
