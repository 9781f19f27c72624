"""The lines of a file that a read returned, with the number of the first one."""

from __future__ import annotations

from typing import Final, NamedTuple

from toolcarry.fallback.context.handover.clean import clean_file, printed_file
from toolcarry.fallback.context.handover.kinds import words
from toolcarry.fallback.context.handover.shell_reads import ShellRead
from toolcarry.fallback.context.handover.steps import Step
from toolcarry.model.dedupe.line_ranges import DEFAULT_READ, UNREADABLE, line_range
from toolcarry.model.text.cut_words import has_cut_word

_SIGNS: Final = ("→", "\t", "|", ": ", ":")
_MOST_HEADERS: Final = 5
_MOST_FOOTERS: Final = 6
_FEWEST: Final = 3
"""A text with fewer numbered lines is numbered only by a sign that no text has by chance."""


_WITHIN_GAP: Final = 3
"""The lines after the last number before a gap, in which the next number stands."""
_LONGEST_MESSAGE: Final = 300
_SHOWS, _CONTENT = "Showing lines ", "--- FILE CONTENT (truncated) ---\n"
"""The words before the line numbers in the note that Gemini CLI puts above a part of a file."""
_LONGEST_NOTE: Final = 800
_OPENING: Final = "<content>"
_CLOSINGS: Final = words("closings")
"""The last lines of a tool that puts a text in tags."""
_MORE_NOTES: Final = words("more_notes")


def may_be_message(step: Step) -> bool:
    """Return true if what a read returned may be a message of the tool, and no text of the file: it is short, and not
    numbered.
    """
    if not step.keys:
        return True  # it holds several files, or none that is known
    text = step.text if step.shell_read is None else printed_file(step.text)
    if text.startswith('{"') and "\n" not in text and "json" not in step.paths[0]:
        return True  # an envelope of the tool, in which the text is
    if len(text) > _LONGEST_MESSAGE or text.count("\n") >= _FEWEST:
        return False
    return numbered(text.split("\n")) is None


class Read(NamedTuple):
    """Lines of a file: the number of the first one (0 if it is not known), and true if they are the whole file."""

    first: int
    lines: list[str]
    is_whole: bool


def lines_shown(step: Step) -> tuple[int, int] | None:
    """Return the first and the last line that the result of a read shows, or those that it asked for if they are not
    known; ``None`` if it asked for all.
    """
    asked = line_range(step.entry.given)
    asked = None if asked == UNREADABLE else asked
    if not step.has_succeeded or step.has_media or may_be_message(step):
        return asked
    read = read_lines(step)
    first = read.first or (asked[0] if asked is not None else 0)
    if (asked is None and read.is_whole) or not first or not read.lines:
        return asked
    return first, first + len(read.lines) - 1


def _without_note(text: str) -> tuple[str, bool]:
    """Return a text without a last line in which the tool says that the file goes on, and true if it had one."""
    body = text.rstrip("\n ")
    for closing in _CLOSINGS:
        body = body.removesuffix(closing).rstrip("\n ")
    start = body.rfind("\n") + 1
    is_note = body.startswith(("[", "("), start) and any(
        note in body[start:] for note in _MORE_NOTES
    )
    return (body[: max(start - 1, 0)].removesuffix("\n"), True) if is_note else (text, False)


def _below_note(text: str) -> tuple[int, str] | None:
    """Return the number of the first line and the lines below a note of the tool that it shows a part of a file.

    >>> _below_note("\\nStatus: Showing lines 1-2 of 9 total lines.\\n\\n--- FILE CONTENT (truncated) ---\\na\\nb")
    (1, 'a\\nb')
    """
    at = text.find(_CONTENT, 0, _LONGEST_NOTE)
    if at < 0:
        return None
    _, found, rest = text[:at].partition(_SHOWS)
    first = rest[: len(rest) - len(rest.lstrip("0123456789"))] if found else ""
    return (int(first) if first else 0), text[at + len(_CONTENT) :]


