"""Messages that are being built: the parts of a conversation's turns are put in order before any message is written."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, Literal, TypeAlias

from toolcarry._data import read_table
from toolcarry._input.objects import Wire, as_list, as_object
from toolcarry._pure.projection.edits import Changed, Draft, Ends, Kept, Made, Parts, Path, at
from toolcarry._pure.projection.request import Material

MODEL: Final[tuple[str, ...]] = tuple(read_table("roles")["request_model_roles"])
THOUGHTS: Final[tuple[str, ...]] = tuple(read_table("parts")["thinking_parts"])
Side: TypeAlias = Literal["model", "user", "other"]
"""The speaker: the model, the user, who answers its calls, or another one, such as the system, who answers none."""


class Sheet:
    """A message that is being built: its source, if any, and its parts."""

    __slots__ = ("items", "position", "side", "words")

    def __init__(self, position: int | None, side: Side, items: list[Draft] | None) -> None:
        self.position = position
        self.side = side
        self.items = items
        """``None`` if the content is not a list and stays."""
        self.words: Made | None = None
        """The replacement of such a content."""


class Sheets:
    """The messages of a conversation, in their new order."""

    def __init__(self, material: Material, key: str) -> None:
        self._material = material
        self._messages = material.messages
        self._key = key
        """The member that holds the parts of a message."""
        self._sheets: list[Sheet] = []

    def add(self, sheet: Sheet) -> None:
        self._sheets.append(sheet)

    def drop_trailing_thoughts(self) -> list[int | None]:
        """Remove thoughts at the end of the last model turn, and messages of nothing else. Return their positions."""
        dropped: list[int | None] = []
        while (end := self._end()) is not None:
            sheet = self._sheets[end]
            if not sheet.items or not self._is_thought(sheet.items[-1]):
                break
            dropped.append(sheet.position)
            while sheet.items and self._is_thought(sheet.items[-1]):
                sheet.items.pop()
            if not sheet.items:
                del self._sheets[end]
        return dropped

    def drop_trailing_space(self) -> list[int | None]:
        """Remove the white space at the end of the last model text. Return its position."""
        end = self._end()
        if end is None:
            return []
        sheet = self._sheets[end]
        path = self._last_words(sheet)
        text = None if path is None else at(self._messages, path)
        if path is None or not isinstance(text, str) or text == text.rstrip():
            return []
        words = text.rstrip()
        made = Made(words, Ends(path, len(words), 0))
        if sheet.items is None:
            sheet.words = made
        else:
            sheet.items[-1] = Changed(path[:-1], {"text": made})
        return [sheet.position]

    def _end(self) -> int | None:
        """Return the number of the model message that ends the conversation. Empty messages after it are ignored."""
        for number in range(len(self._sheets) - 1, -1, -1):
            sheet = self._sheets[number]
            if sheet.side != "model" or sheet.position is None:
                return None
            if sheet.items is not None or says_something(self._messages[sheet.position], self._key):
                return number
        return None

    def _last_words(self, sheet: Sheet) -> Path | None:
        """Return the path of the text that ends an assistant message; ``None`` if it ends in something else."""
        if sheet.items is None:
            return None if sheet.position is None else (sheet.position, self._key)
        last = sheet.items[-1]
        part = as_object(at(self._messages, last.path)) if isinstance(last, Kept) else None
        is_text = part is not None and "text" in part and part.get("type", "text") == "text"
        return (*last.path, "text") if isinstance(last, Kept) and is_text else None

    def _is_thought(self, item: Draft) -> bool:
        if isinstance(item, Made) or item.path is None:
            return False
        part = as_object(at(self._messages, item.path)) or {}
        return (
            part.get("type") in THOUGHTS
            or part.get("thought") is True
            or "reasoningContent" in part
        )

    def past_turns(self) -> list[list[int]]:
        """Return the positions of the messages in each turn of the model that is followed by another turn."""
        turns = [(side, [*sheets]) for side, sheets in groupby(self._sheets, attrgetter("side"))]
        past = [sheets for side, sheets in turns[:-1] if side == "model"]
        return [[sheet.position for sheet in turn if sheet.position is not None] for turn in past]

    def merge(self) -> list[int | None]:
        """Merge consecutive messages of the model, or of the user, into one. Return the positions of the others."""
        merged: list[Sheet] = []
        joined: list[int | None] = []
        for sheet in self._sheets:
            last = merged[-1] if merged else None
            if (
                last is None
                or last.side != sheet.side
                or last.side == "other"
                or last.items is None
                or sheet.items is None
            ):
                merged.append(sheet)
            else:
                joined.append(sheet.position)
                last.items += sheet.items
                last.position = sheet.position if last.position is None else last.position
        self._sheets = merged
        return joined

    def drafts(self) -> list[Draft]:
        """Return the messages."""
        return [self._draft(sheet) for sheet in self._sheets]

    def _draft(self, sheet: Sheet) -> Draft:
        key, position, items = self._key, sheet.position, sheet.items
        if position is None:
            return Changed(None, {"role": Made("user"), key: Parts(None, items or [])})
        members = self._material.members((position,))
        if sheet.words is not None:
            members[key] = sheet.words
        elif items is not None and items != [
            Kept(path) for path in paths_of(self._messages, position, key)
        ]:
            is_list = as_list(self._messages[position].get(key)) is not None
            members[key] = Parts((position, key) if is_list else None, items)
        return Changed((position,), members) if members else Kept((position,))


def says_something(message: Wire, key: str) -> bool:
    """Return true if the content of a message is a text that is not empty."""
    content = message.get(key)
    return isinstance(content, str) and content != ""


def is_blank(part: Wire) -> bool:
    """Return true if a part is a text of white space alone."""
    text = part.get("text")
    return part.get("type", "text") == "text" and isinstance(text, str) and not text.strip()


def paths_of(messages: Sequence[Any], position: int, key: str) -> list[Path]:
    """Return the paths of the parts of a message."""
    count = len(as_list(messages[position].get(key)) or ())
    return [(position, key, index) for index in range(count)]
