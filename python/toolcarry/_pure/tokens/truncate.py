"""Texts cut to a number of tokens."""

from __future__ import annotations

from itertools import accumulate

from toolcarry._pure.text.graphemes import ceil_boundary, floor_boundary
from toolcarry._pure.tokens.count import SURROGATES, count_tokens, encode, encoding_of
from toolcarry.types import CutSide, EncodingName


def truncate_tokens(
    text: str, limit: int, *, keep: CutSide, marker: str, encoding: EncodingName
) -> str:
    """At most ``limit`` tokens of a text, then the marker where text was cut.

    What stays is the first, or the last, of the text's tokens, or ``limit // 2`` first and the other last ones,
    without a cluster of which only a part is in them. Tokens may join across a cut, so that the result is counted
    again: where it counts more than ``limit`` tokens and the marker's, one token less stays, and so on. It is the
    longest such result, and not the longest of all: an end that takes part of a token may fit, too.

    The twin is ``rust/core/src/tokens/truncate.rs``, which encodes only what it keeps, and counts only the seams.

    >>> truncate_tokens("one two three", 2, keep="head", marker=" ...", encoding="o200k_base")
    'one two ...'
    """
    head, tail = cut_tokens(text, limit, keep, encoding, marker)
    return text if head == tail else text[:head] + marker + text[tail:]


def cut_tokens(
    text: str, limit: int, keep: CutSide, encoding: EncodingName, marker: str = ""
) -> tuple[int, int]:
    """The plan of a cut: where the head that stays ends, and where the tail begins; both at the end where nothing is cut.

    >>> cut_tokens("one two three", 2, "tail", "o200k_base")
    (0, 3)
    """
    tokens = encode(text, encoding)
    if len(tokens) <= limit:
        return len(text), len(text)
    allowed = limit + count_tokens(marker, encoding)
    cutting = Cutting(text, tokens, encoding)
    for size in range(limit, 0, -1):
        first = size if keep == "head" else size // 2 if keep == "ends" else 0
        last = 0 if keep == "head" else size - first
        head, tail = cutting.head(first), cutting.tail(last)
        if count_tokens(text[:head] + marker + text[tail:], encoding) <= allowed:
            return head, tail
    return 0, len(text)


class Cutting:
    """A text of some tokens, and where its first and its last ones end."""

    def __init__(self, text: str, tokens: list[int], name: EncodingName) -> None:
        self._text = text
        self._data = SURROGATES.sub("\ufffd", text).encode()
        sizes = map(len, encoding_of(name).decode_tokens_bytes(tokens))
        self._ends = [0, *accumulate(sizes)]

    def head(self, count: int) -> int:
        """Behind so many first tokens; before a character, or a cluster, of which only a part is in them."""
        return floor_boundary(self._text, self._character(self._ends[count]))

    def tail(self, count: int) -> int:
        """Before so many last tokens; behind what only a part of is in them."""
        start = self._ends[len(self._ends) - 1 - count]
        while self._data[start : start + 1] and self._data[start] & 0xC0 == 0x80:
            start += 1
        return ceil_boundary(self._text, self._character(start))

    def _character(self, offset: int) -> int:
        """The character that a byte belongs to."""
        return len(self._data[:offset].decode("utf-8", "ignore"))
