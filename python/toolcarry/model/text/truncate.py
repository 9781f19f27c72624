"""Cut a text to a number of code points, without splitting a grapheme cluster.

Guaranteed: the kept text is at most ``limit`` code points, is an unchanged start or end of the
text (or both), and begins and ends at boundaries of the text's grapheme clusters; a text
within the limit is returned as the same object.  Nothing raises, lone surrogates included.

Left out: limits in tokens, which ``tokens.py`` has; making the marker fit a limit, since the marker comes on top; and the
seam between marker and text, where a text that ends in a prepended mark, or begins with a
combining one, joins the marker when displayed.

The twin is ``rust/core/src/text/truncate.rs``, which has `cut` alone: in Rust the binding joins the
pieces, on the caller's own ``str``.
"""

from toolcarry.model.text.graphemes import ceil_boundary, floor_boundary
from toolcarry.types.values import CutSide


def truncate(text: str, limit: int, *, keep: CutSide, marker: str) -> str:
    """Return at most ``limit`` code points of a text, and a marker if it was cut.

    Args:
        text: any text.
        limit: the most code points of the text that stay, not negative; the marker is not counted.
        keep: the part that stays; of both ends the tail gets the odd code point.
        marker: the text in place of the part that was cut.

    Returns:
        The text itself if it is within the limit.

    >>> truncate("one two three", 7, keep="head", marker="... [truncated]")
    'one two... [truncated]'
    >>> truncate("one two three", 7, keep="ends", marker="[...]")
    'one[...]hree'
    """
    head, tail = cut(text, limit, keep)
    if head == tail:
        return text
    return text[:head] + marker + text[tail:]


def cut(text: str, limit: int, keep: CutSide) -> tuple[int, int]:
    """Return the plan of a cut: the end of the head that stays, and the beginning of the tail.

    ``text[:head]`` and ``text[tail:]`` stay.  Both are ``len(text)`` if nothing is cut, and
    ``head < tail`` if something is.  Arguments are those of `truncate`.

    >>> cut("one two three", 7, "ends")
    (3, 9)
    """
    length = len(text)
    if length <= limit:
        return length, length
    if keep == "head":
        if text.isascii() and text[limit] != "\n":
            return limit, length  # in ASCII only CR LF is more than one character
        return floor_boundary(text, limit), length
    if keep == "tail":
        return 0, ceil_boundary(text, length - limit)
    half = limit // 2
    return floor_boundary(text, half), ceil_boundary(text, length - (limit - half))
