"""The language of a code block, by the extension of the file."""

from __future__ import annotations

from typing import Final

from toolcarry._data import read_table

LANGUAGES: Final[dict[str, str]] = read_table("languages")["extensions"]
LONGEST_EXTENSION = 8


def language_of(path: str) -> str:
    """The language for ``path``; empty where its extension says nothing."""
    end = path[-LONGEST_EXTENSION - 1 :]
    _, dot, extension = end.rpartition(".")
    return LANGUAGES.get(extension, "") if dot else ""
