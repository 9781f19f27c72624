"""A cache that knows of the threads that it no longer waits for."""

from __future__ import annotations

from typing import Any

from toolcarry.tool_cache import ToolCache


class CountingCache(ToolCache):
    """Counts its looks that are not over yet, those that a late thread goes on with as well."""

    running = 0

    def _resolve(self, *asked: Any) -> Any:
        with self._lock:
            self.running += 1
        try:
            return super()._resolve(*asked)
        finally:
            with self._lock:
                self.running -= 1
