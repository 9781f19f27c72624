"""Words of truncation marks: a text without any of them was certainly not cut."""

from __future__ import annotations

from typing import Final

from toolcarry._data import read_table

__all__ = ["has_cut_word"]

CUT_WORDS: Final[tuple[str, ...]] = tuple(read_table("texts")["cut_words"])


def has_cut_word(text: str) -> bool:
    """Return true if text contains a word that a mark of truncation uses.

    >>> has_cut_word("line 1\\n... [truncated]"), has_cut_word("3 passed")
    (True, False)
    """
    return any(word in text for word in CUT_WORDS)
