"""The cost of a request's input, and what it would cost without toolcarry, by what the provider's cache holds of each.

    request 1   frame m1 m2 m3        written: all
    request 2   frame m1 M2 m3 m4     read: frame m1     written: M2 m3 m4

The frame is everything but the messages: the tools and the system prompt come first in a provider's cache, wherever they
stand in the body. Tokens are estimated at four bytes each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Final

from toolcarry import _backend
from toolcarry.integrations.lines import LineState, SentParts, Start
from toolcarry.metrics import BYTES_PER_TOKEN
from toolcarry.switch.request_fields import LazyMessages
from toolcarry.types.prices import PriceModel

__all__ = ["cost_counts", "ends_of", "is_certainly_cold", "sent_parts", "without_marks"]

MILLION: Final = 1_000_000
MARK: Final = b'"cache_control"'
MARKED: Final = re.compile(MARK + rb"\s*:\s*\{[^{}]*\}")
COMMA: Final = re.compile(rb"\s*,\s*")
FRAME: Final = ("tools", "system", "instructions", "systemInstruction", "system_instruction")
"""The members besides the messages that a provider puts into the cache."""


def sent_parts(body: bytes) -> SentParts:
    """Return the parts of a body; none if it has no list of messages.

    >>> sent_parts(b'{"messages": [{"role": "user"}]}').ends
    (16, 32)
    """
    split = _backend.kernels.split_body(body)
    if split is None or not split[1]:
        return SentParts()
    members, _, spans = split
    is_marked = MARK in body

    def sign(start: int, end: int) -> int:
        part = body[start:end]
        return hash(without_marks(part) if is_marked else part)

    frame = tuple(sign(*members[name]) for name in FRAME if name in members)
    signs = (hash(frame), *(sign(*span) for span in spans))
    return SentParts(signs, ends_in(body, spans), is_marked)


def without_marks(part: bytes) -> bytes:
    """Return a part of a body without its marks: a client moves them between requests, and the cache holds the same.

    >>> without_marks(b'{"text": "a", "cache_control": {"type": "ephemeral"}}')
    b'{"text": "a"}'
    """
    kept, done = [], 0
    for mark in MARKED.finditer(part):
        before, end = part[done : mark.start()], mark.end()
        if (shorter := before.rstrip()).endswith(b","):
            before = shorter[:-1]
        elif comma := COMMA.match(part, end):
            end = comma.end()
        kept.append(before)
        done = end
    return b"".join((*kept, part[done:]))


def ends_of(body: bytes, messages: Sequence[Any]) -> tuple[int, ...]:
    """Return the ends of the messages that were read of a body; none if they have no places in it."""
    return ends_in(body, messages.spans) if isinstance(messages, LazyMessages) else ()


def ends_in(body: bytes, spans: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the bytes of the frame, and those up to the end of each message."""
    sizes = [end - start for start, end in spans]
    return tuple(accumulate((len(body) - sum(sizes), *sizes)))


def read_of(sent: SentParts, before: SentParts) -> int:
    """Return the bytes at the beginning of a request that the one before had, too."""
    pairs = zip(sent.signs, before.signs, strict=False)
    shared = next((place for place, (one, other) in enumerate(pairs) if one != other), None)
    shared = min(len(sent.signs), len(before.signs)) if shared is None else shared
    return sent.ends[shared - 1] if shared else 0


def cost_counts(
    price: PriceModel,
    model: object,
    sent: SentParts,
    unchanged: tuple[int, ...],
    start: Start,
    idle: float,
) -> dict[str, int]:
    """Return what a request costs, by the names of ``toolcarry.metrics``; nothing without messages.

    ``unchanged`` are the ends of the messages as they came in. ``start`` is the request before, sent ``idle`` seconds ago.
    """
    if not sent.ends or not unchanged:
        return {}
    name = model if isinstance(model, str) else ""
    before = start.known.sent
    is_warm = price.lifetime is None or idle <= price.lifetime
    is_read = is_warm and sent.signs[:1] == before.signs[:1]
    sizes = (
        (sent.ends[-1], read_of(sent, before) if is_read else 0),
        (unchanged[-1], unchanged[min(start.shared, len(unchanged) - 1)] if is_read else 0),
    )
    own, without = (
        price.cost(
            (whole - read) // BYTES_PER_TOKEN,
            read // BYTES_PER_TOKEN,
            name,
            is_marked=sent.is_marked,
        )
        for whole, read in sizes
    )
    counts = {
        "cost": round(own.units),
        "cost_without": round(without.units),
        "input_written": own.written,
        "input_read": own.read,
        "input_uncached": own.uncached,
    }
    dollars = price.dollars(own.units, name), price.dollars(without.units, name)
    if dollars[0] is not None and dollars[1] is not None:
        counts["cost_microdollars"] = round(dollars[0] * MILLION)
        counts["cost_microdollars_without"] = round(dollars[1] * MILLION)
    return counts


def is_certainly_cold(
    line: LineState, price: PriceModel | None, model: object, idle: float
) -> bool:
    """Return true if no cache can hold what a line sent: it went to another model, or longer ago than any cache lives."""
    if line.model != model:
        return True
    lives = None if price is None else price.longest_lifetime
    return lives is not None and idle > lives
