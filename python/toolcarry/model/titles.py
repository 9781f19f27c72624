"""The heading of a block: the section that it belongs to, its title, and its notes."""

from __future__ import annotations

from typing import Literal

from toolcarry._data import read_table
from toolcarry._input.json import compact_json
from toolcarry.model.dedupe.line_ranges import TO_THE_END, UNREADABLE, line_range
from toolcarry.model.pairing.block import Entry
from toolcarry.model.text.sanitize import clean_line

LONGEST_ARGUMENT = 120
LEAST_ARGUMENT = 3
MORE_ARGUMENTS = ", ..."


def call_title(entry: Entry, longest: int) -> str:
    """Return a title such as ``Grep(pattern="fn main", path="src")``, with ``...`` for what does not fit.

    The first argument loses its middle if it is too long; others are left out.
    """
    name = clean_line(entry.name, LONGEST_ARGUMENT)
    if entry.call is None:
        return name
    parts: list[str] = []
    room = longest - len(name) - 2
    for given_key, value in entry.given.items():
        key = clean_line(str(given_key), LONGEST_ARGUMENT)
        argument = _argument(value, LONGEST_ARGUMENT)
        most = room - len(key) - 3
        if not parts and len(argument) > most:
            fitting = most - len(MORE_ARGUMENTS)
            argument = _argument(value, fitting - 2)
            # A quote is written as two characters.
            argument = _argument(value, fitting - 2 - max(len(argument) - fitting, 0))
        if len(argument) > most:
            parts.append("...")
            break
        room -= len(key) + len(argument) + 3
        parts.append(f"{key}={argument}")
    return f"{name}({', '.join(parts)})"


def _argument(value: object, longest: int) -> str:
    """Return an argument for a heading: text in quotes, everything else as JSON."""
    longest = max(longest, LEAST_ARGUMENT)
    if not isinstance(value, str):
        return clean_line(compact_json(value), longest)
    text = clean_line(value, longest)
    return '"' + text.replace('"', '\\"') + '"'


Section = Literal["files", "changes", "commands", "others"]

_TEXTS = read_table("texts")
SECTIONS: dict[Section, str] = {
    "files": _TEXTS["files_heading"],
    "changes": _TEXTS["changes_heading"],
    "commands": _TEXTS["commands_heading"],
    "others": _TEXTS["others_heading"],
}
_SECTION_OF_KIND: dict[str, Section] = {
    "read": "files",
    "edit": "changes",
    "command": "commands",
    "other": "others",
}

LONGEST_TITLE = 100


def section_of(entry: Entry) -> Section:
    """Return the section of a block. A block without its key argument is one of the other tools."""
    if entry.kind == "other" or entry.value is None:
        return "others"
    return _SECTION_OF_KIND[entry.kind]


def title(entry: Entry) -> str:
    """Return the heading without its notes: a path, the first line of a command, or the call."""
    if section_of(entry) == "others":
        return call_title(entry, LONGEST_TITLE)
    value = entry.value or ""
    if entry.kind == "command":
        value = value.strip("\n").partition("\n")[0]
    return clean_line(value, LONGEST_TITLE)


def notes(entry: Entry) -> str:
    """Return the notes of the heading in brackets, after a space; empty without notes."""
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


def lines_note(lines: tuple[int, int]) -> str:
    first, last = lines
    return f"lines {first}-end" if last >= TO_THE_END else f"lines {first}-{last}"
