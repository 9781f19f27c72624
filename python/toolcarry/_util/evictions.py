"""Evictions from a bounded memory: counted, and logged once a minute, so that a limit is never reached in silence."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

__all__ = ["Evictions"]

EVERY: Final = 60.0
"""Seconds between two lines of the log."""


class Evictions:
    """Counts the entries that a memory gave up because it is full. ``clock`` returns the time in seconds.

    >>> evictions = Evictions(logging.getLogger("example"), "sessions", "sessions.max_bytes")
    >>> evictions.add(0), evictions.add(2), evictions.count
    (None, None, 2)
    """

    def __init__(
        self,
        logger: logging.Logger,
        entries: str,
        setting: str,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.count = 0
        self._logger = logger
        self._texts = (entries, setting)
        self._clock = clock
        self._logged = 0
        self._next = float("-inf")
        self._lock = threading.Lock()

    def add(self, number: int) -> None:
        """Count evictions; log those since the last line, if that is a minute ago."""
        if not number:
            return
        with self._lock:
            self.count += number
            now = self._clock()
            if now < self._next:
                return
            new, self._logged, self._next = self.count - self._logged, self.count, now + EVERY
        entries, setting = self._texts
        self._logger.warning(
            "memory is full: %d %s were forgotten; raise %s", new, entries, setting
        )
