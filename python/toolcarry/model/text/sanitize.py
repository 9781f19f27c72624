"""Make text safe for a context: no controls, no forged markers, no markdown that swallows a section.

Controls other than tab and newline, ANSI sequences, bidirectional controls and Unicode tag characters are removed;
CRLF and CR become LF; a lone surrogate becomes U+FFFD; the two marker lines are escaped.
Most text is clean, so that the check is all that happens.
"""

from __future__ import annotations

import re
from typing import Final

from toolcarry._data import read_table
from toolcarry.model.text.truncate import cut

_TEXTS = read_table("texts")
OPEN_MARKER: Final[str] = _TEXTS["open_marker"]
CLOSE_MARKER: Final[str] = _TEXTS["close_marker"]
MARKER_TAIL: Final = OPEN_MARKER[1:]
"""The common end of both marker lines."""

_ASCII_CONTROLS: Final = bytes([*range(9), *range(11, 32), 127])

DIRTY = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)

UNSAFE = re.compile(
    "(?P<newline>\r\n?)"
    "|(?:\x1b\\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"  # control sequences: colours, cursor
    "|\x1b[\\]PX^_][^\x00-\x1f\x7f]{0,4096}(?:\x07|\x1b\\\\)"  # control strings: titles, links
    "|\x1b[ -/]{1,2}[0-~]"  # character sets
    "|\x1b[0-?@-Z\\\\-_c]"  # two-character escapes
    "|(?P<surrogate>[\ud800-\udfff])"
    "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\U000e0000-\U000e007f]"
)

LONGEST_SEQUENCE: Final = 80
"""The length of the longest control sequence that does not end in a control."""


def is_clean(text: str) -> bool:
    """Return true if ``clean`` would change nothing."""
    return not has_controls(text) and MARKER_TAIL not in text


def has_controls(text: str) -> bool:
    """Return true if ``without_controls`` would change anything."""
    if text.isascii():
        data = text.encode()
        return len(data.translate(None, _ASCII_CONTROLS)) < len(data)
    return DIRTY.search(text) is not None


def clean(text: str) -> str:
    """Return ``text`` without anything that a context may not contain."""
    if is_clean(text):
        return text
    text = UNSAFE.sub(replacement, text)
    text = text.replace(OPEN_MARKER, "[\\" + OPEN_MARKER[1:])
    return text.replace(CLOSE_MARKER, "[\\" + CLOSE_MARKER[1:])


def without_controls(text: str) -> str:
    """Return ``text`` without controls. Marker lines are kept."""
    return UNSAFE.sub(replacement, text) if has_controls(text) else text


def replacement(match: re.Match[str]) -> str:
    if match.lastgroup == "newline":
        return "\n"
    return "\ufffd" if match.lastgroup == "surrogate" else ""


BREAKS: Final = str.maketrans({"\n": "\\n", "\t": "\\t", "\u2028": "\\n", "\u2029": "\\n"})
"""The spellings of line breaks and tabs in a text that becomes one line."""


def clean_line(text: str, limit: int) -> str:
    """Return ``text`` as one clean line of at most ``limit`` characters. A longer one loses its middle."""
    if len(text) <= limit and text.isprintable() and MARKER_TAIL not in text:
        return text  # nothing that is printable is unclean
    if len(text) > 4 * limit:
        text = shorten(text, 4 * limit)
    text = clean(text).translate(BREAKS)
    return text if len(text) <= limit else shorten(text, limit)


def shorten(text: str, limit: int) -> str:
    """Return ``text`` in at most ``limit`` characters, with ``...`` in place of its middle."""
    head, tail = cut(text, limit - 3, "ends")
    return text if head == tail else f"{text[:head]}...{text[tail:]}"
