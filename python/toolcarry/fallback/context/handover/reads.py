"""The lines of a file that a read returned, with the number of the first one."""

from __future__ import annotations

from typing import Final, NamedTuple

from toolcarry.fallback.context.handover.clean import clean_file, printed_file
from toolcarry.fallback.context.handover.shell_reads import ShellRead
from toolcarry.fallback.context.handover.steps import Step
from toolcarry.model.dedupe.line_ranges import DEFAULT_READ, UNREADABLE, line_range
from toolcarry.model.text.cut_words import has_cut_word

_SIGNS: Final = ("→", "\t", "|", ": ", ":")
_MOST_HEADERS: Final = 3
_MOST_FOOTERS: Final = 6
_FEWEST: Final = 3
"""A text with fewer numbered lines is numbered only by a sign that no text has by chance."""


_LONGEST_MESSAGE: Final = 300


def may_be_message(step: Step) -> bool:
    """Return true if what a read returned may be a message of the tool, and no text of the file: it is short, and not
    numbered.
    """
    if not step.keys:
        return True  # it holds several files, or none that is known
    text = step.text if step.shell_read is None else printed_file(step.text)
    if len(text) > _LONGEST_MESSAGE or text.count("\n") >= _FEWEST:
        return False
    return numbered(text.split("\n")) is None


class Read(NamedTuple):
    """Lines of a file: the number of the first one (0 if it is not known), and true if they are the whole file."""

    first: int
    lines: list[str]
    is_whole: bool


def read_lines(step: Step) -> Read:
    """Return the lines that a read returned. Numbers that the tool put before lines are taken off, and believed."""
    if step.shell_read is not None:
        return _printed_lines(step, step.shell_read)
    text = clean_file(step.text)
    asked = line_range(step.entry.given)
    lines = text.split("\n")
    found = numbered(lines)
    if found is not None:
        first, own = found
        is_whole = asked is None and first == 1 and len(own) < DEFAULT_READ[1]
        return Read(first, own, is_whole)
    if lines and not lines[-1]:
        del lines[-1]
    if has_cut_word(text) or asked == UNREADABLE:
        return Read(0, lines, False)
    if asked is None:
        return Read(1, lines, len(lines) < DEFAULT_READ[1])
    is_counted_from_one = step.entry.given.get("offset") is None  # some tools count it from 0
    return Read(asked[0] if is_counted_from_one else 0, lines, False)


def _printed_lines(step: Step, asked: ShellRead) -> Read:
    """Return the lines that a command printed. If there may be fewer than it was asked for, the first ones are believed."""
    text = printed_file(step.text)
    lines = text.split("\n")
    if asked.is_numbered:
        found = numbered(lines)
        return Read(0, lines, False) if found is None else Read(*found, is_whole=False)
    if has_cut_word(text):
        return Read(0, lines, False)
    return Read(asked.first, lines, (asked.first, asked.last) == (1, 0))


def numbered(lines: list[str]) -> tuple[int, list[str]] | None:
    """Return the first number and the lines of a text whose lines a tool numbered; ``None`` if they are not.

    >>> numbered(["    7\\tseven", "    8\\t", "    9\\tnine"])
    (7, ['seven', '', 'nine'])
    """
    for start in range(min(_MOST_HEADERS, len(lines))):
        for sign in _SIGNS:
            first = _number(lines[start], sign)
            if first is None:
                continue
            own: list[str] = []
            for line in lines[start:]:
                if _number(line, sign) != first + len(own):
                    break
                own.append(line[line.index(sign) + len(sign) :])
            rest = [line for line in lines[start + len(own) :] if line.strip()]
            fewest = 1 if sign in ("→", "\t") else _FEWEST
            if len(own) >= fewest and len(rest) <= _MOST_FOOTERS:
                return first, own
    return None


def _number(line: str, sign: str) -> int | None:
    """Return the number that a tool put before a line."""
    head, found, _ = line[:16].partition(sign)
    digits = head.strip(" ")
    is_number = found and digits.isascii() and digits.isdecimal()
    return int(digits) if is_number and digits else None
