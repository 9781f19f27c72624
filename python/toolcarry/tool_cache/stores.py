"""Stores of tool definitions: the memory of one process, and the common part of shared stores such as Redis.

A shared store has memory in front of it. Its values are verified, since others may write there; if it is unavailable,
only the memory is used. Redis needs version 6.2 or newer, and the extra ``redis``. ``sqlite`` has the store in a file.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from toolcarry._input.json import dump, loads
from toolcarry._util.circuit_breaker import Breaker
from toolcarry._util.evictions import Evictions
from toolcarry._util.ttl_cache import STEPS, SlidingCache, both_limits
from toolcarry.errors import ConfigError, InputError
from toolcarry.redact.logs import get_logger
from toolcarry.tool_cache.definitions import FORMS, Definitions, Style, read_definitions
from toolcarry.types.values import check_seconds

__all__ = [
    "MemoryToolCache",
    "RedisToolCache",
    "SharedToolCache",
    "StoreUnavailableError",
    "ToolKey",
    "ToolStore",
]

ToolKey: TypeAlias = tuple[str, str]
"""The scope of definitions, and their model."""

logger = get_logger("toolcarry.tool_cache")


class ToolStore(Protocol):
    """A store of definitions. The methods never raise: definitions that can't be read count as missing.

    ``is_waiting`` is true if the store waits for a disk or a network, so that an event loop must access it in a thread;
    ``memory`` then has the definitions that need no wait. ``degraded`` counts how often only ``memory`` was available.
    """

    is_waiting: bool
    degraded: int

    @property
    def memory(self) -> MemoryToolCache:
        """The definitions in the memory of this process."""

    def get(self, key: ToolKey) -> Definitions | None:
        """Return the definitions under a key; their time to live starts again."""

    def find(self, key: ToolKey, style: Style, given: bytes) -> Definitions | None:
        """Return the definitions under a key if they are these; their time to live then starts again."""

    def set(self, key: ToolKey, definitions: Definitions) -> int:
        """Store definitions under a key, and return the number of evicted entries."""

    def close(self) -> None:
        """Close what is open."""


class MemoryToolCache:
    """Definitions in the memory of this process. They are kept for ``ttl`` seconds after their last use, or up to a
    sixteenth longer; the least recently used ones are evicted if they take more than ``max_bytes``, or belong to more
    than ``max_entries`` scopes and models (if given). ``clock`` returns the time in seconds.

    >>> len(MemoryToolCache(max_entries=10))
    0
    """

    is_waiting = False
    degraded = 0

    def __init__(
        self,
        *,
        max_entries: int | None = None,
        ttl: float = 3_600.0,
        max_bytes: int = 256 << 20,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        counted = both_limits(max_entries, max_bytes, Definitions.size)
        self._held = SlidingCache[ToolKey, Definitions](max_bytes, ttl, counted, clock=clock)
        self._evictions = Evictions(logger, "tool definitions", "tool_cache.max_bytes", clock=clock)

    def __len__(self) -> int:
        return len(self._held)

    @property
    def memory(self) -> MemoryToolCache:
        """This store itself."""
        return self

    def get(self, key: ToolKey) -> Definitions | None:
        """Return the definitions under a key; their time to live starts again."""
        return self._held.get(key)

    def find(self, key: ToolKey, style: Style, given: bytes) -> Definitions | None:
        """Return the definitions under a key if they are these; their time to live then starts again."""
        kept = self._held.get(key)
        return kept if kept is not None and kept.is_same(style, given) else None

    def set(self, key: ToolKey, definitions: Definitions) -> int:
        """Store definitions under a key, unless a later request did, and return the number of evicted entries."""
        kept = self._held.get(key)
        if kept is not None and kept.asked_at > definitions.asked_at:
            return 0
        evicted = self._held.set(key, definitions)
        self._evictions.add(evicted)
        return evicted

    def close(self) -> None:
        """Do nothing: nothing is open."""


T = TypeVar("T")

TAG: Final = b"toolcarry tools 1\n"
DIGEST: Final = 32
MOST_CHARS: Final = 200
"""The longest model name in a store's key."""


class StoreUnavailableError(Exception):
    """The store is not available now; the message says why."""


