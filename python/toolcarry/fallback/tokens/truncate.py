"""Truncate texts to a number of tokens."""

from __future__ import annotations

from itertools import accumulate

from toolcarry.fallback.tokens.count import SURROGATES, count_tokens, encode, encoding_of
from toolcarry.model.text.graphemes import ceil_boundary, floor_boundary
from toolcarry.types.values import CutSide, EncodingName


def truncate_tokens(
    text: str, limit: int, *, keep: CutSide, marker: str, encoding: EncodingName
) -> str:
    """Return at most ``limit`` tokens of a string, followed by the marker if text was cut.

    The first or the last tokens of the text stay, or the first ``limit // 2`` and the last ones, without a cluster that
    is only partly in them. Tokens may join across a cut, so that the result is counted again: if it has more tokens
    than ``limit`` plus those of the marker, one token less stays, and so on. The result is the longest one of whole
    tokens; an end that takes a part of a token may fit, too.

    The twin is ``rust/core/src/tokens/truncate.rs``, which encodes only what it keeps, and counts only the seams.

    >>> truncate_tokens("one two three", 2, keep="head", marker=" ...", encoding="o200k_base")
    'one two ...'
    """
    head, tail = cut_tokens(text, limit, keep, encoding, marker)
    return text if head == tail else text[:head] + marker + text[tail:]


def cut_tokens(
    text: str, limit: int, keep: CutSide, encoding: EncodingName, marker: str = ""
) -> tuple[int, int]:
    """Return the plan of a cut: the end of the head, and the beginning of the tail; both are the end if nothing is cut.

    >>> cut_tokens("one two three", 2, "tail", "o200k_base")
    (0, 3)
    """
    tokens = encode(text, encoding)
    if len(tokens) <= limit:
        return len(text), len(text)
    allowed = limit + count_tokens(marker, encoding)
    cutting = _Cutting(text, tokens, encoding)
    for size in range(limit, 0, -1):
        first = size if keep == "head" else size // 2 if keep == "ends" else 0
        last = 0 if keep == "head" else size - first
        head, tail = cutting.head(first), cutting.tail(last)
        if count_tokens(text[:head] + marker + text[tail:], encoding) <= allowed:
            return head, tail
    return 0, len(text)


class _Cutting:
    """The tokens of a string, and the positions of their ends."""

    def __init__(self, text: str, tokens: list[int], name: EncodingName) -> None:
        self._text = text
        self._data = SURROGATES.sub("\ufffd", text).encode()
        sizes = map(len, encoding_of(name).decode_tokens_bytes(tokens))
        self._ends = [0, *accumulate(sizes)]

    def head(self, count: int) -> int:
        """Return the end of the first ``count`` tokens, before a character or a cluster that is only partly in them."""
        return floor_boundary(self._text, self._character(self._ends[count]))

    def tail(self, count: int) -> int:
        """Return the start of the last ``count`` tokens, after a character or a cluster that is only partly in them."""
        start = self._ends[len(self._ends) - 1 - count]
        while self._data[start : start + 1] and self._data[start] & 0xC0 == 0x80:
            start += 1
        return ceil_boundary(self._text, self._character(start))

    def _character(self, offset: int) -> int:
        """Return the index of the character that contains a byte."""
        return len(self._data[:offset].decode("utf-8", "ignore"))
