"""A text as a terminal shows it in the end, which loses nothing that a reader could see."""

from __future__ import annotations

import re
from typing import Final

from toolcarry.model.text.sanitize import without_controls

_DRAWN: Final = re.compile(r"\x1b|\r(?!\n)")
"""A sign that a text was made for a terminal. A line may end with a return of the carriage in any text."""
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_WORD: Final = re.compile("[A-Za-z]+")
_DIGIT: Final = re.compile("[0-9]")
_FEW: Final = 4
"""The share of states that may differ is one in this number. In a text whose lines end with returns alone, most differ."""


def is_drawn(text: str) -> bool:
    """Return true if a text has colours, or lines that were written over. Any other text may be that of a file."""
    return _DRAWN.search(text) is not None


def last_state(text: str) -> str | None:
    """Return what a terminal finally shows of a text; ``None`` if the text has no signs of a terminal, or if nothing is
    left."""
    if not is_drawn(text) or _SURROGATES.search(text):
        return None
    return settled(text) or None


def settled(text: str) -> str:
    r"""Return a text without colours and blanks at line ends; a line that was written over has its last state.

    >>> settled("\x1b[32mok\x1b[0m  \n 10 %\r 55 %\r100 %\nend\r\n")
    'ok\n100 %\nend\n'
    """
    if "\r" in text:
        text = "\n".join([_end_of(line) for line in text.split("\n")])
    lines = without_controls(text).split("\n")
    return "\n".join([line.rstrip(" \t") for line in lines])


def _end_of(line: str) -> str:
    """Return what is seen of a line after its last return of the carriage; the whole line if it shows no progress."""
    states = line.rstrip("\r").split("\r")
    last = next((state for state in reversed(states) if state.strip(" \t")), "")
    word = _WORD.search(last)
    others = sum(not _is_progress(state, word and word[0]) for state in states)
    return last if others * _FEW <= len(states) else line


def _is_progress(state: str, word: str | None) -> bool:
    """Return true if a state of a line reports progress: by a number, or by the first word of the last state."""
    own = _WORD.search(state)
    return own is None or own[0] == word or _DIGIT.search(state) is not None
