"""How a block reads: its heading and the texts below it."""

from __future__ import annotations

from typing import Literal

from toolcarry._data import read_table
from toolcarry._pure.content import result_text
from toolcarry._pure.context.call_title import call_title
from toolcarry._pure.context.change import change_of
from toolcarry._pure.context.fence import Source
from toolcarry._pure.context.languages import language_of
from toolcarry._pure.dedupe.line_ranges import TO_THE_END, UNREADABLE, line_range
from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.text.sanitize import clean_line
from toolcarry.types import CutSide, KeepText

Section = Literal["files", "changes", "commands", "others"]

TEXTS = read_table("texts")
SECTIONS: dict[Section, str] = {
    "files": TEXTS["files_heading"],
    "changes": TEXTS["changes_heading"],
    "commands": TEXTS["commands_heading"],
    "others": TEXTS["others_heading"],
}
SECTION_OF_KIND: dict[str, Section] = {
    "read": "files",
    "edit": "changes",
    "command": "commands",
    "other": "others",
}

LONGEST_TITLE = 200


def section_of(entry: Entry) -> Section:
    """The section that a block stands in; without its key argument, it is one of the other tools."""
    if entry.kind == "other" or entry.value is None:
        return "others"
    return SECTION_OF_KIND[entry.kind]


def title(entry: Entry) -> str:
    """What a heading says before its notes: a path, the first line of a command, or the call."""
    if section_of(entry) == "others":
        return call_title(entry, LONGEST_TITLE)
    value = entry.value or ""
    if entry.kind == "command":
        value = value.strip("\n").partition("\n")[0]
    return clean_line(value, LONGEST_TITLE)


def notes(entry: Entry) -> str:
    """The heading's brackets, with a space before; empty where there is nothing to say."""
    said = []
    if entry.call is not None and entry.kind == "read" and entry.value is not None:
        lines = line_range(entry.given)
        if lines is not None and lines != UNREADABLE:
            said.append(lines_note(lines))
    if entry.is_stale:
        said.append("edited after this read")
    if entry.result is None:
        said.append("interrupted: no result")
    elif entry.is_error:
        said.append("failed")
    if entry.call is None:
        said.append("call missing")
    return f" ({'; '.join(said)})" if said else ""


def with_count(notes: str, count: str) -> str:
    """The brackets with a count before all else in them."""
    if not count:
        return notes
    return f" ({count}; {notes[2:]}" if notes else f" ({count})"


def lines_note(lines: tuple[int, int]) -> str:
    first, last = lines
    return f"lines {first}-end" if last >= TO_THE_END else f"lines {first}-{last}"


def count_note(entry: Entry, earlier: int, is_open: bool) -> str:
    """``latest of 4 runs``, ``3 edits, last shown``; with a ``+`` where older ones were not looked at."""
    if not earlier:
        return ""
    number = f"{earlier + 1}{'+' if is_open else ''}"
    return f"{number} edits, last shown" if entry.kind == "edit" else f"latest of {number} runs"


def sources(entry: Entry, keep: KeepText) -> list[Source]:
    """The texts of a block: the command where its heading can't hold it, the change, the output."""
    found: list[Source] = []
    reference = entry.call_id
    side: CutSide = "head" if keep == "auto" else keep
    section = section_of(entry)
    if section == "commands":
        command = entry.value or ""
        if len(command) > LONGEST_TITLE or "\n" in command.strip("\n"):
            found.append(Source(command.strip("\n"), "sh", side, reference, True))
        side = "ends" if keep == "auto" else keep
    elif section == "changes" and entry.call is not None:
        change = change_of(entry.given)
        if change is not None:
            text, language = change
            found.append(Source(text, language or language_of(entry.value or ""), side, reference))
            if entry.result is not None and not entry.is_error:
                return found
    if entry.result is not None:
        language = language_of(entry.value or "") if section == "files" else ""
        found.append(Source(result_text(entry.content), language, side, reference))
    return found
