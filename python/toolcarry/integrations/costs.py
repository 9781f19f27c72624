"""What the input of requests costs: what the provider's cache holds of each, and of the one that would be sent without toolcarry.

    request 1   frame m1 m2 m3        written: all
    request 2   frame m1 M2 m3 m4     read: frame m1     written: M2 m3 m4

The frame is everything but the messages: the tools and the system prompt come first in a provider's cache, wherever they
stand in the body. Tokens are estimated at four bytes each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

from toolcarry import _backend
from toolcarry.integrations.lines import LineState, SentRequest
from toolcarry.metrics import BYTES_PER_TOKEN
from toolcarry.switch.request_fields import LazyMessages
from toolcarry.types.prices import PriceModel

__all__ = ["cost_counts", "ends_of", "is_certainly_cold", "sent_request"]

MILLION: Final = 1_000_000
MARK: Final = b'"cache_control"'
MARKS: Final = re.compile(rb',?\s*"cache_control"\s*:\s*\{[^{}]*\}')
"""A client moves its marks from request to request, and the cache holds the same."""
FRAME: Final = ("tools", "system", "instructions", "systemInstruction", "system_instruction")
"""The members besides the messages that a provider puts into the cache."""


def sent_request(body: bytes) -> SentRequest:
    """Return the parts of a body; none if it has no list of messages.

    >>> sent_request(b'{"messages": [{"role": "user"}]}').ends
    (16, 32)
    """
    split = _backend.kernels.split_body(body)
    if split is None or not split[1]:
        return SentRequest()
    members, _, spans = split
    is_marked = MARK in body

    def sign(start: int, end: int) -> int:
        part = body[start:end]
        return hash(MARKS.sub(b"", part) if is_marked else part)

    frame = tuple(sign(*members[name]) for name in FRAME if name in members)
    signs = (hash(frame), *(sign(*span) for span in spans))
    return SentRequest(signs, ends_in(body, spans), is_marked)


def ends_of(body: bytes, messages: Sequence[Any]) -> tuple[int, ...]:
    """Return the ends of the messages that were read of a body; none if they have no places in it."""
    return ends_in(body, messages.spans) if isinstance(messages, LazyMessages) else ()


def ends_in(body: bytes, spans: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the bytes of the frame, and those up to the end of each message."""
    sizes = [end - start for start, end in spans]
    return tuple(accumulate((len(body) - sum(sizes), *sizes)))


def read_of(sent: SentRequest, before: SentRequest) -> int:
    """Return the bytes at the beginning of a request that the one before had, too."""
    pairs = zip(sent.signs, before.signs, strict=False)
    shared = next((place for place, (one, other) in enumerate(pairs) if one != other), None)
    shared = min(len(sent.signs), len(before.signs)) if shared is None else shared
    return sent.ends[shared - 1] if shared else 0


def cost_counts(
    price: PriceModel | None,
    model: object,
    sent: SentRequest,
    before: SentRequest,
    unchanged: tuple[int, ...],
    shared: int,
    *,
    is_warm: bool,
) -> Mapping[str, int]:
    """Return what a request costs, by the names of ``toolcarry.metrics``; nothing if its price is not known.

    ``before`` is the request before it; ``unchanged`` are the ends of the messages if nothing was changed, of which the
    first ``shared`` were in the request before.
    """
    if price is None or not sent.ends or not unchanged:
        return {}
    name = model if isinstance(model, str) else ""
    is_read = is_warm and sent.signs[:1] == before.signs[:1]
    sizes = (
        (sent.ends[-1], read_of(sent, before) if is_read else 0),
        (unchanged[-1], unchanged[min(shared, len(unchanged) - 1)] if is_read else 0),
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
