"""Decide about a request by the session of its conversation: unchanged, as before, or with a new beginning."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final, NamedTuple

from toolcarry._input.objects import plain_message
from toolcarry._util.ttl_cache import SlidingCache
from toolcarry.switch.branches import RequestLengths
from toolcarry.switch.fingerprint import Mark
from toolcarry.switch.portable import portable_message
from toolcarry.switch.request_view import join_prompts, leading_prompts, role_in
from toolcarry.switch.sessions import (
    PARTED,
    Prefix,
    RequestLine,
    SessionKey,
    Sessions,
    SwitchSession,
)
from toolcarry.switch.types import Reason, Switched, SwitchReport

__all__ = ["NEW_BEGINNINGS", "Conversations", "RoutedRequest", "untouched", "with_beginning"]


class RoutedRequest(NamedTuple):
    """One request: its session key, its backend, the message that identifies its line, and all its messages."""

    key: SessionKey
    backend: str
    first: str
    messages: Sequence[Any]


def untouched(asked: RoutedRequest, reason: Reason) -> Switched:
    """The client's own messages."""
    return Switched(asked.messages, SwitchReport(reason, kept=len(asked.messages)), asked.first)


def with_beginning(
    asked: RoutedRequest, beginning: Sequence[Any], end: int, report: SwitchReport
) -> Switched:
    """Return a beginning in place of the client's messages up to ``end``, after the system prompts at their start."""
    prompts, rest = leading_prompts(asked.messages), asked.messages[end:]
    seam = join_prompts([*beginning[-1:], *rest[:1]])
    messages = [*prompts, *beginning[:-1], *seam, *rest[1:]]
    kept = len(prompts) + len(rest)
    report = replace(report, replaced=len(asked.messages) - kept, kept=kept)
    return Switched(messages, report, asked.first)


MOST_NEWEST: Final = 8
"""The number of most recently used branches."""


class KnownBeginning(NamedTuple):
    """The replacement that was sent before for the beginning of a conversation, and where that beginning ends in the request."""

    prefix: Prefix
    end: int


def find_known(
    line: RequestLine, backend: str, first: Mark, rest: Iterator[Mark]
) -> KnownBeginning | None:
    """Return the longest beginning of a request for which this backend was sent a replacement.

    Consumes as much of ``rest`` as it needs.
    """
    wanted = {
        (prefix.count, prefix.digest): prefix
        for prefix in line.prefixes
        if prefix.backend == backend
    }
    most = max((count for count, _ in wanted), default=0)
    found = None
    for mark in (first, *islice(rest, max(most - 1, 0))):
        prefix = wanted.get((mark.length, mark.digest))
        if prefix is not None:
            found = KnownBeginning(prefix, mark.end)
    return found


def must_record(session: SwitchSession, line: RequestLine, backend: str) -> bool:
    """True if the session must record that this backend was asked.

    If it has already answered the line, this is known, as long as its answer can't be mistaken for that of another line,
    and the line is not about to be evicted.
    """
    if line.backend != backend or line.asked not in ("", backend):
        return line.asked != backend
    newest = session.lines[:MOST_NEWEST]
    return line not in newest or any(
        known.asked == backend for known in session.lines if known is not line
    )


def reason_for(
    session: SwitchSession, line: RequestLine, asked: RoutedRequest, known: KnownBeginning | None
) -> Reason:
    """Return the reason to change a request, or to leave it unchanged.

    If no backend has answered a line yet, the request is changed unless a single backend has answered the whole
    conversation, since its content may come from another one. If two backends answered the same request, the chosen
    answer is carried if it contains anything that only its backend understands.
    """
    backend = asked.backend
    if known is not None:
        return "resumed"
    last = line.backend or session.backend
    if last == PARTED and not holds_own(asked.messages):
        return "same_backend"
    if last not in ("", backend):
        return "switched"
    lines = (line,) if line.backend else session.lines
    if any(prefix.backend == backend for known in lines for prefix in known.prefixes):
        return "rewritten"
    return "same_backend" if last else "new"


