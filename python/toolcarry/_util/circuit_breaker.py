"""A circuit breaker, which pauses attempts after a failure."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

__all__ = ["Breaker"]


class Breaker:
    """Block attempts for ``pause`` seconds after a failure, then allow one caller at a time until one succeeds.

    ``clock`` returns the time in seconds.

    >>> breaker = Breaker(pause=60.0)
    >>> breaker.may_try(), breaker.failed(), breaker.may_try()
    (True, None, False)
    """

    def __init__(self, pause: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._pause = pause
        self._clock = clock
        self._lock = threading.Lock()
        self._open_until = 0.0
        self._is_probing = False

    def may_try(self) -> bool:
        """Return true if the caller may try. It must then call ``failed`` or ``succeeded``."""
        if not self._open_until:
            return True
        with self._lock:
            if self._is_probing or self._clock() < self._open_until:
                return False
            self._is_probing = self._open_until > 0.0
            return True

    def failed(self) -> None:
        """Report that the attempt failed."""
        with self._lock:
            self._open_until = self._clock() + self._pause
            self._is_probing = False

    def succeeded(self) -> None:
        """Report that the attempt succeeded."""
        if self._open_until:
            with self._lock:
                self._open_until = 0.0
                self._is_probing = False
