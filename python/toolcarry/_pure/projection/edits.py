"""The drafts of a projection: unchanged messages, messages with some members replaced, and new ones.

A draft names its source by a path: the index of the message, and the keys and indices below it. So the same plan
can be applied to objects, here, and to the bytes that they were read from, in ``splice``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from toolcarry._input.objects import as_object

Path: TypeAlias = tuple[str | int, ...]


class Original(NamedTuple):
    """The value at a path, unchanged."""

    path: Path


class Changed(NamedTuple):
    """The object at a path, with some members replaced, added or removed; without a path, a new object."""

    path: Path | None
    members: Members


class NewValue(NamedTuple):
    """A new value. If it is a text, ``ends`` names the parts of it that are copied from another one."""

    value: Any
    ends: Ends | None = None


class Ends(NamedTuple):
    """The first and the last characters of the text at a path. The new text begins and ends with them."""

    path: Path
    first: int
    last: int


class Parts(NamedTuple):
    """The list at a path, with these items; without a path, a new list."""

    path: Path | None
    items: list[Draft]


Draft: TypeAlias = Original | Changed | NewValue
_REMOVED: Final = None
"""The mark of a member that is removed."""
Members: TypeAlias = Mapping[str, NewValue | Parts | Changed | None]


def build(messages: Sequence[Any], drafts: Sequence[Draft]) -> list[Any]:
    """Build the messages that drafts describe. Unchanged values are the caller's own."""
    return [_built(draft, messages) for draft in drafts]


def _built(draft: Draft | Parts, messages: Sequence[Any]) -> Any:
    if isinstance(draft, NewValue):
        return draft.value
    if isinstance(draft, Parts):
        return [_built(item, messages) for item in draft.items]
    found = {} if draft.path is None else at(messages, draft.path)
    if isinstance(draft, Original):
        return found
    new = dict(as_object(found) or {})
    for key, value in draft.members.items():
        if value is None:
            new.pop(key, None)
        else:
            new[key] = _built(value, messages)
    return new


def at(messages: Sequence[Any], path: Path) -> Any:
    """Return the value at a path."""
    found: Any = messages
    for step in path:
        found = found[step] if isinstance(step, int) else (as_object(found) or {})[step]
    return found
