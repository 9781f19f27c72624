"""Locks for conversations: where a store is slow, one conversation does not wait for another."""

from __future__ import annotations

import threading
from typing import Final

from toolcarry.switch.sessions import SessionKey

__all__ = ["Locks"]

MOST: Final = 64


class Locks:
    """So many locks that two conversations rarely share one."""

    def __init__(self) -> None:
        self._locks = [threading.Lock() for _ in range(MOST)]

    def of(self, key: SessionKey) -> threading.Lock:
        """The lock of a conversation."""
        return self._locks[hash(key) % MOST]