def read_lines(step: Step) -> Read:
    """Return the lines that a read returned. Numbers that the tool put before lines are taken off, and believed."""
    if step.shell_read is not None:
        return _printed_lines(step, step.shell_read)
    text, goes_on = _without_note(clean_file(step.text))
    shown = _below_note(text)
    if shown is not None:
        return Read(shown[0], shown[1].removesuffix("\n").split("\n"), False)
    asked = line_range(step.entry.given)
    lines = text.split("\n")
    found = numbered(lines)
    if found is not None:
        first, own = found
        is_whole = first == 1 and len(own) < _most(asked) and not goes_on
        return Read(first, own, is_whole)
    if lines and not lines[-1] and not goes_on:
        del lines[-1]
    if has_cut_word(text) or has_gap(lines) or asked == UNREADABLE:
        return Read(0, lines, False)
    if asked is None:
        return Read(1, lines, len(lines) < DEFAULT_READ[1] and not goes_on)
    is_counted_from_one = step.entry.given.get("offset") is None  # some tools count it from 0
    first = asked[0] if is_counted_from_one else 0
    return Read(first, lines, first == 1 and len(lines) < _most(asked) and not goes_on)


def _most(asked: tuple[int, int] | None) -> int:
    """Return the lines that a read returns at most: if it returns fewer, the file ends there. 0 if that is not known."""
    if asked is None:
        return DEFAULT_READ[1]
    return asked[1] if asked[0] == 1 else 0


def _printed_lines(step: Step, asked: ShellRead) -> Read:
    """Return the lines that a command printed. If there may be fewer than it was asked for, the first ones are believed."""
    text = printed_file(step.text)
    lines = text.split("\n")
    if asked.is_numbered:
        found = numbered(lines)
        if found is None:
            return Read(0, lines, False)
        first, own = found
        return Read(
            first, own, first == 1 and asked.ends_after(len(own)) and not has_cut_word(text)
        )
    if has_cut_word(text):
        return Read(0, lines, False)
    return Read(asked.first, lines, asked.first == 1 and asked.ends_after(len(lines)))


def numbered(lines: list[str]) -> tuple[int, list[str]] | None:
    """Return the first number and the lines of a text whose lines a tool numbered; ``None`` if they are not.

    >>> numbered(["    7\\tseven", "    8\\t", "    9\\tnine"])
    (7, ['seven', '', 'nine'])
    """
    headers = min(_MOST_HEADERS, len(lines))
    is_tagged = any(line.startswith(_OPENING) for line in lines[:headers])
    for start in range(headers):
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
            fewest = 1 if is_tagged or sign in ("→", "\t") else _FEWEST
            if len(own) >= fewest and len(rest) <= _MOST_FOOTERS:
                return first, own
    return None


def has_gap(lines: list[str]) -> bool:
    """Return true if a tool numbered lines and left some out within.

    >>> has_gap(["1\\ta", "2\\tb", "3\\tc", "...", "90\\tz"]), has_gap(["1\\ta", "2\\tb", "3\\tc", "...", "z"])
    (True, False)
    """
    for start in range(min(_MOST_HEADERS, len(lines))):
        for sign in _SIGNS:
            first = _number(lines[start], sign)
            if first is None:
                continue
            count = 0
            while (
                start + count < len(lines) and _number(lines[start + count], sign) == first + count
            ):
                count += 1
            after = lines[start + count : start + count + _WITHIN_GAP]
            numbers = [_number(line, sign) for line in after]
            if count >= _FEWEST and any(number and number > first + count for number in numbers):
                return True
    return False


def _number(line: str, sign: str) -> int | None:
    """Return the number that a tool put before a line."""
    head, found, _ = line.removeprefix(_OPENING)[:16].partition(sign)
    digits = head.strip(" ")
    is_number = found and digits.isascii() and digits.isdecimal()
    return int(digits) if is_number and digits else None
