"""Definitions in a store that others use or that outlives the process, with memory in front.

What the store gives is checked, since others may write there; where it can't be had, memory has to do.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, TypeVar

from toolcarry._input.json import dump, loads
from toolcarry._util.circuit_breaker import Breaker
from toolcarry._util.ttl_cache import STEPS
from toolcarry.errors import InputError
from toolcarry.redact.logs import get_logger
from toolcarry.tool_cache.definitions import Definitions, read_definitions
from toolcarry.tool_cache.memory import MemoryToolCache, ToolKey
from toolcarry.tool_cache.styles import FORMS, Style

__all__ = ["SharedToolCache", "StoreUnavailableError"]

T = TypeVar("T")

logger = get_logger("toolcarry.tool_cache")

TAG: Final = b"toolcarry tools 1\n"
DIGEST: Final = 32
MOST_CHARS: Final = 200
"""Of a model's name as it stands in a store."""


class StoreUnavailableError(Exception):
    """The store can't be had now; the message says why."""


class SharedToolCache(ABC):
    """What stores have in common. One is made of ``_read`` and ``_write``, which raise ``StoreUnavailableError``.

    After a failure the store is left alone for ``pause`` seconds. ``clock`` returns the time in seconds.
    """

    is_waiting = True

    def __init__(
        self,
        *,
        ttl: float,
        max_entries: int,
        pause: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.memory = MemoryToolCache(max_entries=max_entries, ttl=ttl, clock=clock)
        self.degraded = 0
        self._lock = threading.Lock()
        self._breaker = Breaker(pause, clock=clock)
        self._clock = clock
        self._step = ttl / STEPS

    def get(self, key: ToolKey) -> Definitions | None:
        """The definitions under a key, as they are in the store; as they are in memory, where that can't be had."""
        kept = self.memory.get(key)
        name = name_of(key)
        if kept is not None and kept.confirmed_at is None:
            # They came while the store could not be had.
            self._tell(name, kept)
            return kept
        is_had, data = self._reach(lambda: self._read(name))
        if not is_had:
            return kept
        found = None if data is None else opened(name, data)
        if data is not None and found is None:
            logger.warning("a foreign value is ignored")
            self._degrade()
        if found is None:
            if kept is not None:  # the store has lost it
                self._tell(name, kept)
            return kept
        if kept is not None and kept.is_same(found.style, found.given):
            found = kept
        else:
            found.asked_at = 0.0 if kept is None else kept.asked_at
            self.memory.set(key, found)
        found.confirmed_at = self._clock()
        return found

    def find(self, key: ToolKey, style: Style, given: bytes) -> Definitions | None:
        """The definitions under a key if they are these. Most requests bring what the last one brought: as long as it
        lives in the store anyway, that is not asked.
        """
        kept = self.memory.find(key, style, given)
        if kept is not None and self._is_confirmed(kept):
            return kept
        found = self.get(key)
        return found if found is not None and found.is_same(style, given) else None

    def set(self, key: ToolKey, definitions: Definitions) -> int:
        """Keep definitions under a key; how many others had to go from memory."""
        name = name_of(key)
        evicted = self.memory.set(key, definitions)
        if self.memory.get(key) is definitions:
            self._tell(name, definitions)
        return evicted

    @abstractmethod
    def close(self) -> None:
        """Let go of the store."""

    @abstractmethod
    def _read(self, name: str) -> bytes | None:
        """The value of a name, which lives anew."""

    @abstractmethod
    def _write(self, name: str, value: bytes) -> None:
        """Keep a value under a name."""

    def _is_confirmed(self, definitions: Definitions) -> bool:
        confirmed_at = definitions.confirmed_at
        return confirmed_at is not None and self._clock() - confirmed_at < self._step

    def _tell(self, name: str, definitions: Definitions) -> None:
        is_had, _ = self._reach(lambda: self._write(name, sealed(name, definitions)))
        if is_had:
            definitions.confirmed_at = self._clock()

    def _degrade(self) -> None:
        with self._lock:
            self.degraded += 1

    def _reach(self, access: Callable[[], T]) -> tuple[bool, T | None]:
        """Whether the store could be had, and what it gave."""
        if not self._breaker.may_try():
            self._degrade()
            return False, None
        try:
            found = access()
        except StoreUnavailableError as error:
            self._breaker.failed()
            self._degrade()
            logger.warning("the tools in memory have to do: %s", error)
            return False, None
        except BaseException:
            self._breaker.failed()
            raise
        self._breaker.succeeded()
        return True, found


def name_of(key: ToolKey) -> str:
    """What an entry is called in a store: nothing in it can be taken for another one's, and no scope is readable.

    >>> name_of(("", "llama3"))
    'e3b0c44298fc1c149afbf4c8996fb924:model_llama3'
    """
    scope, model = key
    owner = hashed(scope)[:32]
    is_plain = len(model) <= MOST_CHARS and model.isprintable() and model.isascii()
    return f"{owner}:model_{model}" if is_plain else f"{owner}:model#{hashed(model)}"


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sealed(name: str, definitions: Definitions) -> bytes:
    """Definitions as a value that is good under one name only."""
    body = dump([definitions.style, definitions.given.decode()])
    return TAG + checksum(name, body) + body


def opened(name: str, value: bytes) -> Definitions | None:
    """The definitions of a value; ``None`` where it is another one's, or broken."""
    start = len(TAG) + DIGEST
    body = value[start:]
    if not value.startswith(TAG) or not hmac.compare_digest(
        value[len(TAG) : start], checksum(name, body)
    ):
        return None
    try:
        style, given = loads(body)
        if style not in FORMS:
            return None
        definitions, _ = read_definitions(given.encode(), style)
    except (InputError, ValueError, TypeError, AttributeError):
        return None
    return definitions


def checksum(name: str, body: bytes) -> bytes:
    return hashlib.sha256(TAG + len(name).to_bytes(8, "big") + name.encode() + body).digest()
