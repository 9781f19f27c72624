"""A summary, or the texts of a block, in what is left of the total: whole, or as much of them as has room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from toolcarry._data import read_table
from toolcarry._pure.context.fence import Fenced, Source, fence, fence_into
from toolcarry._pure.context.limits import Limits, Measure
from toolcarry._pure.context.summary import clean_summary
from toolcarry.policy import NO_LIMIT

SUMMARY_HEADING: str = read_table("texts")["summary_heading"]
TRUNCATED: str = read_table("texts")["truncated"]


class FittedSummary(NamedTuple):
    """The section of a summary; empty where there is none, or no room for it."""

    section: str
    is_cut: bool
    has_no_room: bool


def fit_summary(summary: str, room: int, measure: Measure) -> FittedSummary:
    """The section of a summary, cut to the room."""
    text = clean_summary(summary)
    if not text:
        return FittedSummary("", False, False)
    section = f"{SUMMARY_HEADING}{text}\n\n"
    if measure.size(section) <= room:
        return FittedSummary(section, False, False)
    rest = room - measure.size(f"{SUMMARY_HEADING}\n\n")
    limits = Limits(NO_LIMIT, NO_LIMIT, measure.encoding or "o200k_base")
    limits = limits.within(rest // 2 if rest < 80 else rest - 40, measure)
    head, tail = limits.cut(text, "head")
    text = clean_summary(text[:head] + TRUNCATED if head < tail else text)
    section = f"{SUMMARY_HEADING}{text}\n\n"
    has_no_room = measure.size(section) > room
    return FittedSummary("" if has_no_room else section, True, has_no_room)


def fit_whole(
    sources: Sequence[Source], own: Limits, room: int, measure: Measure
) -> list[Fenced] | None:
    """A block's texts, each fenced and up to the limits on one result; None where there is no room for that."""
    fitted: list[Fenced] = []
    for source, end in with_ends(sources):
        limits = limits_on(source, own)
        # Tokens of a part are not simply fewer than those of the whole: there is no shorter way to see what is too long.
        tight = limits.within(room, measure) if measure.encoding is None else limits
        found = fence(source, tight, end)
        if found.is_cut and tight.chars < limits.chars:
            return None
        room -= measure.size(found.text)
        if room < 0:
            return None
        fitted.append(found)
    return fitted if room >= 0 else None


def fit_part(
    sources: Sequence[Source], own: Limits, room: int, measure: Measure
) -> list[Fenced] | None:
    """A block's texts, each fenced and cut to the room; None where too little of them would be shown."""
    fitted: list[Fenced] = []
    for source, end in with_ends(sources):
        share = room if end else (room - 1) // 2
        found = fence_into(source, limits_on(source, own), share, measure, end)
        if found is None:
            return None
        room -= measure.size(found.text)
        fitted.append(found)
    return fitted or None


def limits_on(source: Source, own: Limits) -> Limits:
    """The limits on one text: a command is shown whole."""
    return Limits(NO_LIMIT, NO_LIMIT, own.encoding) if source.is_exempt else own


def with_ends(sources: Sequence[Source]) -> Iterator[tuple[Source, str]]:
    """The texts of a block, each with what stands behind its fence: behind the last one the line that ends the block."""
    for number, source in enumerate(sources, 1):
        yield source, "\n" if number == len(sources) else ""
