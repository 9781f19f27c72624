"""A session that is about to be written: its conversation in the format of the agent's provider, with all losses so
far."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from toolcarry._util.plural import counted
from toolcarry.sessions.tools import OwnCall, own_call
from toolcarry.types.results import Converted, Loss

__all__ = ["KINDS", "Draft"]

KINDS = {
    "own_tools": "calls became calls of the agent's own tools that do the same",
    "labels": "arguments that only label or limit a call, for which the agent's tool has no place, were left out",
    "shortened": "results were shortened or left out, since the conversation is larger than the agent's window",
    "retold": "the first messages became a context, since the conversation is larger than the agent's window",
    "block": "a part for which the agent has no place was left out",
    "system": "the system prompt was left out: the agent has its own",
    "unread": "messages of a structure that toolcarry does not know were left out",
    "not_repaired": "the agent's provider may refuse a part of the conversation",
}
"""The meaning of each kind of loss that only a session has."""


@dataclass(slots=True)
class Draft:
    """A session that is about to be written.

    ``messages`` are the messages of a request to the agent's provider. ``began`` is the time of the first record; each
    record is a millisecond later than the one before it, so that their order is clear.
    """

    agent: str
    session_id: str
    directory: Path
    branch: str
    converted: Converted
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    _records: int = 0
    _own: Counter[tuple[str, str]] = field(default_factory=Counter)
    _dropped: Counter[str] = field(default_factory=Counter)
    _left: Counter[str] = field(default_factory=Counter)
    _server_calls: list[str] = field(default_factory=list)
    _system: int = 0

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.converted.messages

    def next_time(self) -> datetime:
        """Return the time of the next record."""
        self._records += 1
        return self.began + timedelta(milliseconds=self._records)

    def stamp(self) -> str:
        """Return the time of the next record as JavaScript writes it."""
        return stamp_of(self.next_time())

    def own(self, name: str, arguments: object) -> OwnCall:
        """Return a call as the agent makes it, or unchanged."""
        found = own_call(self.agent, name, arguments, directory=str(self.directory))
        if found is None:
            return OwnCall(name, arguments if isinstance(arguments, dict) else {})
        self._own[name, found.name] += 1
        self._dropped.update(found.dropped)
        return found

    def leave_out_system(self, text: str) -> None:
        """Report a text of the system prompt that is not written."""
        self._system += len(text)

    def leave_out(self, kind: str) -> None:
        """Report a part of this kind that is not written."""
        self._left[kind] += 1

    def retell_server_call(self, name: str, call_id: str) -> None:
        """Report a call of a server's tool that becomes a call of the agent's."""
        self._server_calls.append(f"{name} {call_id}")

    def losses(self) -> tuple[Loss, ...]:
        """Return all losses: of the conversion, of its repair, and of the writing."""
        found = [
            Loss(None, "own_tools", f"{counted(count, 'call')} of {name} became {own}")
            for (name, own), count in self._own.items()
            if name != own
        ]
        found += [
            Loss(None, "labels", f"{name} of {counted(count, 'call')}")
            for name, count in self._dropped.items()
        ]
        found += [
            Loss(None, "block", f"{counted(count, 'part')} of the type {kind}")
            for kind, count in self._left.items()
        ]
        found += [Loss(None, "server_tool", call) for call in self._server_calls]
        system = self._system + len(self.converted.system)
        if system:
            found.append(Loss(None, "system", counted(system, "character")))
        unread = self.converted.unread
        if unread:
            told = f"{unread.count:,} of {counted(unread.total, 'message')}"
            found.append(Loss(unread.first[0].position, "unread", told))
        if self.converted.not_repaired:
            found.append(Loss(None, "not_repaired", self.converted.not_repaired))
        mends = [
            Loss(None, mend.kind, " ".join(filter(None, (mend.call_id, mend.detail))))
            for mend in self.converted.mends
        ]
        return (*found, *mends, *self.converted.losses)


def stamp_of(moment: datetime) -> str:
    """Return a time in UTC with milliseconds.

    >>> stamp_of(datetime(2026, 1, 31, 12, tzinfo=UTC))
    '2026-01-31T12:00:00.000Z'
    """
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"
