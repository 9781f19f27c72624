"""Exact counts of tokens, offline."""

from __future__ import annotations

import os.path
from typing import Final

from toolcarry._backend import kernels
from toolcarry.policy import check_type
from toolcarry.types import ENCODINGS, EncodingName, check_choice

__all__ = ["VOCABULARIES", "count_tokens"]

VOCABULARIES: Final = os.path.join(os.path.dirname(__file__), "vocabularies")  # noqa: PTH118, PTH120 - pathlib is slow
"""The folder of the packed vocabularies, which both backends read."""


def count_tokens(text: str, *, encoding: EncodingName = "o200k_base") -> int:
    """How many tokens ``text`` has in an encoding of OpenAI's, as tiktoken counts them.

    Special tokens in the text are plain text, and a surrogate counts as U+FFFD. The vocabularies are part of the
    package: nothing is fetched at any time. Raises ``ConfigError`` for an encoding that is none.

    >>> count_tokens("one two three")
    3
    """
    check_type("text", text, str)
    check_choice("encoding", encoding, ENCODINGS)
    return kernels.count_tokens(text, encoding)
