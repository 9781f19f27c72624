"""The active branch of a session file, followed upward as its records come by, from the last one on.

A job that stops early need not look at the beginning of the file for that, as ``session`` does. Most records tell
their place as they come by; where one doesn't, or where an ancestor that is waited for may not be there at all,
the branch is lost, and the job begins again with a look at all records.
"""

from __future__ import annotations

from toolcarry.wire import Wire, text_or_empty


class LostBranch(Exception):  # noqa: N818  it is no error: the job begins again
    """Only a look at all records tells where one of them stands."""


class Branch:
    """What is known of the active branch from the records that came by."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._above: str | None = None
        """The ancestor that comes next: ``None`` until the last message came by, empty behind the root."""
        self._message_ids: set[str] = set()
        """Of the messages on the branch."""
        self._is_in_doubt = False
        """Whether a message was passed by while an ancestor was waited for, which may be missing."""

    def place(self, uuid: str, record: Wire, message: Wire | None) -> tuple[str, bool] | None:
        """The scope of the next record, and whether it stands on the branch; ``None`` where it is written again later.

        Raises ``LostBranch`` where that can't be told.
        """
        if uuid in self._seen:
            return None
        self._seen.add(uuid)
        is_side = record.get("isSidechain") is True
        if self._above is None:
            is_active = message is not None
        else:
            is_active = uuid != "" and uuid == self._above
        if is_active:
            if is_side:
                raise LostBranch
            self._go_up(record, message)
            return "", True
        if message is None:
            return "", False
        if is_side:
            agent = text_or_empty(record.get("agentId"))
            if not agent:
                raise LostBranch
            return agent, False
        message_id = text_or_empty(message.get("id"))
        if message_id and (self._above or message_id in self._message_ids):
            raise LostBranch  # it may be a part of a message on the branch
        if self._above:
            self._is_in_doubt = True
        return "", False

    def _go_up(self, record: Wire, message: Wire | None) -> None:
        self._is_in_doubt = False
        if message is not None:
            self._message_ids.add(text_or_empty(message.get("id")))
        self._above = parent_of(record)
        if self._above in self._seen:
            raise LostBranch

    def check(self) -> None:
        """Raise ``LostBranch`` where a record that was passed by may stand on the branch all the same."""
        if self._is_in_doubt:
            raise LostBranch


def parent_of(record: Wire) -> str:
    """The name of a record's parent; empty where it has none."""
    return text_or_empty(record.get("parentUuid")) or text_or_empty(record.get("logicalParentUuid"))
