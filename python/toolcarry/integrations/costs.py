"""The cost of a request's input, and what it would cost without toolcarry, by what the provider's cache holds of each.

    request 1   frame m1 m2 m3        written: all
    request 2   frame m1 M2 m3 m4     read: frame m1     written: M2 m3 m4

The frame is everything but the messages: the tools and the system prompt come first in a provider's cache, wherever they
stand in the body. Tokens are estimated at four bytes each.

A cache with marks keeps a beginning only if it ended at a mark of an earlier request, and looks for it only in the last
blocks before a mark. A mark inside of a message counts as one at its end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate
from typing import Any, Final

from toolcarry import _backend
from toolcarry._input.json import loads
from toolcarry._input.objects import as_object
from toolcarry.integrations.lines import LineState, SentParts, Start
from toolcarry.metrics import BYTES_PER_TOKEN
from toolcarry.switch.request_fields import LazyMessages
from toolcarry.types.prices import PriceModel

__all__ = ["charged", "is_certainly_cold", "sent_parts", "without_marks"]

MILLION: Final = 1_000_000
WHOLE: Final = "cache_control"
"""The member of a body that asks to cache all of it."""
MARK: Final = b'"cache_control"'
MARKED: Final = re.compile(MARK + rb"\s*:\s*\{[^{}]*\}")
COMMA: Final = re.compile(rb"\s*,\s*")
FRAME: Final = ("tools", "system", "instructions", "systemInstruction", "system_instruction")
"""The members besides the messages that a provider puts into the cache."""


def sent_parts(body: bytes, lookback: int | None = None) -> SentParts:
    """Return the parts of a body; none if it has no list of messages. ``lookback`` is that of the price model.

    >>> sent_parts(b'{"system": "Be brief.", "messages": [{"role": "user"}]}').ends
    (11, 27)
    """
    split = _backend.kernels.split_body(body)
    if split is None or not split[1]:
        return SentParts()
    members, _, spans = split
    is_marked = MARK in body

    def sign(start: int, end: int) -> int:
        part = body[start:end]
        return hash(without_marks(part) if is_marked else part)

    frame = [members[name] for name in FRAME if name in members]
    signs = (hash(tuple(sign(*span) for span in frame)), *(sign(*span) for span in spans))
    ends = ends_in(sum(end - start for start, end in frame), spans)
    if not is_marked:
        return SentParts(signs, ends)
    marks = {place for place, span in enumerate(spans, 1) if body.find(MARK, *span) >= 0}
    if any(body.find(MARK, *span) >= 0 for span in frame):
        marks.add(0)
    if WHOLE in members:
        marks.add(len(spans))
    searched = searched_by(body, spans, marks, lookback)
    return SentParts(signs, ends, frozenset(marks), searched)


def searched_by(
    body: bytes, spans: Sequence[tuple[int, int]], marks: AbstractSet[int], lookback: int | None
) -> frozenset[int]:
    """Return the places at which a cache looks for a beginning: those in the last blocks before each mark."""
    if lookback is None:
        return frozenset(range(max(marks, default=-1) + 1))
    found = set[int]()
    for mark in marks:
        place, blocks = mark, 0
        while place >= 0 and blocks < lookback and (place == mark or place not in marks):
            found.add(place)
            blocks += blocks_in(body[slice(*spans[place - 1])]) if place else 0
            place -= 1
    return frozenset(found)


def blocks_in(message: bytes) -> int:
    """Return the number of blocks of a message.

    >>> blocks_in(b'{"content": [{}, {}]}'), blocks_in(b'{"content": "text"}')
    (2, 1)
    """
    content = (as_object(loads(message)) or {}).get("content")
    return len(content) if isinstance(content, list) else 1


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


def ends_of(messages: Sequence[Any], frame: int) -> tuple[int, ...]:
    """Return the ends of the messages that were read of a body; none if they have no places in it."""
    return ends_in(frame, messages.spans) if isinstance(messages, LazyMessages) else ()


def ends_in(frame: int, spans: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the bytes of the frame, and those up to the end of each message."""
    return tuple(accumulate((frame, *(end - start for start, end in spans))))


def shared_by(sent: SentParts, before: SentParts) -> int:
    """Return the number of parts at the beginning of a request that the one before had, too."""
    pairs = zip(sent.signs, before.signs, strict=False)
    shared = next((place for place, (one, other) in enumerate(pairs) if one != other), None)
    return min(len(sent.signs), len(before.signs)) if shared is None else shared


def charged(
    price: PriceModel,
    model: object,
    body: bytes,
    unchanged: bytes,
    messages: Sequence[Any],
    start: Start,
    idle: float,
) -> tuple[SentParts, dict[str, int]]:
    """Return the parts of a request, and what it costs by the names of ``toolcarry.metrics``; nothing without messages.

    ``unchanged`` is the body as it came in, with these messages. ``start`` is the request before, sent ``idle`` seconds ago.
    """
    sent = sent_parts(body, price.lookback)
    ends = ends_of(messages, sent.ends[0]) if sent.ends else ()
    if not ends:
        return sent, {}
    name = model if isinstance(model, str) else ""
    before = start.known.sent
    shared = shared_by(sent, before)
    if not shared or (price.lifetime is not None and idle > price.lifetime):
        before = SentParts()
    # The places up to which the cache has this request, and the unchanged one, if the frame is the same.
    places = (shared - 1, min(start.shared, len(ends) - 1)) if before.signs else (-1, -1)
    if price.matching == "marks":
        given = sent if len(ends) == len(sent.ends) else sent_parts(unchanged, price.lookback)
        kept = [
            frozenset(place for place in known if place <= most)
            for known, most in zip((before.kept, before.kept_unchanged), places, strict=True)
        ]
        found = zip(kept, (sent.searched, given.searched), strict=True)
        own_place, place = (max(known & searched, default=-1) for known, searched in found)
        places = (own_place, place)
        sent = sent._replace(kept=kept[0] | sent.marks, kept_unchanged=kept[1] | given.marks)
    own, without = (
        price.cost(
            (sizes[-1] - read) // BYTES_PER_TOKEN,
            read // BYTES_PER_TOKEN,
            name,
            is_marked=bool(sent.marks),
        )
        for sizes, place in zip((sent.ends, ends), places, strict=True)
        for read in (sizes[place] if place >= 0 else 0,)
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
    return sent, counts


def is_certainly_cold(
    line: LineState, price: PriceModel | None, model: object, idle: float
) -> bool:
    """Return true if no cache can hold what a line sent: it went to another model, or longer ago than any cache lives."""
    if line.model != model:
        return True
    lives = None if price is None else price.longest_lifetime
    return lives is not None and idle > lives
