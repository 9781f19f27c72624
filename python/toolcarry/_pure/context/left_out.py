"""The section that names the newest of what was left out."""

from __future__ import annotations

from toolcarry._data import read_table
from toolcarry._pure.context.block import section_of, title
from toolcarry._pure.context.limits import Measure
from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.text.sanitize import clean_line, shorten

LEFT_OUT_HEADING: str = read_table("texts")["left_out_heading"]
EARLIER_RESULTS: str = read_table("texts")["earlier_results"]
MOST_LISTED = 20
LONGEST_LISTED = 100


def list_left_out(entries: list[Entry], room: int, measure: Measure, has_more: bool) -> str:
    """The section that names the newest of what was left out, as far as they fit."""
    has_more = has_more or len(entries) > MOST_LISTED
    entries = entries[:MOST_LISTED]
    lines: list[str] = []
    room -= measure.size(LEFT_OUT_HEADING)
    end = EARLIER_RESULTS
    for number, entry in enumerate(entries, 1):
        line = f"- {shorten(listed_title(entry), LONGEST_LISTED)}\n"
        is_last = number == len(entries) and not has_more
        size = measure.size(f"{line}\n") if is_last else measure.size(line) + measure.size(end)
        if size > room:
            has_more = True
            break
        room -= measure.size(line)
        lines.append(line)
    if not lines and (not entries or measure.size(end) > room):
        return ""
    return "".join((LEFT_OUT_HEADING, *lines, end if has_more else "\n"))


def listed_title(entry: Entry) -> str:
    """What the list says of a block: the tool with its path or command, or the call.

    What could open a block of markdown at the beginning of a list item is escaped.
    """
    name = title(entry)
    if section_of(entry) != "others":
        name = f"{clean_line(entry.name, 40)}: {name}"
    first = name[:1]
    is_plain = not first.isascii() or first.isalpha() or first in ("", "_")
    return name if is_plain else "\\" + name
