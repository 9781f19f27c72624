"""What a projection is made of: messages as they stand, messages of which some members are replaced, and new ones.

A draft names what it is made from by a path: the index of the message, and the keys and indices below it. So the same
plan is carried out on objects, here, and on the bytes that they were read from, in ``spans``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from toolcarry._input.objects import as_object

Path: TypeAlias = tuple[str | int, ...]


class Kept(NamedTuple):
    """What stands at a path, as it is."""

    path: Path


class Changed(NamedTuple):
    """The object at a path, with some members replaced, added or removed; without a path, a new object."""

    path: Path | None
    members: Members


class Made(NamedTuple):
    """A new value; of a text, which part stands elsewhere as it is."""

    value: Any
    ends: Ends | None = None


class Ends(NamedTuple):
    """The first and the last characters of the text at a path, with which a new text begins and ends."""

    path: Path
    first: int
    last: int


class Parts(NamedTuple):
    """The list at a path, made of these items; without a path, a new list."""

    path: Path | None
    items: list[Draft]


Draft: TypeAlias = Kept | Changed | Made
REMOVED: Final = None
"""Stands for a member that is taken out."""
Members: TypeAlias = Mapping[str, Made | Parts | Changed | None]


def build(messages: Sequence[Any], drafts: Sequence[Draft]) -> list[Any]:
    """The messages that drafts describe. What does not change is the caller's own."""
    return [built(draft, messages) for draft in drafts]


def built(draft: Draft | Parts, messages: Sequence[Any]) -> Any:
    if isinstance(draft, Made):
        return draft.value
    if isinstance(draft, Parts):
        return [built(item, messages) for item in draft.items]
    found = {} if draft.path is None else at(messages, draft.path)
    if isinstance(draft, Kept):
        return found
    new = dict(as_object(found) or {})
    for key, value in draft.members.items():
        if value is None:
            new.pop(key, None)
        else:
            new[key] = built(value, messages)
    return new


def at(messages: Sequence[Any], path: Path) -> Any:
    """What stands at a path."""
    found: Any = messages
    for step in path:
        found = found[step] if isinstance(step, int) else (as_object(found) or {})[step]
    return found
