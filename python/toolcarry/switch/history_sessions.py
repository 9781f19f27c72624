"""Sessions in the store of the history, so that after a restart, or in another worker, requests begin with the same
bytes.

Each change is a commit in a conversation of the tenant, named after the conversation it belongs to, so that ``forget``
finds it. Each access asks the store for the newest commit, so that workers see each other's changes, and reads it if
memory has an older one. If the store is unavailable, memory serves for a while.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from toolcarry._input.json import dump, loads
from toolcarry._util.circuit_breaker import Breaker
from toolcarry._util.ttl_cache import SlidingCache, both_limits
from toolcarry.errors import InputError, StoreError
from toolcarry.redact.logs import get_logger
from toolcarry.switch.sessions import Prefix, RequestLine, SessionKey, SwitchSession
from toolcarry.tract.store import open_database
from toolcarry.tract.store.log import Draft, Head, Log
from toolcarry.tract.store.types import Kind

__all__ = ["HistorySessions", "conversation_of"]

logger = get_logger("toolcarry.switch")

SUFFIX: Final = "#switch"
NO_LINES: Final = SwitchSession()


def conversation_of(conversation: str) -> str:
    """Return the name of the conversation in the history that holds the sessions of this one.

    >>> conversation_of("c1")
    'c1#switch'
    """
    return f"{conversation}{SUFFIX}"


class HistorySessions:
    """Sessions in the canonical history at ``target``: a file, or ``postgresql://...``.

    The store has no size limit. A memory cache in front of it has the ``max_entries``, ``ttl`` and ``max_bytes`` of
    ``MemorySessions``; evicted sessions are read from the store again. An access takes at most ``busy_timeout``
    seconds; after a failure, the store is not accessed for ``pause`` seconds, measured by ``clock``. ``counts`` has the
    number of accesses that were ``loaded``, ``saved``, ``failed`` and ``paused``.

    Raises ``ConfigError`` for an invalid target, and ``StoreError`` if the store can't be opened.
    """

    is_waiting = True

    def __init__(
        self,
        target: str | os.PathLike[str],
        *,
        max_entries: int | None = None,
        ttl: float = 86_400.0,
        max_bytes: int = 256 << 20,
        busy_timeout: float = 1.0,
        pause: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        counted = both_limits(max_entries, max_bytes, SwitchSession.size)
        self._memory = SlidingCache[SessionKey, SwitchSession](max_bytes, ttl, counted, clock=clock)
        self._database = open_database(target, busy_timeout=busy_timeout)
        self._breaker = Breaker(pause, clock=clock)
        self._lock = threading.Lock()
        self.counts: Counter[str] = Counter()

    def load(self, key: SessionKey) -> SwitchSession | None:
        """Return the newest stored session of a conversation, or the one in memory if the store is unavailable."""
        kept = self._memory.get(key)
        stored = self._reach("loaded", lambda: self._read(key, kept))
        if stored is None or stored is kept:
            return kept
        if kept is not None:
            stored = with_asked(stored, kept)
        self._memory.set(key, stored)
        return stored

    def save(self, key: SessionKey, session: SwitchSession) -> None:
        """Keep the session of a conversation; it is stored if it has changed."""
        before = self._memory.get(key) or NO_LINES
        if lasting(session) != lasting(before):
            session = self._reach("saved", lambda: self._write(key, before, session)) or session
        self._memory.set(key, session)

    def close(self) -> None:
        """Close the store."""
        self._database.close()

    def _log(self, key: SessionKey) -> Log:
        return Log(self._database, key.tenant, conversation_of(key.conversation))

    def _read(self, key: SessionKey, kept: SwitchSession | None) -> SwitchSession:
        log = self._log(key)
        newest = next(iter(log.newest(1)), None)
        if newest is None:
            return kept or NO_LINES
        if kept is not None and kept.version == newest.commit_hash:
            return kept
        return replace(decode(log.content(newest)), version=newest.commit_hash)

    def _write(
        self, key: SessionKey, before: SwitchSession, session: SwitchSession
    ) -> SwitchSession:
        """Store a session that was ``before``. If another worker has written since then, its changes stay."""
        log = self._log(key)
        written = session

        def make(head: Head) -> list[Draft]:
            nonlocal written
            newest = head[1]
            if newest is not None and newest.hex() != session.version:
                written = rebased(self._read(key, None), before, session)
            return [Draft("system", Kind.MESSAGE, encode(written), {"switch": 1}, 0)]

        (commit,) = log.append_to(make)
        return replace(written, version=commit.commit_hash)

    def _reach(self, done: str, access: Callable[[], SwitchSession]) -> SwitchSession | None:
        """Access the store; ``None`` if the access failed or was not tried."""
        if not self._breaker.may_try():
            self._count("paused")
            return None
        try:
            session = access()
        except BaseException as error:
            self._breaker.failed()
            if not isinstance(error, (StoreError, InputError)):
                raise
            self._count("failed")
            logger.warning("the session store is unavailable: %s", type(error).__name__)
            return None
        self._breaker.succeeded()
        self._count(done)
        return session

    def _count(self, what: str) -> None:
        with self._lock:
            self.counts[what] += 1


def rebased(stored: SwitchSession, before: SwitchSession, session: SwitchSession) -> SwitchSession:
    """Return ``stored`` with the changes from ``before`` to ``session``."""
    for line in reversed(session.lines):
        if line not in before.lines:
            stored = stored.with_line(line)
    return replace(stored, backend=session.backend)


def with_asked(stored: SwitchSession, kept: SwitchSession) -> SwitchSession:
    """Return ``stored`` with the backends that were asked here and have not answered."""
    for line in reversed(kept.lines):
        if line.asked and stored.line(line.first) in (None, replace(line, asked="")):
            stored = stored.with_line(line)
    return stored


def lasting(session: SwitchSession) -> object:
    """Return the part of a session that outlives a process: without open requests and the branch used last."""
    lines = {line.first: (line.backend, line.prefixes) for line in session.lines}
    return {first: known for first, known in lines.items() if any(known)}, session.backend


def encode(session: SwitchSession) -> bytes:
    """Return a session as JSON."""
    lines = [
        {
            "first": line.first,
            "backend": line.backend,
            "prefixes": [
                {
                    "backend": prefix.backend,
                    "count": prefix.count,
                    "digest": prefix.digest,
                    "messages": prefix.messages.decode(),
                }
                for prefix in line.prefixes
            ],
        }
        for line in session.lines
    ]
    return dump({"backend": session.backend, "lines": lines})


def decode(data: bytes) -> SwitchSession:
    """Decode the output of ``encode``. Raises ``InputError`` for anything else."""
    document = loads(data)
    try:
        lines = [
            RequestLine(
                line["first"],
                line["backend"],
                "",
                tuple(
                    Prefix(
                        prefix["backend"],
                        prefix["count"],
                        prefix["digest"],
                        prefix["messages"].encode(),
                    )
                    for prefix in line["prefixes"]
                ),
            )
            for line in document["lines"]
        ]
        return SwitchSession(tuple(lines), document["backend"])
    except (TypeError, KeyError, AttributeError) as error:
        raise InputError(f"no session: {type(error).__name__}", None) from None
