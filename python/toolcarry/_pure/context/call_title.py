"""A call as a heading says it."""

from __future__ import annotations

from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.text.sanitize import clean_line
from toolcarry.decode import compact_json

LONGEST_ARGUMENT = 120


def call_title(entry: Entry, longest: int) -> str:
    """``Grep(pattern="fn main", path="src")``, with ``...`` for the arguments that have no room."""
    name = clean_line(entry.name, LONGEST_ARGUMENT)
    if entry.call is None:
        return name
    parts: list[str] = []
    room = longest - len(name) - 2
    for key, value in entry.given.items():
        part = f"{clean_line(str(key), LONGEST_ARGUMENT)}={argument(value)}"
        room -= len(part) + 2
        if room < 0:
            parts.append("...")
            break
        parts.append(part)
    return f"{name}({', '.join(parts)})"


def argument(value: object) -> str:
    """An argument as it stands in a heading: text in quotes, everything else as JSON."""
    if not isinstance(value, str):
        return clean_line(compact_json(value), LONGEST_ARGUMENT)
    text = clean_line(value, LONGEST_ARGUMENT)
    return '"' + text.replace('"', '\\"') + '"'
