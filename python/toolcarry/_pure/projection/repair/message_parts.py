"""Messages that are being built: the parts of a conversation's turns are put in order before any message is written."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, Literal, TypeAlias

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry._pure.content import THINKING_PARTS
from toolcarry._pure.projection.edits import (
    Changed,
    Draft,
    Ends,
    NewValue,
    Original,
    Parts,
    Path,
    at,
)
from toolcarry._pure.projection.request import EditedMessages

REQUEST_MODEL_ROLES: Final[tuple[str, ...]] = tuple(read_table("roles")["request_model_roles"])
Side: TypeAlias = Literal["model", "user", "other"]
"""The speaker: the model, the user, who answers its calls, or another one, such as the system, who answers none."""


class MessageDraft:
    """A message that is being built: its source, if any, and its parts."""

    __slots__ = ("items", "position", "side", "words")

    def __init__(self, position: int | None, side: Side, items: list[Draft] | None) -> None:
        self.position = position
        self.side = side
        self.items = items
        """``None`` if the content is not a list and stays."""
        self.words: NewValue | None = None
        """The replacement of such a content."""


class MessageDrafts:
    """The messages of a conversation, in their new order."""

    def __init__(self, edited: EditedMessages, key: str) -> None:
        self._material = edited
        self._messages = edited.messages
        self._key = key
        """The member that holds the parts of a message."""
        self._drafts: list[MessageDraft] = []

    def add(self, message_draft: MessageDraft) -> None:
        self._drafts.append(message_draft)

    def drop_trailing_thoughts(self) -> list[int | None]:
        """Remove thoughts at the end of the last model turn, and messages of nothing else. Return their positions."""
        dropped: list[int | None] = []
        while (end := self._end()) is not None:
            message_draft = self._drafts[end]
            if not message_draft.items or not self._is_thought(message_draft.items[-1]):
                break
            dropped.append(message_draft.position)
            while message_draft.items and self._is_thought(message_draft.items[-1]):
                message_draft.items.pop()
            if not message_draft.items:
                del self._drafts[end]
        return dropped

    def drop_trailing_space(self) -> list[int | None]:
        """Remove the white space at the end of the last model text. Return its position."""
        end = self._end()
        if end is None:
            return []
        message_draft = self._drafts[end]
        path = self._last_words(message_draft)
        text = None if path is None else at(self._messages, path)
        if path is None or not isinstance(text, str) or text == text.rstrip():
            return []
        words = text.rstrip()
        made = NewValue(words, Ends(path, len(words), 0))
        if message_draft.items is None:
            message_draft.words = made
        else:
            last = message_draft.items[-1]
            members = last.members if isinstance(last, Changed) else {}
            message_draft.items[-1] = Changed(path[:-1], {**members, "text": made})
        return [message_draft.position]

    def _end(self) -> int | None:
        """Return the number of the model message that ends the conversation. Empty messages after it are ignored."""
        for number in range(len(self._drafts) - 1, -1, -1):
            message_draft = self._drafts[number]
            if message_draft.side != "model" or message_draft.position is None:
                return None
            if message_draft.items is not None or has_words_or_media(
                self._messages[message_draft.position], self._key
            ):
                return number
        return None

    def _last_words(self, message_draft: MessageDraft) -> Path | None:
        """Return the path of the text that ends an assistant message; ``None`` if it ends in something else."""
        if message_draft.items is None:
            return None if message_draft.position is None else (message_draft.position, self._key)
        last = message_draft.items[-1]
        if isinstance(last, NewValue) or last.path is None:
            return None
        part = as_object(at(self._messages, last.path)) or {}
        is_same = isinstance(last, Original) or "text" not in last.members
        is_text = is_same and "text" in part and part.get("type", "text") == "text"
        return (*last.path, "text") if is_text else None

    def _is_thought(self, item: Draft) -> bool:
        if isinstance(item, NewValue) or item.path is None:
            return False
        part = as_object(at(self._messages, item.path)) or {}
        return (
            part.get("type") in THINKING_PARTS
            or part.get("thought") is True
            or "reasoningContent" in part
        )

    def ended_turns(self) -> list[list[int]]:
        """Return the positions of the messages in each turn of the model that is followed by another turn."""
        turns = [
            (side, [*message_drafts])
            for side, message_drafts in groupby(self._drafts, attrgetter("side"))
        ]
        past = [message_drafts for side, message_drafts in turns[:-1] if side == "model"]
        return [
            [message_draft.position for message_draft in turn if message_draft.position is not None]
            for turn in past
        ]

    def merge(self) -> list[int | None]:
        """Merge consecutive messages of the model, or of the user, into one. Return the positions of the others."""
        merged: list[MessageDraft] = []
        joined: list[int | None] = []
        for message_draft in self._drafts:
            last = merged[-1] if merged else None
            if (
                last is None
                or last.side != message_draft.side
                or last.side == "other"
                or last.items is None
                or message_draft.items is None
            ):
                merged.append(message_draft)
            else:
                joined.append(message_draft.position)
                last.items += message_draft.items
                last.position = message_draft.position if last.position is None else last.position
        self._drafts = merged
        return joined

    def drafts(self) -> list[Draft]:
        """Return the messages."""
        return [self._draft(message_draft) for message_draft in self._drafts]

    def _draft(self, message_draft: MessageDraft) -> Draft:
        key, position, items = self._key, message_draft.position, message_draft.items
        if position is None:
            return Changed(None, {"role": NewValue("user"), key: Parts(None, items or [])})
        members = self._material.members((position,))
        if message_draft.words is not None:
            members[key] = message_draft.words
        elif items is not None and items != [
            Original(path) for path in paths_of(self._messages, position, key)
        ]:
            is_list = as_list(self._messages[position].get(key)) is not None
            members[key] = Parts((position, key) if is_list else None, items)
        return Changed((position,), members) if members else Original((position,))


def has_words_or_media(message: JsonObject, key: str) -> bool:
    """Return true if the content of a message is a text that is not empty."""
    content = message.get(key)
    return isinstance(content, str) and content != ""


def is_blank(part: JsonObject) -> bool:
    """Return true if a part is a text of white space alone."""
    text = part.get("text")
    return part.get("type", "text") == "text" and isinstance(text, str) and not text.strip()


def paths_of(messages: Sequence[Any], position: int, key: str) -> list[Path]:
    """Return the paths of the parts of a message."""
    count = len(as_list(messages[position].get(key)) or ())
    return [(position, key, index) for index in range(count)]


def parts_of(
    edited: EditedMessages, path: Path, place: Path, content: object
) -> list[Draft] | None:
    """Return the parts of a result that stay; none if it has no content, ``None`` if the content is not a list."""
    new = edited.new_content(path, str(place[-1]))
    if new is not None:
        return [*new.items] if isinstance(new, Parts) else None
    if content is None or (isinstance(content, str) and not content.strip()):
        return []
    parts = as_list(content)
    return None if parts is None else [Original((*place, index)) for index in range(len(parts))]


def value_of(item: Draft, messages: Sequence[Any]) -> JsonObject:
    """Return a part that is an object and has no new member; else an empty object."""
    is_new = isinstance(item, Changed) and any(new is not None for new in item.members.values())
    return {} if is_new else source_of(item, messages)


def source_of(item: Draft, messages: Sequence[Any]) -> JsonObject:
    """Return the object that a part is made from; an empty object for a new part, or one that is no object."""
    if isinstance(item, NewValue) or item.path is None:
        return {}
    return as_object(at(messages, item.path)) or {}
