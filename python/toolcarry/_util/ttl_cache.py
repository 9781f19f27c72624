"""A thread-safe cache whose entries expire some time after their last use."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from cachetools import TTLCache

from toolcarry.types.values import check_limit, check_seconds

__all__ = ["SlidingCache", "both_limits"]

K = TypeVar("K")
V = TypeVar("V")

STEPS: Final = 16
"""The parts of a time to live. A use is recorded once per part: to record each one would cost more than the lookup."""


class SlidingCache(Generic[K, V]):
    """A cache whose entries expire ``ttl`` seconds after their last use, or up to a sixteenth later.
    The sizes of its values, by ``size`` (1 each by default), add up to ``max_size`` at most; the least recently used
    entry is evicted first. ``clock`` returns the time in seconds.

    Raises ``ConfigError`` unless ``ttl`` is a number of seconds above 0.

    >>> cache = SlidingCache[str, int](2, ttl=60.0)
    >>> cache.set("a", 1), cache.set("b", 2), cache.set("c", 3)
    (0, 0, 1)
    >>> cache.get("a"), cache.get("c"), len(cache)
    (None, 3, 2)
    """

    def __init__(
        self,
        max_size: int,
        ttl: float,
        size: Callable[[V], int] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_seconds("ttl", ttl)
        self.max_size = max_size
        self._step = ttl / STEPS
        self._clock = clock
        sized = None if size is None else lambda held: size(held[0])
        self._held: TTLCache[K, tuple[V, float]] = TTLCache(
            max_size, ttl + self._step, timer=clock, getsizeof=sized
        )
        self._lock = threading.Lock()

    def __len__(self) -> int:
        with self._lock:
            return len(self._held)

    @property
    def size(self) -> int:
        """The total size of the entries, in the unit of ``max_size``."""
        with self._lock:
            return int(self._held.currsize)

    def get(self, key: K) -> V | None:
        """Return the value of a key and restart its time to live; ``None`` if there is no value."""
        with self._lock:
            try:
                value, since = self._held[key]  # takes half the time of ``get``
            except KeyError:
                return None
            now = self._clock()
            if now - since > self._step:
                self._held[key] = (value, now)
            return value

    def set(self, key: K, value: V) -> int:
        """Set the value of a key, and return how many other entries were evicted before their time.

        A value that is larger than the whole cache is not stored, and the key's old value is removed.
        """
        held = (value, self._clock())
        with self._lock:
            self._held.pop(key, None)
            self._held.expire()
            before = len(self._held)
            if self._held.getsizeof(held) > self.max_size:
                return 0
            self._held[key] = held
            return before + 1 - len(self._held)


def both_limits(
    max_entries: int | None, max_bytes: int, size: Callable[[V], int]
) -> Callable[[V], int]:
    """Return a size function for a cache of ``max_bytes`` that also keeps it within ``max_entries``, if that is given.

    Raises ``ConfigError`` for an invalid limit.

    >>> counted = both_limits(10, 1_000, len)
    >>> counted(b"-" * 20), counted(b"-" * 200)
    (100, 200)
    """
    check_limit("max_bytes", max_bytes)
    if max_entries is None:
        return size
    check_limit("max_entries", max_entries)
    least = max(max_bytes // max(max_entries, 1), 1)
    return lambda value: max(size(value), least)
