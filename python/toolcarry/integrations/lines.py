"""The lines of conversations: which earlier request a request goes on from, and what was decided then.

    messages  u1 a1 r1 a2 r2      line A: the fingerprints of all its messages, and its decisions
    messages  u1 a1 r1 a2 r2 a3   goes on from A, because A's last messages are in place
    messages  u1 a1 r1 b2 s2      shares three messages with A: a line of its own, which begins with A's decisions

Of several lines the longest one that a request contains wins, so a conversation that is continued in two ways has two
lines, and neither changes what the other one sends. A fingerprint leaves out what clients move about: marks for a cache,
thinking, reminders, and the spelling of a text as a string or as a part.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from toolcarry._input.objects import as_object
from toolcarry._util.ttl_cache import SlidingCache
from toolcarry.errors import InputError
from toolcarry.integrations.identity import RequestIdentity, digest
from toolcarry.switch.fingerprint import marks, said_in
from toolcarry.switch.request_view import role_in
from toolcarry.types.values import Decisions

__all__ = ["GuessedConversations", "KnownLines", "Line", "LineKey", "Start"]

LineKey = tuple[str, str, str]
"""Tenant, conversation, and its opening, since requests for titles and of sub-agents have the same conversation id."""
MOST_LINES: Final = 16
"""The most lines with one opening; beyond that the least recently used one is forgotten."""
LAST: Final = 4
"""The number of last messages of a line that are compared. If these agree, the ones before them agree as well."""


class Line(NamedTuple):
    """The state of a line after its last request: a fingerprint of each message, the decisions, the number of calls
    without result, and the calls whose results were put away.
    """

    signs: tuple[int, ...] = ()
    decisions: Decisions | None = None
    missing: int = 0
    put_away: frozenset[int] = frozenset()

    def weight(self) -> int:
        """The number of decisions, and an eighth of the fingerprints and hashes."""
        made = self.decisions or Decisions()
        own = len(made.made) + len(made.dropped) + len(made.mends)
        return own + (len(self.signs) + len(self.put_away)) // 8


class Start(NamedTuple):
    """The start of a request: the decisions about its first ``shared`` messages, and the line that it replaces."""

    known: Line
    shared: int = 0
    replaces: Line | None = None


NEW: Final = Start(Line())


class Signs:
    """The fingerprints of a request's messages, each made when it is first asked for."""

    def __init__(self, messages: Sequence[Any], known: Sequence[int] = ()) -> None:
        self._messages = messages
        self._made = dict(enumerate(known))

    def __len__(self) -> int:
        return len(self._messages)

    def at(self, position: int) -> int:
        """Return the fingerprint of a message."""
        found = self._made.get(position)
        if found is None:
            try:
                found = sign_of(self._messages[position])
            except (
                InputError,
                UnicodeError,
                RecursionError,
            ):  # the projection leaves it unchanged, too
                found = 0
            self._made[position] = found
        return found

    def goes_on_from(self, line: Line) -> bool:
        """True if the request contains all messages of a line, as far as its last ones show."""
        count = len(line.signs)
        places = range(max(count - LAST, 0), count)
        return count <= len(self) and all(self.at(place) == line.signs[place] for place in places)

    def shared_with(self, line: Line) -> int:
        """Return the number of messages at the beginning that the request shares with a line."""
        most = min(len(self), len(line.signs))
        places = (place for place in range(most) if self.at(place) != line.signs[place])
        return next(places, most)


def sign_of(message: object) -> int:
    """The fingerprint of a message, valid in this process; 0 for one that nobody says."""
    record = as_object(message)
    if record is None:
        return 0
    role = role_in(record)
    said = None if role == "system" else said_in(record, is_model=role == "assistant")
    return 0 if said is None else hash(said)


def weigh(lines: tuple[Line, ...]) -> int:
    """Return the weight of the lines with one opening: that of each line, plus four."""
    return sum(4 + line.weight() for line in lines)


class KnownLines(SlidingCache[LineKey, tuple[Line, ...]]):
    """The lines of all conversations: at most ``max_decisions`` decisions in total, kept for ``ttl`` seconds per opening."""

    def __init__(self, max_decisions: int, ttl: float) -> None:
        super().__init__(max_decisions, ttl, weigh)
        self._changing = threading.Lock()

    def start_of(self, key: LineKey, messages: Sequence[Any]) -> Start:
        """Find the line that a request goes on from; the longest one of several."""
        lines, own = self.get(key) or (), Signs(messages)
        whole = max(filter(own.goes_on_from, lines), key=lambda line: len(line.signs), default=None)
        if whole is not None:
            return Start(whole, len(whole.signs), whole)
        shared, fork = max(
            ((own.shared_with(line), line) for line in lines), key=first, default=(0, None)
        )
        if fork is None or not shared:
            return NEW
        decisions = fork.decisions
        if decisions is not None:
            decisions = replace(decisions, messages=min(shared, decisions.messages))
        return Start(fork._replace(signs=fork.signs[:shared], decisions=decisions), shared)

    def keep(self, key: LineKey, messages: Sequence[Any], start: Start, line: Line) -> int:
        """Keep a line after a request, whose fingerprints are added, and return how many others were evicted."""
        own = Signs(messages, start.known.signs)
        new = line._replace(signs=tuple(map(own.at, range(len(own)))))
        with self._changing:
            others = [known for known in self.get(key) or () if known is not start.replaces]
            return self.set(key, (new, *others)[:MOST_LINES])


def first(pair: tuple[int, Line]) -> int:
    return pair[0]


MOST_GUESSED: Final = 65_536
"""The number of guessed conversations that are distinguished from others that begin alike."""


class GuessedConversations:
    """Distinguishes guessed conversations that begin alike, by the model's first answer.

    The first one that continues keeps the name that its opening gave it, so that it keeps its name after the first
    answer; every other one gets a new name.
    """

    def __init__(self, ttl: float) -> None:
        self._answers: SlidingCache[tuple[str, str], str] = SlidingCache(MOST_GUESSED, ttl)
        self._changing = threading.Lock()

    def named(self, identity: RequestIdentity, messages: Sequence[Any]) -> RequestIdentity:
        """Return the identity with the name of its conversation; the same object if it is not a guess."""
        answer = first_answer(messages) if identity.is_guessed else ""
        if not answer:
            return identity
        key = (identity.tenant, identity.conversation)
        with self._changing:
            known = self._answers.get(key)
            if known is None:
                self._answers.set(key, answer)
        if known in (None, answer):
            return identity
        return replace(identity, conversation=digest("fork", identity.conversation, answer))


def first_answer(messages: Sequence[Any]) -> str:
    """Return a fingerprint of the messages up to the model's first one; empty if there is none."""
    try:
        for mark in marks(messages):
            if role_in(as_object(messages[mark.end - 1]) or {}) not in ("user", "system"):
                return mark.digest
    except (InputError, UnicodeError, RecursionError):
        return ""
    return ""