def holds_own(messages: Sequence[Any]) -> bool:
    """True if the models wrote any part that only their own backends understand."""
    plain = (plain_message(message, position) for position, message in enumerate(messages))
    said = (message for message in plain if role_in(message) in ("assistant", None))
    return any(portable_message(message) is not message for message in said)


NEW_BEGINNINGS: Final[tuple[Reason, ...]] = ("switched", "rewritten")
"""The reasons to make a new beginning."""
MOST_LENGTHS: Final = 16_384
"""The number of lines whose request lengths are remembered, for a day each."""
DAY: Final = 86_400.0
LOCKS: Final = 64
"""Enough locks that two conversations rarely share one, so that a slow session does not delay another."""


class Conversations:
    """Sessions, changed by one thread at a time for each conversation."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._lengths = SlidingCache[tuple[SessionKey, str], RequestLengths](MOST_LENGTHS, DAY)
        self._locks = [threading.Lock() for _ in range(LOCKS)]

    @property
    def is_waiting(self) -> bool:
        """True if each call here waits for a disk or a network."""
        return self._sessions.is_waiting

    def ask(
        self, asked: RoutedRequest, first: Mark, rest: Iterator[Mark], *, is_switch: bool
    ) -> tuple[Reason, KnownBeginning | None]:
        """Return the reason to change a request or leave it, with its beginning that was sent before; record the backend."""
        session, line = self._session_of(asked)
        known = None if is_switch else find_known(line, asked.backend, first, rest)
        if known is not None and line.backend != asked.backend:
            # It has not answered the last request: any later message of a model comes from another backend.
            known = None if holds_own(asked.messages[known.end :]) else known
        reason = "switched" if is_switch else reason_for(session, line, asked, known)
        is_new = reason in NEW_BEGINNINGS
        lengths = self._lengths_of(asked.key, asked.first)
        lengths.ask(asked.backend, len(asked.messages), is_new_beginning=is_new)
        if is_new or must_record(session, line, asked.backend):
            with self._lock_of(asked.key):
                session, line = self._session_of(asked)
                new = session.with_line(replace(line, asked=asked.backend))
                self._sessions.save(asked.key, new)
        return reason, known

    def keep(self, asked: RoutedRequest, prefix: Prefix) -> Prefix:
        """Store a beginning that is sent; if several were made at the same time, the first one is stored."""
        with self._lock_of(asked.key):
            session, line = self._session_of(asked)
            kept = next((known for known in line.prefixes if known.is_for(prefix)), None)
            if kept is None and not line.is_answered:
                self._sessions.save(asked.key, session.with_line(line.with_prefix(prefix)))
        return kept or prefix

    def answered(self, key: SessionKey, backend: str, first: str) -> None:
        """Record an answer; ``first`` identifies its line, or is empty."""
        with self._lock_of(key):
            session = self._sessions.load(key) or SwitchSession()
            if first:
                # A branch may be forgotten before its answer is reported.
                found: RequestLine | None = session.line(first) or RequestLine(first)
            else:
                found = next((line for line in session.lines if line.asked == backend), None)
            new = replace(session, backend=backend)
            told = None if found is None else self._after_answer(key, found, backend)
            if told is not None and told != found:
                new = new.with_line(told)
            if new != session:
                self._sessions.save(key, new)

    def _after_answer(self, key: SessionKey, line: RequestLine, backend: str) -> RequestLine:
        """Return a line after an answer."""
        if self._lengths_of(key, line.first).answer(backend):
            return replace(line, backend=PARTED, asked="", prefixes=())
        return line.answered_by(backend)

    def _lengths_of(self, key: SessionKey, first: str) -> RequestLengths:
        found = self._lengths.get((key, first))
        if found is None:
            found = RequestLengths()
            self._lengths.set((key, first), found)
        return found

    def _lock_of(self, key: SessionKey) -> threading.Lock:
        return self._locks[hash(key) % LOCKS]

    def _session_of(self, asked: RoutedRequest) -> tuple[SwitchSession, RequestLine]:
        session = self._sessions.load(asked.key) or SwitchSession()
        return session, session.line(asked.first) or RequestLine(asked.first)
