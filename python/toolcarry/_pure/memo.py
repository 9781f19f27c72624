"""Counts of texts that were counted before: an agent sends the whole conversation with every request.

A text is known by a hash of 128 bits. Its key is made anew in every process, so that nobody can look for a text that
is taken for another. The counts that were not asked for the longest are forgotten first.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from hashlib import blake2b
from threading import Lock

from toolcarry._pure.tokens import count_tokens
from toolcarry.types import EncodingName

DEFAULT_BYTES = 16 << 20
ENTRY_BYTES = 256
"""What a count takes with all that is kept of it."""
SHORTEST = 32
"""Shorter texts are counted anew: that is as fast."""


class Memo:
    """Counts by content, in a number of bytes; 0 keeps none. Threads may share it."""

    def __init__(self, size: int) -> None:
        self._lock = Lock()
        self._key = os.urandom(32)
        self._counts: OrderedDict[bytes, int] = OrderedDict()
        self._most = 0
        self.resize(size)

    def resize(self, size: int) -> None:
        """Keep no more than so many bytes."""
        with self._lock:
            self._most = size // ENTRY_BYTES
            while len(self._counts) > self._most:
                self._counts.popitem(last=False)

    def count(self, text: str, encoding: EncodingName) -> int:
        """How many tokens a text has."""
        if len(text) < SHORTEST or not self._most:
            return count_tokens(text, encoding)
        data = text.encode("utf-8", "surrogatepass")
        name = blake2b(data, digest_size=16, key=self._key, person=encoding.encode()).digest()
        with self._lock:
            known = self._counts.get(name)
            if known is not None:
                self._counts.move_to_end(name)
                return known
        count = count_tokens(text, encoding)
        with self._lock:
            self._counts[name] = count
            if len(self._counts) > self._most:
                self._counts.popitem(last=False)
        return count


MEMO = Memo(DEFAULT_BYTES)


def resize_token_memo(size: int) -> None:
    """Keep no more than so many bytes of counts."""
    MEMO.resize(size)
