"""Estimated tokens and words of a line, by which the lines with the most new words are chosen."""

from __future__ import annotations

import re
from typing import Final

_LETTERS = r"A-Za-z_\u00c0-\u1fff\u2c00-\u2fff\u3040-\ufeff\uff10-\U0010ffff"
"""Letters, by their ranges, which both backends share."""
_WORD = re.compile(rf"[{_LETTERS}][{_LETTERS}0-9./:@#-]{{5,}}")
LETTERS: Final = 7
"""About how many letters a token has."""
SIGNS: Final = 3
"""About how many digits, or signs, a token has."""
_RUN = re.compile(r"[A-Za-z]+|[0-9]+|[^\x00-\x7f]+|[ \t]+|[!-/:-@\[-`{-~]+")


def estimate(line: str) -> int:
    """Return about how many tokens a line has, its line feed included.

    >>> estimate("    return first_line + 1")
    8
    """
    tokens, last = 1, ""
    for match in _RUN.finditer(line):
        last, size = match[0][0], match.end() - match.start()
        if not last.isascii():
            tokens += size
        elif last.isalpha():
            tokens += 1 + (size - 1) // LETTERS
        elif last in " \t":
            tokens += size > 1
        else:
            tokens += -(-size // SIGNS)
    ends_in_sign = last != "" and not (last.isascii() and (last.isalnum() or last in " \t"))
    return max(tokens - ends_in_sign, 1)


def words_of(line: str) -> list[str]:
    """Return the words of a line, each once: runs of six or more characters of names and paths.

    >>> words_of("import numpy; open(data/numbers.csv) # import")
    ['import', 'data/numbers.csv']
    """
    return list(dict.fromkeys(_WORD.findall(line)))
