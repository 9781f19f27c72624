"""Fenced code blocks whose content can't end them, cut to a limit or to the room that is left.

The line of an image or a document is shown whole or not at all, since a part of its URL is of no use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from toolcarry._data import read_table
from toolcarry.fallback.context.limits import Limits, Measure
from toolcarry.fallback.shorten import Shortened, fit, last_state, shorten
from toolcarry.model.content.client_blocks import around_blocks, client_blocks
from toolcarry.model.content.media import is_media_line, media_label
from toolcarry.model.message_pieces import count_media
from toolcarry.model.text.sanitize import LONGEST_SEQUENCE, clean, clean_line, is_clean
from toolcarry.types.policy import NO_LIMIT
from toolcarry.types.values import CutSide

_RUNS = {"`": re.compile("`{3,}"), "~": re.compile("~{3,}")}

NO_OUTPUT: str = read_table("texts")["no_output"]
LEAST_SHOWN = 20
"""A text that is cut to fewer characters says nothing: the block is left out instead."""

LONGEST_REFERENCE = 210


class Source(NamedTuple):
    """A text to be fenced: its language, the side that stays if it is cut, and the reference of the whole.

    ``is_exempt`` means that the limit on one result does not apply: a command is shown in full.
    """

    text: str
    language: str
    side: CutSide
    reference: str
    is_exempt: bool = False
    content: object = None
    """The content of the result, if the text is a result's."""
    printed_by: str | None = None
    """The command or the tool that printed the text; ``None`` if all of its lines matter alike."""
    has_marker_below: bool = False
    """True if no marker is put into JSON: readers take it for a part of the result."""


class Fenced(NamedTuple):
    """A finished block, including its final newline; the number of characters that it shows; and true if it was cut."""

    text: str
    shown: int
    is_cut: bool


def fence(source: Source, limits: Limits, end: str) -> Fenced:
    """Return ``source`` in a fence, cut to its limits, followed by ``end``."""
    content, shown, is_cut = cut_to(source, limits)
    if not content:
        content = NO_OUTPUT
    mark = fence_mark(content)
    newline = "" if content.endswith("\n") else "\n"
    return Fenced(f"{mark}{source.language}\n{content}{newline}{mark}\n{end}", shown, is_cut)


