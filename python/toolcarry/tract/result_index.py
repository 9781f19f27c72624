"""The calls and results of a conversation, so that finding one reads no commit twice.

The log is append-only, so the index of a ``Tract`` is extended by the commits that came since it was last used, by
whatever writer. A conversation that was forgotten meanwhile is read again from its start.
"""

from __future__ import annotations

import threading
from typing import Final

from toolcarry.tract.matching import Calls, add_commit
from toolcarry.tract.store.log import Log
from toolcarry.tract.store.types import CommitInfo, Kind
from toolcarry.tract.view import is_backfill

__all__ = ["ResultIndex", "Results"]

KINDS: Final = (Kind.CALL, Kind.RESULT, Kind.EDIT)


class Results:
    """The results of a conversation up to one commit."""

    def __init__(self) -> None:
        self.by_id: dict[str, list[CommitInfo]] = {}
        self.paired: Calls[CommitInfo] = Calls()
        """The calls with their results."""
        self.filled: dict[str, CommitInfo] = {}
        """The whole of each result that was cut before it was written, by the hash of that result."""

    def of(self, call_id: str) -> list[CommitInfo]:
        """Return the results of a call id, oldest first, each in full if the history has it in full."""
        return [self.whole(each) for each in self.by_id.get(call_id, ())]

    def whole(self, result: CommitInfo) -> CommitInfo:
        return self.filled.get(result.commit_hash, result)

    def add(self, commit: CommitInfo) -> None:
        if is_backfill(commit):
            self.filled[str(commit.edits)] = commit
        elif commit.kind is not Kind.EDIT:
            add_commit(self.paired, commit)
        if commit.kind is Kind.RESULT:
            self.by_id.setdefault(commit.tool_call_id or "", []).append(commit)


class ResultIndex:
    """Keeps the ``Results`` of one log. It may be used by several threads."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._found = Results()
        self._last: CommitInfo | None = None
        """The last commit in the index, from which the next read starts."""
        self._head: object = None
        self._lock = threading.Lock()

    def read(self) -> Results:
        """Return the results as of now. Raises ``StoreDamagedError`` for a damaged commit, and then changes nothing."""
        with self._lock:
            head = self._log.head()
            if head != self._head:
                self._extend()
                self._head = head
            return self._found

    def _extend(self) -> None:
        """Add the commits after the last one, which is read again to see that the log still has it."""
        last = self._last
        new = list(self._log.commits(KINDS, after=last.sequence - 1 if last else 0))
        if last is not None and new[:1] != [last]:
            self._found, last = Results(), None
            new = list(self._log.commits(KINDS))
        for commit in new if last is None else new[1:]:
            self._found.add(commit)
        self._last = new[-1] if new else None
