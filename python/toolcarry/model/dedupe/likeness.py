"""Judge if a later result answers as an older one did, or may be a message that nothing was done.

No list holds every text with which tools say that a call failed, was refused or was interrupted, in every language. But
such a text has a few lines, and is unlike the answer that the same call got before. A later result is in doubt if
nothing says that the tool succeeded, and it is short. It then supersedes failures, and only those results that it is
like.

Two results are alike if more than a quarter of the newer one's pairs of neighbouring words are in the older one, near
one of its ends. All numbers are one word, and so is the end of a line. Words of the path or the command don't count,
because a message repeats them.

::

    older                              newer
    "2 failed, 1 passed"               "3 passed"                  alike: "\\n 0", "0 passed", "passed \\n"
    "On branch main\\nChanges not ..."  "On branch main\\nnothing"   alike: "\\n on", "on branch", ...
    "   1\\u2192import os\\n ..."           "   1\\u2192pass"               alike: both are numbered lines
    "pending"                          "done"                      alike: both are one word
    "the sum is 12"                    "12"                        certain: numbers and symbols are no message
    "def greet(): ..."                 "Zugriff verweigert"        in doubt
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from toolcarry._data import read_table
from toolcarry.model.dedupe.failure import MOST_LINES, SHORT, SILENCES, answer, has_flag
from toolcarry.model.pairing.block import Entry

WINDOW: Final = 500
"""The number of characters at each end of an older result that a newer one is compared with."""
MOST_IN_DOUBT: Final = 8
"""The maximum number of results in doubt for one key. Answers that differ this often are of a call whose answers differ."""
SHARE: Final = 4
"""More than one pair in this many must be in the older result."""

_WORD: Final = re.compile("[0-9A-Za-z_\u00c0-\u1fff]+|[\u3040-\ud7ff\U00020000-\U0003ffff]|\n")
"""A word, a character of a script without spaces between words, or the end of a line. By ranges, so that both backends
agree whatever version of Unicode they know."""
_DIGIT: Final = re.compile("[0-9]")
_NUMBERED: Final = re.compile("[ \n]*[0-9]+[\t\u2192|:]")
_NUMBER: Final = "0"
_BREAK: Final = "\n"
_MARK: Final[str] = read_table("texts")["marker_start"]
"""The beginning of a marker. The text around it is a part, which may be alike by chance."""
_BLANK: Final = " \t\r\n"

Pair = tuple[str, str]


def is_in_doubt(entry: Entry) -> bool:
    """Return true if a result has a few lines, and nothing says that the tool succeeded."""
    if not entry.is_unproven:
        return False
    text = answer(entry.content, entry.kind)
    if len(text) > SHORT or text.count("\n") > MOST_LINES:
        return False
    if (entry.kind != "read" and is_silent(text)) or is_value(text):
        return False
    return not has_flag(entry.result or {}, entry.content)


def is_silent(text: str) -> bool:
    """Return true if a command printed nothing, or its harness says so."""
    bare = text.strip(_BLANK)
    return not bare or bare in SILENCES


def is_value(text: str) -> bool:
    """Return true for one character, or for text without words other than numbers."""
    bare = text.strip(_BLANK)
    return len(bare) == 1 or (bare != "" and set(words(bare)) <= {_NUMBER, _BREAK})


def is_like(newer: str, older: str, value: str) -> bool:
    """Return true if the texts of two results with the same key are alike. ``value`` is the path or command."""
    if newer == older:
        return True
    ends = older if len(older) <= 2 * WINDOW else f"{older[:WINDOW]}\n{older[-WINDOW:]}"
    if _MARK in newer or _MARK in ends:
        return False
    if _NUMBERED.match(newer) and _NUMBERED.match(ends):
        return True
    new_words, old_words = words(newer), words(ends)
    said, old_said = (
        [word for word in found if word != _BREAK] for found in (new_words, old_words)
    )
    if len(said) == 1 == len(old_said):
        return True
    known = set(words(value)) - {_NUMBER, _BREAK}
    if said and known.issuperset(set(said) - {_NUMBER}):
        return True
    new, old = pairs(new_words, known), pairs(old_words, known)
    return len(new & old) * SHARE > len(new)


def words(text: str) -> list[str]:
    """Return the words of a text and the ends of its lines."""
    return [
        _NUMBER if _DIGIT.search(word) else word
        for word in _WORD.findall(f"\n{text}\n".translate(_LOWER))
    ]


def pairs(found: list[str], known: set[str]) -> set[Pair]:
    """Return the pairs of neighbours, without those that are in texts of all kinds, and without known words."""
    usual = {(_NUMBER, _NUMBER), (_NUMBER, _BREAK), (_BREAK, _BREAK)}
    return {pair for pair in pairwise(found) if pair not in usual and known.isdisjoint(pair)}


_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
