"""The bill of a conversation's requests under a price model, as a provider with this cache would write it.

A request is a list of pieces: the system prompt and tools as one, then each part of each message. The cache finds the
beginning of a request in whole pieces. With ``"prefix"``, any beginning that a request had is kept. With ``"marks"``,
those that end at a mark: behind the system prompt and tools, and behind each of the last two user messages, as Claude
Code marks them; a beginning is looked for in the last ``lookback`` pieces before a mark.
A kept beginning whose lifetime is not known stays, which makes every change dearer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from toolcarry import context_usage
from toolcarry.types import PriceModel


class Piece(NamedTuple):
    """A part of a request: the hash of its bytes, its tokens, and true at the end of a user message."""

    sign: int
    tokens: int
    ends_message: bool


class Cost(NamedTuple):
    """The cost of a request, in tokens at the price of input, and the tokens that came from the cache."""

    units: float
    read: int
    total: int


@dataclass
class Pieces:
    """The pieces of messages, remembered by message: most are the same object in many requests."""

    frame: int
    count: Callable[[Any], int] = lambda message: context_usage([message], limit=1).used
    """Counts the tokens of a message."""
    known: dict[int, tuple[Any, list[Piece]]] = field(default_factory=dict)
    sizes: dict[bytes, int] = field(default_factory=dict)

    def of(self, messages: list[Any]) -> list[Piece]:
        """Return the pieces of a request."""
        found = [Piece(0, self.frame, ends_message=True)]
        for message in messages:
            held = self.known.get(id(message))
            if held is None:
                held = self.known[id(message)] = (message, self.cut(message))
            found += held[1]
        return found

    def cut(self, message: Any) -> list[Piece]:
        """Return the pieces of a message."""
        parts = message.get("content")
        role = {key: value for key, value in message.items() if key != "content"}
        parts = parts if isinstance(parts, list) and parts else [parts] if "role" in message else []
        items = [{**role, "content": [part] if isinstance(part, dict) else part} for part in parts] or [message]  # fmt: skip
        texts = [orjson.dumps(item) for item in items]
        for item, text in zip(items, texts, strict=True):
            if text not in self.sizes:
                self.sizes[text] = self.count(item)
        is_user = message.get("role") != "assistant"
        return [
            Piece(hash(text), self.sizes[text], is_user and text is texts[-1]) for text in texts
        ]


@dataclass
class Bill:
    """The requests of one conversation so far."""

    price: PriceModel
    least: int
    kept: dict[int, float] = field(default_factory=dict)
    """The time of the last use of each beginning that is kept, by its hash."""

    def charge(self, pieces: list[Piece], clock: float) -> Cost:
        """Return the cost of the next request, and keep its beginnings."""
        signs: list[int] = []
        sizes: list[int] = []
        sign = total = 0
        for piece in pieces:
            sign, total = hash((sign, piece.sign)), total + piece.tokens
            signs.append(sign)
            sizes.append(total)
        price = self.price
        if price.matching == "none" or total < self.least:
            return Cost(float(total), 0, total)
        ends = [place for place, piece in enumerate(pieces) if piece.ends_message]
        marks = range(len(pieces)) if price.matching == "prefix" else [0, *ends[-2:]]
        back = 1 if price.matching == "prefix" else price.lookback or len(pieces)
        searched = {place for mark in marks for place in range(max(mark - back + 1, 0), mark + 1)}
        hit = next((place for place in sorted(searched, reverse=True) if self.is_kept(signs[place], sizes[place], clock)), None)  # fmt: skip
        read = 0 if hit is None else sizes[hit]
        for place in (*marks, *(() if hit is None else (hit,))):
            self.kept[signs[place]] = clock
        return Cost(read * price.cache_read + (total - read) * price.cache_write, read, total)

    def is_kept(self, sign: int, size: int, clock: float) -> bool:
        """Return true if a beginning is in the cache."""
        used = self.kept.get(sign)
        if used is None or size < self.least:
            return False
        return self.price.lifetime is None or clock - used <= self.price.lifetime
