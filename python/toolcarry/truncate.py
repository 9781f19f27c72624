"""The truncate step: text within a limit."""

from __future__ import annotations

from typing import Literal

from toolcarry._backend import kernels
from toolcarry.policy import NO_LIMIT, check_limit, check_type
from toolcarry.types import CutSide, check_choice

__all__ = ["truncate"]


def truncate(
    text: str,
    limit: int,
    *,
    unit: Literal["chars"] = "chars",
    keep: CutSide = "head",
    marker: str = "... [truncated]",
) -> str:
    """At most ``limit`` characters (Unicode code points) of ``text``, then ``marker`` where text was cut.

    ``keep`` is the side that stays: the head, the tail, or both ends with the marker between them.
    A grapheme cluster is never split. Raises ``ConfigError`` for a limit or an option that is none.

    >>> truncate("one two three", 7)
    'one two... [truncated]'
    >>> truncate("one two three", 8, keep="ends", marker=" ... ")
    'one  ... hree'
    """
    check_type("text", text, str)
    check_type("marker", marker, str)
    check_limit("limit", limit)
    check_choice("unit", unit, ("chars",))
    check_choice("keep", keep, ("head", "tail", "ends"))
    return kernels.truncate(text, min(limit, NO_LIMIT), keep=keep, marker=marker)