def fence_into(
    source: Source, limits: Limits, room: int, measure: Measure, end: str
) -> Fenced | None:
    """Return ``source`` in a fence that takes at most ``room`` in all; None if too little would be shown."""
    limit = room - measure.size(f"```{source.language}\n```\n{end}")
    fenced = fence(source, limits.within(limit, measure), end)
    if measure.size(fenced.text) > room:
        limit -= measure.size(_marker(source, room)) + 3
        limits = limits.within(limit, measure)
        fenced = fence(source, limits, end)
        excess = measure.size(fenced.text) - room
        if excess > 0:
            limit = limits.of(measure)
            limits = limits.within(max(limit - excess, limit // 2 - 16), measure)
            fenced = fence(source, limits, end)
    is_enough = fenced.shown >= LEAST_SHOWN or not fenced.is_cut
    return fenced if is_enough and measure.size(fenced.text) <= room else None


def cut_to(source: Source, limits: Limits) -> tuple[str, int, bool]:
    """Return the clean text within its limits, with a marker if it was cut; the size shown; and true if it was cut.

    A text of a known kind is shortened by what it is.
    """
    text, side = source.text, source.side
    is_long = len(text) > limits.chars
    is_limited = is_long or limits.tokens != NO_LIMIT
    has_media = is_limited and count_media(source.content, 0) > 0
    has_blocks = is_limited and any(client_blocks(text))
    is_whole = has_media or has_blocks or not is_long
    if is_whole or not _has_clean_window(text, limits.chars, side):
        text = clean(text)
    head, tail = limits.cut(text, side)
    if head == tail:
        return text, len(text), False
    by_kind = None if has_media else _by_kind(source, limits)
    if by_kind is not None:
        return by_kind
    if has_blocks:
        head, tail = around_blocks(text, head, tail)
    left_out = ""
    if has_media:
        head, tail, left_out = around_media(text, head, tail)
    shown = head + len(text) - tail
    note = _marker(source, shown, left_out)
    if side == "head":
        return f"{_line_end(text[:head])}{note}", shown, True
    if side == "tail":
        return f"{note}\n{text[tail:]}", shown, True
    return f"{_line_end(text[:head])}{note}\n{text[tail:]}", shown, True


def _by_kind(source: Source, limits: Limits) -> tuple[str, int, bool] | None:
    """Return the clean text shortened by what it is, as ``cut_to`` does; ``None`` if it can only be cut."""
    text, command, kinds, side = source.text, source.printed_by, limits.kinds, source.side
    if command is None or not kinds:
        return None
    last = last_state(text, kinds)
    if last is not None:
        last = clean(last)
        if limits.cut(last, side) == (len(last), len(last)):
            return last, len(last), False
    if not source.has_marker_below and set(source.reference) & {'"', "\\"}:
        return None  # the marker may be in a text of JSON

    def at(room: int) -> Shortened | None:
        found = shorten(text, command, kinds, room, side)
        return (
            None
            if found is None
            else found._replace(before=clean(found.before), after=clean(found.after))
        )

    fitted = fit(at, min(limits.chars, len(text)), limits.tokens, limits.encoding, "")
    if fitted is None or fitted[1].size > limits.chars:
        return None
    found = fitted[1]
    marker = _marker(source, found.size)
    write = found.with_marker_below if source.has_marker_below else found.with_marker
    return write(marker), found.size, True


def around_media(text: str, head: int, tail: int) -> tuple[int, int, str]:
    """Return a cut that splits no line of a medium, and the kinds of the media in the part that is left out.

    >>> around_media("a\\n[image: https://example.org/a.png]\\nb", 12, 20)
    (2, 37, 'image')
    """
    start, end = _line_at(text, head)
    if start < head < end and is_media_line(text[start:end]):
        head = start
    start, end = _line_at(text, tail)
    if start < tail < end and is_media_line(text[start:end]):
        tail = min(end + 1, len(text))
    labels = filter(None, map(media_label, text[head:tail].split("\n")))
    return head, tail, ", ".join(dict.fromkeys(labels))


def _line_at(text: str, index: int) -> tuple[int, int]:
    """Return the ends of the line that contains a position."""
    end = text.find("\n", index)
    return text.rfind("\n", 0, index) + 1, len(text) if end < 0 else end


def _has_clean_window(text: str, limit: int, side: CutSide) -> bool:
    """Return true if the parts of an over-long text that a cut would show are clean already."""
    head = 0 if side == "tail" else limit // 2 if side == "ends" else limit
    tail = 0 if side == "head" else limit - head
    return (not head or is_clean(text[: head + 1])) and (
        not tail or is_clean(text[max(len(text) - tail - 1 - LONGEST_SEQUENCE, 0) :])
    )


def _marker(source: Source, shown: int, left_out: str = "") -> str:
    """Return the marker for a cut: how much is shown, the media that are not, the length, and the reference."""
    reference = clean_line(source.reference, LONGEST_REFERENCE)
    whole = f"; whole: {reference}" if reference else ""
    media = f", {left_out} left out" if left_out else ""
    return f"... [truncated: {shown:,} of {len(source.text):,} characters shown{media}{whole}]"


def _line_end(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def fence_mark(content: str) -> str:
    """Return the shorter of the fences that no line of ``content`` can end."""
    backticks = longest_run(content, "`")
    if backticks < 3:
        return "```"
    tildes = longest_run(content, "~")
    if tildes < backticks:
        return "~" * max(tildes + 1, 3)
    return "`" * (backticks + 1)


def longest_run(content: str, character: str) -> int:
    """Return the length of the longest run of three or more; 0 without such a run."""
    if character not in content or character * 3 not in content:
        return 0
    return max(len(run) for run in _RUNS[character].findall(content))


def fit_whole(
    sources: Sequence[Source], own: Limits, room: int, measure: Measure
) -> list[Fenced] | None:
    """Return a block's texts, each fenced and cut to the limits on one result; None if they don't fit."""
    fitted: list[Fenced] = []
    for source, end in with_ends(sources):
        limits = limits_on(source, own)
        # A part of a text doesn't always have fewer tokens than the whole, so that the size must be measured.
        counts_chars = measure.encoding is None and limits.tokens == NO_LIMIT
        tight = limits.within(room, measure) if counts_chars else limits
        if tight.chars < limits.chars:
            tight = tight._replace(kinds=())  # it is shown whole or not at all
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
    """Return a block's texts, each fenced and cut to the room; None if too little of them would be shown."""
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
    """Return the limits on one text. A command has none."""
    return Limits(NO_LIMIT, NO_LIMIT, own.encoding) if source.is_exempt else own


def with_ends(sources: Sequence[Source]) -> Iterator[tuple[Source, str]]:
    """Yield the texts of a block, each with the text after its fence; the last one gets the end of the block."""
    for number, source in enumerate(sources, 1):
        yield source, "\n" if number == len(sources) else ""
