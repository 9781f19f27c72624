"""Equal work that is asked for while it is being done is done once."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

__all__ = ["Flights"]

T = TypeVar("T")


class Flights(Generic[T]):
    """Who comes first to a key does the work, and lands it; who comes meanwhile waits for the future.

    The result is ``None`` where the first one went away without any: then who waited begins anew.

    >>> flights: Flights[str] = Flights()
    >>> future, is_first = flights.board("a")
    >>> flights.board("a") == (future, False), flights.land("a", "done"), future.result(), is_first
    (True, None, 'done', True)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[Hashable, Future[T | None]] = {}

    def board(self, key: Hashable) -> tuple[Future[T | None], bool]:
        """The future of a key, and whether it is for the caller to do the work."""
        with self._lock:
            found = self._under_way.get(key)
            if found is not None:
                return found, False
            future: Future[T | None] = Future()
            future.set_running_or_notify_cancel()  # one that waits may go away, the others wait on
            self._under_way[key] = future
            return future, True

    def land(self, key: Hashable, result: T | None) -> None:
        """Give all that wait what came of it."""
        with self._lock:
            future = self._under_way.pop(key)
        future.set_result(result)
