"""The truncate step: text within a limit."""

from __future__ import annotations

from typing import Literal

from toolcarry._backend import kernels
from toolcarry.policy import NO_LIMIT, check_type
from toolcarry.types import ENCODINGS, CutSide, EncodingName, check_choice, check_limit

__all__ = ["truncate"]


def truncate(
    text: str,
    limit: int,
    *,
    unit: Literal["chars", "tokens"] = "chars",
    keep: CutSide = "head",
    marker: str = "... [truncated]",
    encoding: EncodingName = "o200k_base",
) -> str:
    """At most ``limit`` units of ``text``, then ``marker`` where text was cut.

    A unit is a character (a Unicode code point), or a token of ``encoding``: cut by tokens, the whole counts at
    most ``limit`` tokens more than the marker does when it is counted again.

    ``keep`` is the side that stays: the head, the tail, or both ends with the marker between them.
    A grapheme cluster is never split. Raises ``ConfigError`` for a limit or an option that is none.

    >>> truncate("one two three", 7)
    'one two... [truncated]'
    >>> truncate("one two three", 8, keep="ends", marker=" ... ")
    'one  ... hree'
    >>> truncate("one two three", 2, unit="tokens", marker=" ...")
    'one two ...'
    """
    check_type("text", text, str)
    check_type("marker", marker, str)
    check_limit("limit", limit)
    check_choice("unit", unit, ("chars", "tokens"))
    check_choice("keep", keep, ("head", "tail", "ends"))
    check_choice("encoding", encoding, ENCODINGS)
    limit = min(limit, NO_LIMIT)
    if unit == "tokens":
        return kernels.truncate_tokens(text, limit, keep=keep, marker=marker, encoding=encoding)
    return kernels.truncate(text, limit, keep=keep, marker=marker)
