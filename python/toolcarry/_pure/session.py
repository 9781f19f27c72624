"""Session files: which records form the conversation, and which belong to a side chain or another branch.

A Claude Code record names itself (``uuid``) and its parent (``parentUuid``). The active branch is the last
message with its ancestors. Where the chain breaks (a lost or malformed record) file order stands in, so that
nothing before the gap is lost. One assistant message may be split over several records with one ``message.id``,
on sibling branches too; a record may be written twice, and then the first one counts.
A file of one side chain alone is read as that conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry.wire import Wire, as_object, text_or_empty

Placed = tuple[Wire, str, bool]
"""A message, its scope, and whether it stands on the active branch."""


class Places:
    """Where messages stand, found out as they come by, from the last to the first.

    The first record that names itself makes all before it be looked at.
    """

    def __init__(self, messages: Sequence[Any]) -> None:
        self.repeated_records = 0
        self._messages = messages
        self._session: Session | None = None

    def place(self, message: Wire, position: int) -> Placed | None:
        """The message of an item and its place; ``None`` where the item holds none, or was written before."""
        if message.get("role") is not None:
            return message, "", True
        if "uuid" not in message:
            inner = as_object(message.get("message")) if "message" in message else message
            return None if inner is None else (inner, "", True)
        session = self._session
        if session is None:
            session = self._session = Session(self._messages, position + 1)
        if session.is_repeated[position]:
            self.repeated_records += 1
            return None
        inner = as_object(message.get("message"))
        if inner is None:
            return None
        return inner, session.scopes.get(position, ""), bool(session.is_active[position])


class Session:
    """What is known of the records ``0 .. len(is_active)``."""

    def __init__(self, records: Sequence[Any], count: int) -> None:
        self.is_active = bytearray(count)
        self.is_repeated = bytearray(count)
        self.scopes: dict[int, str] = {}
        self._parents: list[str] = [""] * count
        self._message_ids: dict[int, str] = {}
        self._index: dict[str, int] = {}
        self._tree: list[int] = []
        self._last = -1
        last_side = -1
        for position in range(count):
            record = as_object(records[position])
            if record is None:
                continue
            is_message = self._add(position, record)
            if is_message and position in self.scopes:
                last_side = position
            elif is_message:
                self._last = position
        if self._last < 0 and last_side >= 0 and len(set(self.scopes.values())) == 1:
            self._last = last_side
        self._mark_ancestors()
        self._mark_split_messages()

    def _add(self, position: int, record: Wire) -> bool:
        """Note one record; whether it holds a message that belongs to the tree."""
        uuid = record.get("uuid")
        message = as_object(record.get("message"))
        if not isinstance(uuid, str):
            self.is_active[position] = 1
            return False
        if uuid in self._index:
            self.is_repeated[position] = 1
            return False
        self._index[uuid] = position
        self._tree.append(position)
        parent = text_or_empty(record.get("parentUuid")) or text_or_empty(
            record.get("logicalParentUuid")
        )
        self._parents[position] = parent
        if record.get("isSidechain") is True:
            above = self._index.get(parent, -1)
            inherited = self.scopes.get(above, uuid)
            self.scopes[position] = text_or_empty(record.get("agentId")) or inherited
        if message is None:
            return False
        message_id = message.get("id")
        if isinstance(message_id, str) and message_id:
            self._message_ids[position] = message_id
        return True

    def _mark_ancestors(self) -> None:
        """Walk from the last message to its root; where the way is lost, go on in file order."""
        lane = self.scopes.get(self._last, "")
        order = [position for position in self._tree if self.scopes.get(position, "") == lane]
        place = {position: number for number, position in enumerate(order)}
        position, lowest = self._last, len(order)
        while position >= 0:
            self.is_active[position] = 1
            number = place.get(position, lowest)
            lowest = min(lowest, number)
            parent = self._parents[position]
            if not parent:
                return
            above = self._index.get(parent, -1)
            if above < 0 or self.is_active[above] or above not in place:
                above = order[lowest - 1] if lowest > 0 else -1
            position = above

    def _mark_split_messages(self) -> None:
        """Take in the other records of an active message, where their parent is active too."""
        active = {name for position, name in self._message_ids.items() if self.is_active[position]}
        for position, name in self._message_ids.items():
            if name in active and not self.is_active[position]:
                above = self._index.get(self._parents[position], -1)
                same_lane = self.scopes.get(position, "") == self.scopes.get(self._last, "")
                if above >= 0 and self.is_active[above] and same_lane:
                    self.is_active[position] = 1
