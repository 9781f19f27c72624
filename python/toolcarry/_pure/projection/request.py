"""The edits of a projection: the messages, the replacements in them, and the parts that are removed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolcarry._input.objects import as_list
from toolcarry._pure.projection.blocks import Block
from toolcarry._pure.projection.edits import Changed, Draft, NewValue, Original, Parts, Path
from toolcarry._pure.projection.result_slot import LISTS

_Edit = NewValue | Parts | Changed | None


class EditedMessages:
    """The messages of a conversation, and the edits of their parts."""

    def __init__(
        self,
        messages: Sequence[Any],
        blocks: Sequence[Block],
        *,
        is_continued: bool = False,
        guard: frozenset[int] = frozenset(),
    ) -> None:
        self.messages = messages
        self.blocks = blocks
        self.is_continued = is_continued
        """True if the provider stores the messages before these, so that a result may answer an absent call."""
        self.guard = guard
        """The positions of the messages that a repair leaves alone."""
        self.users: set[int] = set()
        """The positions of the messages that a repair makes the user's."""
        self._edits: dict[Path, dict[str, _Edit]] = {}
        self._gone: set[Path] = set()
        self._touched: defaultdict[int, set[str]] = defaultdict(set)
        """The lists in each message that change."""
        for block in blocks:
            if block.decision is not None and block.slot is not None:
                self.edit(block.slot.path, block.slot.replaced(block.new, block.stays))
            if block.arguments is not None and block.cleared:
                self.edit(block.arguments.path, block.arguments.members(block.cleared))
            if block.is_dropped:
                self._drop(block)

    def edit(self, path: Path, members: Mapping[str, _Edit]) -> None:
        """Replace members of the object at a path. Edits of an object inside it are merged."""
        edits = self._edits.setdefault(path, {})
        for key, value in members.items():
            edits[key] = _joined(edits.get(key), value)
        self._touch(path)

    def take_out(self, path: Path) -> None:
        """Remove a message, or a part of one."""
        self._gone.add(path)
        self._touch(path)

    def _drop(self, block: Block) -> None:
        """Remove a call, with the whole assistant message that contains it, and its results.

        A provider refuses reasoning without the call that it led to, so that reasoning before it is removed, too.
        """
        position = block.entry.position
        self.take_out((position,))
        while position and self.messages[position - 1].get("type") == "reasoning":
            position -= 1
            self.take_out((position,))
        if block.result_path is not None:
            self.take_out(block.result_path)
        for path in block.second_paths:
            self.take_out(path)

    def _touch(self, path: Path) -> None:
        if len(path) > 1:
            self._touched[int(path[0])].add(str(path[1]))

    def is_guarded(self, block: Block) -> bool:
        """Return true if a block has its call or its result in a message that a repair leaves alone."""
        entry = block.entry
        return entry.position in self.guard or entry.result_position in self.guard

    def is_gone(self, path: Path) -> bool:
        return path in self._gone

    def new_content(self, path: Path, key: str) -> _Edit:
        """Return the new content of a result, which is under ``key``; ``None`` if it stays."""
        edits = self._edits.get(path, {})
        held = [edit.members for edit in edits.values() if isinstance(edit, Changed)]
        found = (members.get(key) for members in (edits, *held))
        return next((new for new in found if new is not None), None)

    def draft(self, path: Path) -> Draft:
        """Return the draft of a part, or of a message whose parts don't change."""
        edits = self._edits.get(path)
        return Original(path) if edits is None else Changed(path, edits)

    def members(self, path: Path) -> dict[str, _Edit]:
        """Return the members that change in the object at a path."""
        return dict(self._edits.get(path, {}))

    def parts(self, position: int, key: str) -> list[Draft]:
        """Return the parts of a message that stay."""
        count = len(as_list(self.messages[position].get(key)) or ())
        paths = [(position, key, index) for index in range(count)]
        return [self.draft(path) for path in paths if not self.is_gone(path)]

    def message(self, position: int) -> Draft | None:
        """Return a message with its edits; ``None`` if it is removed or nothing is left of it."""
        path = (position,)
        if self.is_gone(path):
            return None
        touched = self._touched.get(position)
        if not touched:
            return self.draft(path)
        members = self.members(path)
        for key in sorted(touched):
            items = self.parts(position, key)
            if not items and key in LISTS:
                return None
            members[key] = Parts((position, key), items)
        return Changed(path, members)

    def all_messages(self) -> list[Draft]:
        """Return the messages in their order."""
        return [
            draft for draft in map(self.message, range(len(self.messages))) if draft is not None
        ]


def _joined(known: _Edit, value: _Edit) -> _Edit:
    """Merge two edits of one object."""
    if isinstance(known, Changed) and isinstance(value, Changed):
        return Changed(known.path, {**known.members, **value.members})
    return value


def is_original(drafts: Iterable[Draft], count: int) -> bool:
    """Return true if drafts are the ``count`` messages of the input, unchanged."""
    return list(drafts) == [Original((position,)) for position in range(count)]
