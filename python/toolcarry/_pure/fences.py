"""Fenced code blocks whose content can't end them, cut to a limit or to the room that is left."""

from __future__ import annotations

import re
from typing import NamedTuple

from toolcarry._pure.clean import LONGEST_SEQUENCE, clean, clean_line, is_clean
from toolcarry._pure.truncate import cut
from toolcarry.types import CutSide

RUNS = {"`": re.compile("`{3,}"), "~": re.compile("~{3,}")}

LEAST_SHOWN = 20
"""A cut text of fewer characters tells nothing: the block is left out instead."""

LONGEST_REFERENCE = 80


class Source(NamedTuple):
    """A text to be fenced: its language, the side that stays where it is cut, and where the whole is.

    ``is_exempt`` says that the limit on one result does not apply: a command, which is shown whole.
    """

    text: str
    language: str
    side: CutSide
    reference: str
    is_exempt: bool = False


class Fenced(NamedTuple):
    """A finished block, its final newline included; how many characters of the text it shows, and of how many."""

    text: str
    shown: int
    is_cut: bool


def fence(source: Source, limit: int) -> Fenced:
    """``source`` in a fence, at most ``limit`` characters of it."""
    content, shown, is_cut = cut_to(source, limit)
    if not content:
        content = "(no output)"
    mark = fence_mark(content)
    newline = "" if content.endswith("\n") else "\n"
    return Fenced(f"{mark}{source.language}\n{content}{newline}{mark}\n", shown, is_cut)


def fence_into(source: Source, limit: int, room: int) -> Fenced | None:
    """``source`` in a fence of at most ``room`` characters in all; None where too little would be shown."""
    overhead = len(source.language) + 8  # two fences of three, two newlines
    fenced = fence(source, min(limit, max(room - overhead, 0)))
    if len(fenced.text) > room:
        limit = min(limit, max(room - overhead - len(marker(source, room)) - 3, 0))
        fenced = fence(source, limit)
        if len(fenced.text) > room:
            excess = len(fenced.text) - room
            fenced = fence(source, max(limit - excess, limit // 2 - 16, 0))
    if len(fenced.text) > room or (fenced.is_cut and fenced.shown < LEAST_SHOWN):
        return None
    return fenced


def cut_to(source: Source, limit: int) -> tuple[str, int, bool]:
    """The clean text within ``limit``, with a marker where it was cut; how much is shown; whether it was cut."""
    text, side = source.text, source.side
    if len(text) <= limit or not has_clean_window(text, limit, side):
        text = clean(text)
        if len(text) <= limit:
            return text, len(text), False
    head, tail = cut(text, limit, side)
    shown = head + len(text) - tail
    note = marker(source, shown)
    if side == "head":
        return f"{line_end(text[:head])}{note}", shown, True
    if side == "tail":
        return f"{note}\n{text[tail:]}", shown, True
    return f"{line_end(text[:head])}{note}\n{text[tail:]}", shown, True


def has_clean_window(text: str, limit: int, side: CutSide) -> bool:
    """Whether what a cut of an over-long text would show is clean as it stands."""
    head = 0 if side == "tail" else limit // 2 if side == "ends" else limit
    tail = 0 if side == "head" else limit - head
    return (not head or is_clean(text[: head + 1])) and (
        not tail or is_clean(text[max(len(text) - tail - 1 - LONGEST_SEQUENCE, 0) :])
    )


def marker(source: Source, shown: int) -> str:
    """What stands where text was cut: how much is shown, of how much, and where the whole is."""
    whole = ""
    if source.reference:
        whole = f"; whole: {clean_line(source.reference, LONGEST_REFERENCE)}"
    return f"... [truncated: {shown:,} of {len(source.text):,} characters shown{whole}]"


def line_end(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def fence_mark(content: str) -> str:
    """The shorter of the fences that no line of ``content`` can end."""
    backticks = longest_run(content, "`")
    if backticks < 3:
        return "```"
    tildes = longest_run(content, "~")
    if tildes < backticks:
        return "~" * max(tildes + 1, 3)
    return "`" * (backticks + 1)


def longest_run(content: str, character: str) -> int:
    """The longest run of three or more; 0 where there is none."""
    if character not in content or character * 3 not in content:
        return 0
    return max(len(run) for run in RUNS[character].findall(content))
