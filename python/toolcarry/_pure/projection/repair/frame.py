"""The frame of a request: its members besides the messages, such as the system prompt, the tools and the settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry._pure.projection.edits import (
    Changed,
    Draft,
    Members,
    NewValue,
    Original,
    Parts,
    Path,
)

_Changes: TypeAlias = Sequence[tuple[Path, Any]]
"""New values by path; ``None`` for one that is removed."""


class Frame:
    """The members of a request besides its messages, and their changes. A list of messages has none."""

    def __init__(self, members: JsonObject, *, is_named: bool = False) -> None:
        self.members = members
        self.is_named = is_named
        """True if the policy names the destination."""
        self._changes: dict[Path, Any] = {}

    def found(self, pattern: Sequence[str]) -> list[tuple[Path, Any]]:
        """Return the values at the places of a pattern, in which ``*`` stands for each item of a list.

        >>> Frame({"tools": [{"name": "ls"}, {}]}).found(["tools", "*", "name"])
        [(('tools', 0, 'name'), 'ls')]
        """
        places: list[tuple[Path, Any]] = [((), self.members)]
        for step in pattern:
            inner: list[tuple[Path, Any]] = []
            for path, value in places:
                if step == "*":
                    items = enumerate(as_list(value) or ())
                    inner += [((*path, index), item) for index, item in items]
                elif (held := (as_object(value) or {}).get(step)) is not None:
                    inner.append(((*path, step), held))
            places = inner
        return places

    def change(self, path: Path, new: object) -> None:
        """Replace the value at a path, or remove it (``None``). An item after the last one of a list is added."""
        self._changes[path] = new

    def edits(self) -> Members:
        """Return the members that change."""
        changed = _edited(self.members, (), list(self._changes.items()))
        return changed.members if isinstance(changed, Changed) else {}


def _edited(value: object, path: Path, changes: _Changes) -> NewValue | Parts | Changed | None:
    """Return a value with changes inside it."""
    inner: dict[str | int, list[tuple[Path, Any]]] = {}
    for rest, new in changes:
        if not rest:
            return None if new is None else NewValue(new)
        inner.setdefault(rest[0], []).append((rest[1:], new))
    items = as_list(value)
    if items is None:
        held = as_object(value)
        members = {
            str(key): _edited((held or {}).get(str(key)), (*path, key), each)
            for key, each in inner.items()
        }
        return Changed(None if held is None else path, members)
    drafts: list[Draft] = []
    for index, item in enumerate(items):
        own = (*path, index)
        new = _edited(item, own, inner[index]) if index in inner else Original(own)
        if new is not None and not isinstance(new, Parts):
            drafts.append(new)
    added = sorted(index for index in inner if isinstance(index, int) and index >= len(items))
    drafts += [NewValue(new) for index in added for _, new in inner[index]]
    return Parts(path, drafts)
