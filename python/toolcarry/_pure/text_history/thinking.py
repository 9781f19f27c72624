"""Remove the thoughts of a model from text: ``<think>...</think>``, but not code that shows such tags.

A tag counts outside of fenced code, unless it is alone in backticks. The first closing tag ends a thought; one that is
never closed extends to the end of the text. If a text begins within a thought, since the chat template opened the tag,
a closing tag on a line of its own ends it.
"""

from __future__ import annotations

import re
from typing import Final

OPEN: Final = "<think>"
CLOSE: Final = "</think>"
_FENCE: Final = re.compile(
    r"(?:[ \t>]|[-*+](?=[ \t])|[0-9]{1,9}[.)](?=[ \t]))*(`{3,}(?![^`\n]*`)|~{3,})"
)
"""The beginning of a fence line, also in a list or a quotation. No backticks follow an opening run of backticks on its
line."""


def without_thinking(text: str) -> str:
    """Return ``text`` without thoughts; the same object if it holds none.

    >>> without_thinking("<think>Hm.</think>\\n\\nDone.")
    'Done.'
    >>> without_thinking("Write `<think>`.")
    'Write `<think>`.'
    """
    if "think>" not in text:
        return text
    kept: list[str] = []
    done = at = end = 0
    fence = ""
    is_first, is_kept, is_line = True, False, True
    while at < len(text):
        if at >= end:
            end = text.find("\n", at) + 1 or len(text)
            is_line = True
        found = _FENCE.match(text, at, end) if is_line else None
        if fence:
            if found is not None and _closes(fence, found[1], text[found.end() : end]):
                fence = ""
        elif found is not None:
            fence = found[1]
        elif is_first and text[at:end].strip(" \t\n") == CLOSE:
            is_first = False
            done = skip_newlines(text, end)
        else:
            opened = find_open(text, at, end)
            if opened >= 0:
                is_first = False
                kept.append(text[done:opened])
                is_kept = is_kept or done < opened
                closed = text.find(CLOSE, opened + len(OPEN))
                done = at = len(text) if closed < 0 else closed + len(CLOSE)
                is_line = not is_kept or text[opened - 1] == "\n"
                if is_line:
                    done = at = skip_newlines(text, at)
                continue
        at = end
    kept.append(text[done:])
    left = "".join(kept)
    return text if len(left) == len(text) else left.strip("\n")


def find_open(text: str, start: int, end: int) -> int:
    """Return the index of a tag that opens a thought; -1 without such a tag."""
    while True:
        found = text.find(OPEN, start, end)
        if found < 0:
            return found
        start = found + len(OPEN)
        if text[max(found - 1, 0) : found] != "`" or text[start : start + 1] != "`":
            return found


def _closes(fence: str, run: str, rest: str) -> bool:
    """Return true if a fence line closes the fence that ``fence`` opened."""
    return run.startswith(fence) and not rest.strip(" \t\n")


def skip_newlines(text: str, at: int) -> int:
    """Return the index after the line feeds at ``at``."""
    while text.startswith("\n", at):
        at += 1
    return at
