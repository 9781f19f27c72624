"""Exact counts of tokens, the same as in tiktoken.

The vocabularies are package data, so that nothing is ever downloaded. Special tokens are read as plain text; a
surrogate counts as U+FFFD. Long runs of white space, on which tiktoken's expressions overflow the stack, are split
here at the same places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolcarry._data import VOCABULARIES
from toolcarry.types.values import EncodingName

if TYPE_CHECKING:
    import tiktoken

_LETTERS_BEFORE: Final = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LETTERS_AFTER: Final = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_ENDINGS: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERNS: Final[dict[EncodingName, tuple[str, ...]]] = {
    "o200k_base": (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_LETTERS_BEFORE}*{_LETTERS_AFTER}+{_ENDINGS}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_LETTERS_BEFORE}+{_LETTERS_AFTER}*{_ENDINGS}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ),
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)",
        r"[^\r\n\p{L}\p{N}]?+\p{L}++",
        r"\p{N}{1,3}+",
        r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
        r"\s++$",
        r"\s*[\r\n]",
        r"\s+(?!\S)",
        r"\s",
    ),
}
"""The expressions by which each encoding splits text before it looks for tokens."""

_SPACE: Final = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_LONG_SPACE: Final = re.compile(rf"[{_SPACE}]{{4096,}}")
_PUNCTUATION: Final = re.compile(rf"[^{_SPACE}\w]|_")
_LINE_ENDS: Final = re.compile(r"[\r\n]*")
SURROGATES: Final = re.compile("[\ud800-\udfff]")


@cache
def encoding_of(name: EncodingName) -> tiktoken.Encoding:
    """Return the encoding of this name, made from the packed vocabulary."""
    import tiktoken  # noqa: PLC0415 - slow, and needed by counts alone

    packed = Path(VOCABULARIES, f"{name}.bpe").read_bytes()
    ranks: dict[bytes, int] = {}
    at = 0
    while at < len(packed):
        end = at + 1 + packed[at]
        ranks[packed[at + 1 : end]] = len(ranks)
        at = end
    pattern = "|".join(_PATTERNS[name])
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def count_tokens(text: str, encoding: EncodingName) -> int:
    """Count the tokens of a string.

    >>> count_tokens("one two three", "o200k_base"), count_tokens("<|endoftext|>", "o200k_base")
    (3, 7)
    """
    return len(encode(text, encoding))


def count_texts(texts: list[str], encoding: EncodingName) -> list[int]:
    """Count the tokens of each text.

    >>> count_texts(["one two three", ""], "o200k_base")
    [3, 0]
    """
    return [count_tokens(text, encoding) for text in texts]


def resize_token_memo(size: int) -> None:
    """Do nothing: the fallback counts every text again."""


def encode(text: str, name: EncodingName) -> list[int]:
    """Return the tokens of a string."""
    encoding = encoding_of(name)
    tokens: list[int] = []
    for part, is_piece in _parts(SURROGATES.sub("\ufffd", text)):
        tokens += (
            encoding._encode_single_piece(part) if is_piece else encoding.encode_ordinary(part)
        )
    return tokens


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Split a string into parts whose tokens are those of the whole; true marks a part that is a single piece."""
    at = 0
    for run in _LONG_SPACE.finditer(text):
        start, end = run.span()
        if start > at and _PUNCTUATION.match(text, start - 1):
            # Punctuation includes the line ends after it, and any punctuation that follows them.
            start = _LINE_ENDS.match(text, start).end()  # type: ignore[union-attr]  # it matches nothing, too
            if start >= end:
                continue
        if start > at:
            yield text[at:start], False
        last = max(text.rfind("\n", start, end), text.rfind("\r", start, end)) + 1
        if last > start:
            yield text[start:last], True
            start = last
        # The text after the run includes the last space, except at the end of the text.
        at = end if end == len(text) else max(end - 1, start)
        if at > start:
            yield text[start:at], True
    if at < len(text):
        yield text[at:], False
