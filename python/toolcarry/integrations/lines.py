"""The lines of a conversation: which earlier request a new request continues, and the decisions made for that one.

    messages  u1 a1 r1 a2 r2      line A: the fingerprints of all its messages, and its decisions
    messages  u1 a1 r1 a2 r2 a3   continues A, because A's last messages are in place
    messages  u1 a1 r1 b2 s2      shares three messages with A: a new line, which begins with A's decisions

A request continues the longest line that it contains. A conversation that is continued in two ways has two lines, and
neither changes what the other one sends. A fingerprint ignores what clients change between requests: cache marks,
thinking, reminders, and whether text is a string or a part. The lines in ``recorder.lines`` are another thing: they are
stored, are valid in every process, and identify a result by the id of its call alone.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from msgspec import structs

from toolcarry._input.objects import as_object
from toolcarry._util.ttl_cache import SlidingCache
from toolcarry.errors import InputError
from toolcarry.integrations.identity import RequestIdentity, digest
from toolcarry.switch.fingerprint import marks, said_in
from toolcarry.switch.request_fields import LazyMessages
from toolcarry.switch.request_view import role_in
from toolcarry.types.values import Decisions

__all__ = [
    "LAST",
    "GuessedConversations",
    "KnownLines",
    "LineKey",
    "LineState",
    "SentParts",
    "Start",
    "first",
    "shared_by",
]

LineKey = tuple[str, str, str]
"""The tenant, the conversation, and a hash of its first messages, since title requests and sub-agents have the same
conversation id."""
MOST_LINES: Final = 16
"""The maximum number of lines with the same first messages; then the least recently used one is evicted."""
EXCERPT_BYTES: Final = 256
"""The bytes of excerpts that count as much as a decision."""
LAST: Final = 4
"""The number of messages at the end of a line that are compared. If these are equal, so are those before them."""


class SentParts(NamedTuple):
    """The parts of a request as it was sent: a hash of the frame and of each message, and the bytes up to their ends.

    A place is the number of messages before it. ``marks`` are those of the marks for the cache, and ``searched`` those at
    which it looks for a beginning. ``kept`` are the beginnings that the cache then has of the conversation, and
    ``kept_unchanged`` those that it would have without a projection.
    """

    signs: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    marks: frozenset[int] = frozenset()
    searched: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()
    kept_unchanged: frozenset[int] = frozenset()


class LineState(NamedTuple):
    """The state of a line after its last request: a fingerprint of each message, the decisions, the number of calls
    without result, the calls whose results were left out, hashes of the last messages as they were spelled, and the request
    as it was sent, with its time and model.
    """

    signs: tuple[int, ...] = ()
    decisions: Decisions | None = None
    missing: int = 0
    put_away: frozenset[int] = frozenset()
    spellings: tuple[int, ...] = ()
    sent: SentParts = SentParts()
    sent_at: float = 0.0
    model: object = None

    def weight(self) -> int:
        """Return the number of decisions, those with long excerpts counted several times, plus an eighth of the number of
        fingerprints and hashes."""
        made = self.decisions or Decisions()
        own = len(made.made) + len(made.dropped) + len(made.mends)
        own += sum(map(len, made.excerpts.values())) // EXCERPT_BYTES
        return own + (len(self.signs) + len(self.put_away) + 4 * len(self.sent.signs)) // 8


class Start(NamedTuple):
    """The known start of a request: the decisions about its first ``shared`` messages, and the line that it
    replaces."""

    known: LineState
    shared: int = 0
    replaces: LineState | None = None


NEW: Final = Start(LineState())


class Signs:
    """The fingerprints of a request's messages, each computed on demand."""

    def __init__(self, messages: Sequence[Any], known: Sequence[int] = ()) -> None:
        self._messages = messages
        self._made = dict(enumerate(known))

    def __len__(self) -> int:
        return len(self._messages)

    def __getitem__(self, position: int) -> int:
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

    def goes_on_from(self, line: LineState) -> bool:
        """Return true if the request contains all messages of a line, judging by the last ones."""
        count = len(line.signs)
        if count > len(self):
            return False
        places = last_places(count)
        if (
            line.spellings and self.spellings(count) == line.spellings
        ):  # which is seen without decoding them
            self._made.update((place, line.signs[place]) for place in places)
        return all(self[place] == line.signs[place] for place in places)

    def spellings(self, count: int) -> tuple[int, ...]:
        """Return hashes of the last of the first ``count`` messages as they are spelled; none if that is not known."""
        messages = self._messages
        if not isinstance(messages, LazyMessages):
            return ()
        return tuple(hash(messages.written(place)) for place in last_places(count))


def last_places(count: int) -> range:
    """Return the places of the last of ``count`` messages that are compared."""
    return range(max(count - LAST, 0), count)


def shared_by(one: Sequence[int] | Signs, other: Sequence[int]) -> int:
    """Return the number of messages at the beginning that two lists of fingerprints share."""
    most = min(len(one), len(other))
    return next((place for place in range(most) if one[place] != other[place]), most)


def sign_of(message: object) -> int:
    """Return the fingerprint of a message, valid in this process; 0 for a message without a speaker."""
    record = as_object(message)
    if record is None:
        return 0
    role = role_in(record)
    said = None if role == "system" else said_in(record, is_model=role == "assistant")
    return 0 if said is None else hash(said)


def weigh(lines: tuple[LineState, ...]) -> int:
    """Return the weight of the lines of one key: that of each line, plus four."""
    return sum(4 + line.weight() for line in lines)


class KnownLines(SlidingCache[LineKey, tuple[LineState, ...]]):
    """The lines of all conversations: at most ``max_decisions`` decisions in total, each key kept for ``ttl``
    seconds."""

    def __init__(self, max_decisions: int, ttl: float) -> None:
        super().__init__(max_decisions, ttl, weigh)
        self._changing = threading.Lock()

    def start_of(self, key: LineKey, messages: Sequence[Any]) -> Start:
        """Find the line that a request continues; if there are several, the longest."""
        lines, own = self.get(key) or (), Signs(messages)
        whole = max(filter(own.goes_on_from, lines), key=lambda line: len(line.signs), default=None)
        if whole is not None:
            return Start(whole, len(whole.signs), whole)
        shared, fork = max(
            ((shared_by(own, line.signs), line) for line in lines), key=first, default=(0, None)
        )
        if fork is None or not shared:
            return NEW
        decisions = fork.decisions
        if decisions is not None:
            decisions = structs.replace(decisions, messages=min(shared, decisions.messages))
        return Start(fork._replace(signs=fork.signs[:shared], decisions=decisions), shared)

    def keep(self, key: LineKey, messages: Sequence[Any], start: Start, line: LineState) -> int:
        """Store a line with the fingerprints of its request, and return the number of evicted lines."""
        own = Signs(messages, start.known.signs)
        signs = tuple(own[position] for position in range(len(own)))
        new = line._replace(signs=signs, spellings=own.spellings(len(own)))
        with self._changing:
            others = [known for known in self.get(key) or () if known is not start.replaces]
            return self.set(key, (new, *others)[:MOST_LINES])


def first(pair: tuple[int, object]) -> int:
    return pair[0]


MOST_GUESSED: Final = 65_536
"""The maximum number of guessed conversations whose first answer is remembered."""


class GuessedConversations:
    """Distinguishes guessed conversations that begin alike, by the model's first answer.

    The first one that continues keeps the name that was derived from its first messages; every other one gets a new
    name.
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