class SharedToolCache(ABC):
    """The common part of stores. A store implements ``_read`` and ``_write``, which raise ``StoreUnavailableError``.

    After a failure the store is not accessed for ``pause`` seconds. ``clock`` returns the time in seconds.
    """

    is_waiting = True

    def __init__(
        self,
        *,
        ttl: float,
        max_entries: int | None,
        pause: float,
        max_bytes: int = 256 << 20,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.memory = MemoryToolCache(
            max_entries=max_entries, ttl=ttl, max_bytes=max_bytes, clock=clock
        )
        self.degraded = 0
        self._lock = threading.Lock()
        self._breaker = Breaker(pause, clock=clock)
        self._clock = clock
        self._step = ttl / STEPS

    def get(self, key: ToolKey) -> Definitions | None:
        """Return the definitions under a key from the store, or from memory if the store is not available."""
        kept = self.memory.get(key)
        name = name_of(key)
        if kept is not None and kept.confirmed_at is None:
            # They arrived while the store was not available.
            self._publish(name, kept)
            return kept
        is_had, data = self._reach(lambda: self._read(name))
        if not is_had:
            return kept
        found = None if data is None else unseal(name, data)
        if data is not None and found is None:
            logger.warning("ignored a value that toolcarry did not write")
            self._degrade()
        if found is None:
            if kept is not None:  # the store has lost it
                self._publish(name, kept)
            return kept
        if kept is not None and kept.is_same(found.style, found.given):
            found = kept
        else:
            found.asked_at = 0.0 if kept is None else kept.asked_at
            self.memory.set(key, found)
        found.confirmed_at = self._clock()
        return found

    def find(self, key: ToolKey, style: Style, given: bytes) -> Definitions | None:
        """Return the definitions under a key if they are these. Most requests have the same tools as the last one: the store
        is not accessed while they can't have expired there.
        """
        kept = self.memory.find(key, style, given)
        if kept is not None and self._is_confirmed(kept):
            return kept
        found = self.get(key)
        return found if found is not None and found.is_same(style, given) else None

    def set(self, key: ToolKey, definitions: Definitions) -> int:
        """Store definitions under a key, and return the number of entries that were evicted from memory."""
        name = name_of(key)
        evicted = self.memory.set(key, definitions)
        if self.memory.get(key) is definitions:
            self._publish(name, definitions)
        return evicted

    @abstractmethod
    def close(self) -> None:
        """Close the store."""

    @abstractmethod
    def _read(self, name: str) -> bytes | None:
        """Return the value of a name; its time to live starts again."""

    @abstractmethod
    def _write(self, name: str, value: bytes) -> None:
        """Store a value under a name."""

    def _is_confirmed(self, definitions: Definitions) -> bool:
        confirmed_at = definitions.confirmed_at
        return confirmed_at is not None and self._clock() - confirmed_at < self._step

    def _publish(self, name: str, definitions: Definitions) -> None:
        is_had, _ = self._reach(lambda: self._write(name, seal(name, definitions)))
        if is_had:
            definitions.confirmed_at = self._clock()

    def _degrade(self) -> None:
        with self._lock:
            self.degraded += 1

    def _reach(self, access: Callable[[], T]) -> tuple[bool, T | None]:
        """Call the store. Return whether it was available, and its answer."""
        if not self._breaker.may_try():
            self._degrade()
            return False, None
        try:
            found = access()
        except StoreUnavailableError as error:
            self._breaker.failed()
            self._degrade()
            logger.warning("using the tools in memory: %s", error)
            return False, None
        except BaseException:
            self._breaker.failed()
            raise
        self._breaker.succeeded()
        return True, found


def name_of(key: ToolKey) -> str:
    """Return the name of an entry in a store: unique, and without a readable scope.

    >>> name_of(("", "llama3"))
    'e3b0c44298fc1c149afbf4c8996fb924:model_llama3'
    """
    scope, model = key
    owner = hashed(scope)[:32]
    is_plain = len(model) <= MOST_CHARS and model.isprintable() and model.isascii()
    return f"{owner}:model_{model}" if is_plain else f"{owner}:model#{hashed(model)}"


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def seal(name: str, definitions: Definitions) -> bytes:
    """Return definitions as a value that is valid under one name only."""
    body = dump([definitions.style, definitions.given.decode()])
    return TAG + checksum(name, body) + body


def unseal(name: str, value: bytes) -> Definitions | None:
    """Return the definitions of a value; ``None`` if it belongs to another name, or is damaged."""
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


PREFIX: Final = "toolcarry:tools:"


class RedisToolCache(SharedToolCache):
    """Definitions in the Redis at ``url``, for ``ttl`` seconds from their last use on. Those that were last used
    here are also in memory, within ``max_entries`` and ``max_bytes``, which has to do while Redis can't be had.

    Redis is waited for no longer than ``timeout`` seconds, once; after a failure it is left alone for ``pause`` seconds
    by ``clock``.
    It connects on first use. Raises ``ConfigError`` if the extra is not installed, or ``url`` is not valid.

    >>> cache = RedisToolCache("redis://127.0.0.1:1", timeout=0.01)
    >>> cache.get(("", "llama3")), cache.degraded
    (None, 1)
    """

    def __init__(
        self,
        url: str,
        *,
        ttl: float = 3_600.0,
        max_entries: int | None = None,
        max_bytes: int = 256 << 20,
        timeout: float = 0.03,
        pause: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(
            ttl=ttl, max_entries=max_entries, pause=pause, max_bytes=max_bytes, clock=clock
        )
        check_seconds("timeout", timeout)
        try:
            import redis  # noqa: PLC0415 - an extra, which takes a third of a second
            from redis.backoff import NoBackoff  # noqa: PLC0415 - as above
            from redis.retry import Retry  # noqa: PLC0415 - as above
        except ModuleNotFoundError as error:
            raise ConfigError(
                "redis_url: needs redis, which is not installed; pip install 'toolcarry[redis]'"
            ) from error
        self._refused: type[Exception] = redis.ResponseError
        self._ttl = max(1, round(ttl * 1_000))
        try:
            self._client: Any = redis.Redis.from_url(
                url,
                socket_timeout=timeout,
                socket_connect_timeout=timeout,
                retry=Retry(NoBackoff(), 0),
                health_check_interval=0,
            )
        except (ValueError, TypeError, LookupError) as error:
            raise ConfigError(
                "redis_url: is not allowed; allowed: redis://..., rediss://..., unix://..."
            ) from error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _read(self, name: str) -> bytes | None:
        found = self._ask(lambda: self._client.getex(PREFIX + name, px=self._ttl))
        return found if isinstance(found, bytes) else None

    def _write(self, name: str, value: bytes) -> None:
        self._ask(lambda: self._client.set(PREFIX + name, value, px=self._ttl))

    def _ask(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except self._refused as error:  # Redis answers, but the value under the name is not ours
            self._degrade()
            logger.warning("Redis refused to read or write a value: %s", type(error).__name__)
            return None
        except Exception as error:  # a server that is not Redis makes the client fail in any way
            raise StoreUnavailableError(type(error).__name__) from error
