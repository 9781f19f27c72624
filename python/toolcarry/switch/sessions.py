"""Sessions: the switch's memory of each conversation, bounded in size and time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, Protocol

from toolcarry._util.evictions import Evictions
from toolcarry._util.ttl_cache import SlidingCache, both_limits
from toolcarry.redact.logs import get_logger

__all__ = ["MemorySessions", "Prefix", "RequestLine", "SessionKey", "Sessions", "SwitchSession"]

logger = get_logger("toolcarry.switch")

MOST_LINES: Final = 64
"""The maximum number of request lines of one conversation: the main one, titles, sub-agents, and a client's requests to a small model."""
MOST_PREFIXES: Final = 4
"""Branches of one line: for the backend that answers, and for one that was asked and has not answered."""
SEVERAL: Final = "\0several"
"""The name for an unknown backend: the answers in a line count as another's for each backend."""
PARTED: Final = "\0parted"
"""The name if two backends answered the same request, so that the client chooses between the answers."""


class SessionKey(NamedTuple):
    """The tenant, and its conversation."""

    tenant: str
    conversation: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """The replacement for the beginning of a conversation at one backend, the same bytes each time.

    ``digest`` is that of the first ``count`` messages that count (``fingerprint.marks``), ``messages`` a JSON array.
    """

    backend: str
    count: int
    digest: str
    messages: bytes

    def is_for(self, other: Prefix) -> bool:
        """True if both are the same messages at the same backend."""
        return (self.backend, self.count, self.digest) == (other.backend, other.count, other.digest)


@dataclass(frozen=True, slots=True)
class RequestLine:
    """The messages that continue one first message: clients also request titles, and start sub-agents, under its id.

    ``backend`` answered last (empty: none has yet; ``SEVERAL``, ``PARTED``), ``asked`` was asked last. The newest prefix comes first.
    """

    first: str
    backend: str = ""
    asked: str = ""
    prefixes: tuple[Prefix, ...] = ()

    @property
    def is_answered(self) -> bool:
        """True if a backend answered, and none was asked since then."""
        return bool(self.backend) and not self.asked

    def with_prefix(self, prefix: Prefix) -> RequestLine:
        """Return the line with one more prefix, which replaces one for the same messages."""
        others = [known for known in self.prefixes if not known.is_for(prefix)]
        return replace(self, prefixes=(prefix, *others)[:MOST_PREFIXES])

    def answered_by(self, backend: str) -> RequestLine:
        """Return the line after a success: the beginnings for other backends are no longer valid.

        If another backend answered in the meantime, it is unknown with which answer the client continues. A line that
        has parted stays so until a beginning is sent that distinguishes its branches.
        """
        kept = tuple(prefix for prefix in self.prefixes if prefix.backend == backend)
        if self.backend == PARTED and not kept:
            return replace(self, asked="", prefixes=())
        is_late = self.backend not in ("", backend) and self.asked != backend and not kept
        return replace(self, backend=SEVERAL if is_late else backend, asked="", prefixes=kept)

    def without_prefixes(self) -> RequestLine:
        """Undo the record of the last request."""
        return replace(self, backend=SEVERAL, asked="", prefixes=()) if self.prefixes else self


@dataclass(frozen=True, slots=True)
class SwitchSession:
    """All lines of a conversation, the most recently used first, and the backend that answered last on any of them."""

    lines: tuple[RequestLine, ...] = ()
    backend: str = ""
    version: str = field(default="", compare=False, repr=False)
    """Where sessions are stored: which of those that were."""

    def line(self, first: str) -> RequestLine | None:
        """Return the line that begins with this message."""
        return next((line for line in self.lines if line.first == first), None)

    def with_line(self, line: RequestLine) -> SwitchSession:
        """Return the session with a branch added or changed. Beyond the limit the oldest line without a stored replacement is dropped."""
        lines = [line, *(known for known in self.lines if known.first != line.first)]
        if len(lines) > MOST_LINES:
            oldest = next((known for known in reversed(lines) if not known.prefixes), lines[-1])
            lines.remove(lines[-1] if oldest is line else oldest)
        return replace(self, lines=tuple(lines))

    def size(self) -> int:
        """The approximate number of bytes that it takes."""
        prefixes = [prefix for line in self.lines for prefix in line.prefixes]
        held = sum(len(prefix.messages) + 200 for prefix in prefixes)
        return 500 + 300 * len(self.lines) + held


class Sessions(Protocol):
    """A store of sessions. The methods never raise: a session that can't be read counts as absent.

    ``is_waiting`` is true if the methods wait for a disk or a network, so that an event loop must call them in a
    thread.
    """

    is_waiting: bool

    def load(self, key: SessionKey) -> SwitchSession | None:
        """The session of a conversation, if it is known."""

    def save(self, key: SessionKey, session: SwitchSession) -> None:
        """Keep the session of a conversation in place of the one before."""


class MemorySessions:
    """Sessions in the memory of this process. Each is kept for ``ttl`` seconds after its last use; the least recently
    used sessions are evicted if they take more than ``max_bytes``, or if there are more than ``max_entries`` (if
    given). ``counts`` says how many were ``evicted``. A session larger than the memory is stored without its
    replacements, so its conversation is carried again each time. ``clock`` returns the time in seconds.

    >>> sessions = MemorySessions(max_bytes=1_000_000)
    >>> sessions.save(SessionKey("", "c"), SwitchSession())
    >>> sessions.load(SessionKey("", "c"))
    SwitchSession(lines=(), backend='')
    """

    is_waiting = False

    def __init__(
        self,
        *,
        max_entries: int | None = None,
        ttl: float = 86_400.0,
        max_bytes: int = 256 << 20,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        counted = both_limits(max_entries, max_bytes, SwitchSession.size)
        self._cache = SlidingCache[SessionKey, SwitchSession](max_bytes, ttl, counted, clock=clock)
        self._evictions = Evictions(logger, "sessions", "sessions.max_bytes", clock=clock)

    def __len__(self) -> int:
        return len(self._cache)

    @property
    def counts(self) -> Counter[str]:
        """The number of sessions that were ``evicted``."""
        return Counter(evicted=self._evictions.count)

    def load(self, key: SessionKey) -> SwitchSession | None:
        """Return the session of a conversation; its time to live starts again."""
        return self._cache.get(key)

    def save(self, key: SessionKey, session: SwitchSession) -> None:
        """Keep the session of a conversation."""
        if session.size() > self._cache.max_size:
            session = replace(
                session, lines=tuple(line.without_prefixes() for line in session.lines)
            )
        self._evictions.add(self._cache.set(key, session))
