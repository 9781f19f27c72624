"""The decision about a request: unchanged, as before, or with a new beginning, by the session of its conversation."""

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
from toolcarry.switch.sessions import PARTED, Line, Prefix, Session, SessionKey, Sessions
from toolcarry.switch.types import Reason, Switched, SwitchReport

__all__ = ["NEW_BEGINNINGS", "Conversations", "RoutedRequest", "untouched", "with_beginning"]


class RoutedRequest(NamedTuple):
    """One request: whose it is, for whom, by which message its line is known, and its messages."""

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
    """A beginning in place of the client's messages up to ``end``, after the system prompts that these begin with."""
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
    line: Line, backend: str, first: Mark, rest: Iterator[Mark]
) -> KnownBeginning | None:
    """The longest beginning of a request that this backend was sent something for.

    Takes of ``rest`` what it needs.
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


def must_record(session: Session, line: Line, backend: str) -> bool:
    """True if the session must record that this backend was asked.

    Where it has answered the line already, that is what is known anyway, as long as its answer can't be taken for that
    of another line, and the line is not soon the one that was used longest ago.
    """
    if line.backend != backend or line.asked not in ("", backend):
        return line.asked != backend
    newest = session.lines[:MOST_NEWEST]
    return line not in newest or any(
        known.asked == backend for known in session.lines if known is not line
    )


def reason_for(
    session: Session, line: Line, asked: RoutedRequest, known: KnownBeginning | None
) -> Reason:
    """Why a request is changed, or left as it is.

    Of a line that nobody has answered yet it is asked whether the conversation is one backend's alone: if not, what the
    request holds may be of another one, and is carried. Of two answers to one request, the one that is chosen is carried
    where there is anything in it that its backend alone understands.
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
"""The reasons for which a beginning is made."""
MOST_LENGTHS: Final = 16_384
"""Of how many lines it is known how long their requests were, for a day each."""
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
            # It has not answered what it was sent: what a model said after that is another one's.
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
        """Keep a beginning that is sent; of several made at once, the first one."""
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
                # A branch may be forgotten before its answer is reported.
                found: Line | None = session.line(first) or Line(first)
            else:
                found = next((line for line in session.lines if line.asked == backend), None)
            new = replace(session, backend=backend)
            told = None if found is None else self._after_answer(key, found, backend)
            if told is not None and told != found:
                new = new.with_line(told)
            if new != session:
                self._sessions.save(key, new)

    def _after_answer(self, key: SessionKey, line: Line, backend: str) -> Line:
        """A line after an answer."""
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

    def _session_of(self, asked: RoutedRequest) -> tuple[Session, Line]:
        session = self._sessions.load(asked.key) or Session()
        return session, session.line(asked.first) or Line(asked.first)
