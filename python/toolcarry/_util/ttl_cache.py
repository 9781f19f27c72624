"""A cache whose entries live for some time from their last use on, for many threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from cachetools import TTLCache

from toolcarry.types import check_limit, check_seconds

__all__ = ["SlidingCache", "both_limits"]

K = TypeVar("K")
V = TypeVar("V")

STEPS: Final = 16
"""In how many steps a time to live begins anew: to write each use down would cost more than the use."""


class SlidingCache(Generic[K, V]):
    """Up to ``max_size`` of what ``size`` says of each value, for ``ttl`` seconds from its last use on, or up to a
    sixteenth more. Of too many that one goes which was used longest ago.
    ``clock`` returns the time in seconds.

    Raises ``ConfigError`` where ``ttl`` is no number of seconds above 0.

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
        """How much is held, as ``max_size`` counts it."""
        with self._lock:
            return int(self._held.currsize)

    def get(self, key: K) -> V | None:
        """What is held under a key, which lives anew; ``None`` where nothing is."""
        with self._lock:
            try:
                value, since = self._held[key]  # half the time of ``get``
            except KeyError:
                return None
            now = self._clock()
            if now - since > self._step:
                self._held[key] = (value, now)
            return value

    def set(self, key: K, value: V) -> int:
        """Hold a value under a key; how many others went for it, or in time.

        One that is larger than all there is room for leaves nothing there.
        """
        held = (value, self._clock())
        with self._lock:
            self._held.pop(key, None)
            before = len(self._held)
            if self._held.getsizeof(held) > self.max_size:
                return 0
            self._held[key] = held
            return before + 1 - len(self._held)


def both_limits(max_entries: int, max_bytes: int, size: Callable[[V], int]) -> Callable[[V], int]:
    """What a value counts for in a cache of ``max_bytes``, so that it never holds more than ``max_entries`` either.

    Raises ``ConfigError`` for a limit that is none.

    >>> counted = both_limits(10, 1_000, len)
    >>> counted(b"-" * 20), counted(b"-" * 200)
    (100, 200)
    """
    for name, value in (("max_entries", max_entries), ("max_bytes", max_bytes)):
        check_limit(name, value)
    least = max(max_bytes // max(max_entries, 1), 1)
    return lambda value: max(size(value), least)
