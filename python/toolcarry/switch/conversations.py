"""What is known of conversations, and what requests and answers add to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from toolcarry._util.ttl_cache import SlidingCache
from toolcarry.switch.asked import Asked
from toolcarry.switch.decide import Known, find_known, holds_own, is_to_be_noted, reason_for
from toolcarry.switch.fingerprint import Mark
from toolcarry.switch.lengths import Lengths
from toolcarry.switch.sessions import PARTED, Line, Prefix, Session, SessionKey, Sessions
from toolcarry.switch.values import Reason

__all__ = ["NEW_BEGINNINGS", "Conversations"]

NEW_BEGINNINGS: Final[tuple[Reason, ...]] = ("switched", "rewritten")
"""The reasons for which a beginning is made."""
MOST_LENGTHS: Final = 16_384
"""Of how many lines it is known how long their requests were, for a day each."""
DAY: Final = 86_400.0
LOCKS: Final = 64
"""So many that two conversations rarely share one: where sessions are slow, one doesn't wait for another."""


class Conversations:
    """Sessions, changed by one thread at a time for each conversation."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._lengths = SlidingCache[tuple[SessionKey, str], Lengths](MOST_LENGTHS, DAY)
        self._locks = [threading.Lock() for _ in range(LOCKS)]

    @property
    def is_waiting(self) -> bool:
        """Whether each call here waits for a disk or a network."""
        return self._sessions.is_waiting

    def ask(
        self, asked: Asked, first: Mark, rest: Iterator[Mark], *, is_switch: bool
    ) -> tuple[Reason, Known | None]:
        """Why a request is changed or left, and what was sent for its beginning; take note of who is asked."""
        session, line = self._session_of(asked)
        known = None if is_switch else find_known(line, asked.backend, first, rest)
        if known is not None and line.backend != asked.backend:
            # It has not answered what it was sent: what a model said behind that is another one's.
            known = None if holds_own(asked.messages[known.end :]) else known
        reason = "switched" if is_switch else reason_for(session, line, asked, known)
        is_new = reason in NEW_BEGINNINGS
        lengths = self._lengths_of(asked.key, asked.first)
        lengths.ask(asked.backend, len(asked.messages), is_new_beginning=is_new)
        if is_new or is_to_be_noted(session, line, asked.backend):
            with self._lock_of(asked.key):
                session, line = self._session_of(asked)
                new = session.with_line(replace(line, asked=asked.backend))
                self._sessions.save(asked.key, new)
        return reason, known

    def keep(self, asked: Asked, prefix: Prefix) -> Prefix:
        """Keep what is sent for a beginning; of several that were made at once, the first one."""
        with self._lock_of(asked.key):
            session, line = self._session_of(asked)
            kept = next((known for known in line.prefixes if known.is_for(prefix)), None)
            if kept is None and not line.is_answered:
                self._sessions.save(asked.key, session.with_line(line.with_prefix(prefix)))
        return kept or prefix

    def answered(self, key: SessionKey, backend: str, first: str) -> None:
        """Take note of an answer; ``first`` says to which line, or is empty."""
        with self._lock_of(key):
            session = self._sessions.load(key) or Session()
            if first:
                # A line may be forgotten before its answer is told of.
                found: Line | None = session.line(first) or Line(first)
            else:
                found = next((line for line in session.lines if line.asked == backend), None)
            new = replace(session, backend=backend)
            told = None if found is None else self._told(key, found, backend)
            if told is not None and told != found:
                new = new.with_line(told)
            if new != session:
                self._sessions.save(key, new)

    def _told(self, key: SessionKey, line: Line, backend: str) -> Line:
        """A line after an answer."""
        if self._lengths_of(key, line.first).answer(backend):
            return replace(line, backend=PARTED, asked="", prefixes=())
        return line.answered_by(backend)

    def _lengths_of(self, key: SessionKey, first: str) -> Lengths:
        found = self._lengths.get((key, first))
        if found is None:
            found = Lengths()
            self._lengths.set((key, first), found)
        return found

    def _lock_of(self, key: SessionKey) -> threading.Lock:
        return self._locks[hash(key) % LOCKS]

    def _session_of(self, asked: Asked) -> tuple[Session, Line]:
        session = self._sessions.load(asked.key) or Session()
        return session, session.line(asked.first) or Line(asked.first)
