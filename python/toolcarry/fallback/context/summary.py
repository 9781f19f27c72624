"""Clean a summary, which is foreign markdown, so that it can neither swallow nor forge a section.

Only the beginning of a line can open a fence or a comment, and one that is open at the end is closed;
fences, comments and raw HTML deeper in lists and quotes become plain text, and so do definitions of links, by which a
word of a heading would become one. Headings are moved below level two.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from toolcarry._data import read_table
from toolcarry.fallback.context.limits import Limits, Measure
from toolcarry.model.text.sanitize import clean
from toolcarry.types.policy import NO_LIMIT

SUMMARY_HEADING: str = read_table("texts")["summary_heading"]
TRUNCATED: str = read_table("texts")["truncated"]

CONTAINER = r"[ \t>*+\-0-9.)]*"
"""The text that may precede a block in lists and quotes."""

_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_NESTED_FENCE = re.compile(rf"({CONTAINER})(`{{3,}}|~{{3,}})")
_HEADING = re.compile(rf"({CONTAINER})(#{{1,2}})(?=[ \t]|$)")
_UNDERLINE = re.compile(r"[ \t>]*(?:=+|-+)[ \t]*$")
_RAW_HTML = re.compile(rf"({CONTAINER})<(?=[!?/a-zA-Z])")
_DEFINITION = re.compile(rf"({CONTAINER})\[(?=(?:\\.|[^\]\\])*(?:\]:|\\?$))")
"""``[label]:``, or the first line of a label that goes on in the next."""


def clean_summary(summary: str) -> str:
    """Return ``summary`` as it may appear under its heading, without blank lines around it."""
    text = clean(summary).strip("\n")
    if not text.strip(" \t\n"):
        return ""
    lines: list[str] = []
    closing = ""
    before = ""
    for line in text.split("\n"):
        if closing:
            lines.append(line)
            closing = "" if closes(line, closing) else closing
        else:
            safe = safe_line(line, before)
            lines.append(safe)
            closing = opens(safe)
        before = line
    if closing:
        lines.append(closing)
    return "\n".join(lines)


def opens(line: str) -> str:
    """Return the text that closes the fence or comment that this line opens; empty if it opens none."""
    fence = _FENCE.match(line)
    if fence is not None:
        return fence[1] or fence[2]
    if line.startswith("<!--") and "-->" not in line[2:]:
        return "-->"
    return ""


def closes(line: str, closing: str) -> bool:
    if closing == "-->":
        return closing in line
    indent = len(line) - len(line.lstrip(" "))
    mark = line[indent:].rstrip(" \t")
    return indent < 4 and len(mark) >= len(closing) and set(mark) == {closing[0]}


def safe_line(line: str, before: str) -> str:
    """Return a safe version of a line outside of fences and comments."""
    if line.startswith("<!--") or _FENCE.match(line) is not None:
        return line
    if before.strip(" \t") and _UNDERLINE.match(line):
        mark = line.lstrip(" \t>")
        return f"{line[: len(line) - len(mark)]}\\{mark}"
    heading = _HEADING.match(line)
    if heading is not None:
        return f"{heading[1]}###{line[heading.end() :]}"
    for pattern in (_NESTED_FENCE, _RAW_HTML, _DEFINITION):
        found = pattern.match(line)
        if found is not None:
            return f"{found[1]}\\{line[found.end(1) :]}"
    return line


class FittedSummary(NamedTuple):
    """The section of a summary; empty if there is no summary, or no room for it."""

    section: str
    is_cut: bool
    has_no_room: bool


def fit_summary(summary: str, room: int, measure: Measure) -> FittedSummary:
    """Return the section of a summary, cut to the room."""
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
