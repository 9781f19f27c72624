"""Answers that are still being recorded when the next request of the conversation arrives."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from toolcarry.switch.sessions import SessionKey

__all__ = ["PendingAnswers"]


class PendingAnswers:
    """The pending answers of each conversation, in each event loop.

    If sessions are stored on a disk, a request could overtake the answer to the previous one, and would look like a
    request after no answer.
    """

    def __init__(self) -> None:
        self._under_way: dict[SessionKey, list[asyncio.Future[None]]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def of(self, key: SessionKey) -> Iterator[None]:
        """Hold this while an answer of the conversation is reported. It is pending from the start."""
        told: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self._lock:
            waiting = self._under_way.setdefault(key, [])
            waiting.append(told)
        try:
            yield
        finally:
            with self._lock:
                waiting.remove(told)
                if not waiting:
                    self._under_way.pop(key, None)
            if not told.done():
                told.set_result(None)

    async def end(self, key: SessionKey) -> None:
        """Wait until all answers in progress of a conversation have been recorded."""
        loop = asyncio.get_running_loop()
        with self._lock:
            waiting = [told for told in self._under_way.get(key, ()) if told.get_loop() is loop]
        if waiting:
            await asyncio.wait(waiting)
