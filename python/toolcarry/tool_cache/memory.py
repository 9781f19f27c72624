"""Definitions in the memory of one process; and what the cache asks of a store."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, TypeAlias

from toolcarry._util.ttl_cache import SlidingCache, both_limits
from toolcarry.tool_cache.definitions import Definitions
from toolcarry.tool_cache.styles import Style

__all__ = ["MemoryToolCache", "ToolKey", "ToolStore"]


ToolKey: TypeAlias = tuple[str, str]
"""Whose definitions, which is the scope, and for which model."""


class ToolStore(Protocol):
    """Where definitions are kept. No method raises: what can't be had is not there.

    ``is_waiting`` says that it waits for a disk or a network, so that an event loop asks in a thread; ``memory`` is then
    what there is without waiting. ``degraded`` counts how often that had to do.
    """

    is_waiting: bool
    degraded: int

    @property
    def memory(self) -> MemoryToolCache:
        """What is in the memory of this process."""

    def get(self, key: ToolKey) -> Definitions | None:
        """The definitions under a key, which live anew."""

    def find(self, key: ToolKey, style: Style, given: bytes) -> Definitions | None:
        """The definitions under a key if they are these, which then live anew."""

    def set(self, key: ToolKey, definitions: Definitions) -> int:
        """Keep definitions under a key; how many others had to go."""

    def close(self) -> None:
        """Let go of what is open."""


class MemoryToolCache:
    """Definitions of up to ``max_entries`` scopes and models, of ``max_bytes`` together, each for ``ttl`` seconds from
    its last use on, or up to a sixteenth more. Those that were used longest ago go first. ``clock`` returns the time in
    seconds.

    >>> len(MemoryToolCache(max_entries=10))
    0
    """

    is_waiting = False
    degraded = 0

    def __init__(
        self,
        *,
        max_entries: int = 1_024,
        ttl: float = 3_600.0,
        max_bytes: int = 64 << 20,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        counted = both_limits(max_entries, max_bytes, Definitions.size)
        self._held = SlidingCache[ToolKey, Definitions](max_bytes, ttl, counted, clock=clock)

    def __len__(self) -> int:
        return len(self._held)

    @property
    def memory(self) -> MemoryToolCache:
        """This one."""
        return self

    def get(self, key: ToolKey) -> Definitions | None:
        """The definitions under a key, which live anew."""
        return self._held.get(key)

    def find(self, key: ToolKey, style: Style, given: bytes) -> Definitions | None:
        """The definitions under a key if they are these, which then live anew."""
        kept = self._held.get(key)
        return kept if kept is not None and kept.is_same(style, given) else None

    def set(self, key: ToolKey, definitions: Definitions) -> int:
        """Keep definitions under a key, unless there are some of a later request; how many others had to go."""
        kept = self._held.get(key)
        if kept is not None and kept.asked_at > definitions.asked_at:
            return 0
        return self._held.set(key, definitions)

    def close(self) -> None:
        """Nothing is open."""
