"""Cut a text to a number of code points, without splitting a grapheme cluster.

Guaranteed: what is kept is at most ``limit`` code points, stands at the start or the end of the
text (or both) unchanged, and begins and ends at boundaries of the text's grapheme clusters; a text
within the limit comes back as the same object.  Nothing raises, lone surrogates included.

Left out: limits in tokens, which ``tokens.py`` has; making the marker fit a limit, since the marker comes on top; and the
seam between marker and text, where a text that ends in a prepended mark, or begins with a
combining one, joins the marker when displayed.

The twin is ``rust/core/src/text/truncate.rs``, which has `cut` alone: in Rust the binding joins the
pieces, on the caller's own ``str``.
"""

from toolcarry._pure.text.graphemes import ceil_boundary, floor_boundary
from toolcarry.types import CutSide


def truncate(
    text: str, limit: int, *, keep: CutSide = "head", marker: str = "... [truncated]"
) -> str:
    """Return a text with at most so many code points of its own, and a marker where it was cut.

    Args:
        text: any text.
        limit: how many code points of the text may stay, not negative; the marker is not counted.
        keep: which part stays; of both ends the tail gets the odd code point.
        marker: what stands in place of what was cut.

    Returns:
        The text itself where it is within the limit.

    >>> truncate("one two three", 7)
    'one two... [truncated]'
    >>> truncate("one two three", 7, keep="ends", marker="[...]")
    'one[...]hree'
    """
    head, tail = cut(text, limit, keep)
    if head == tail:
        return text
    return text[:head] + marker + text[tail:]


def cut(text: str, limit: int, keep: CutSide) -> tuple[int, int]:
    """Return the plan of a cut: where the head that stays ends, and where the tail begins.

    ``text[:head]`` and ``text[tail:]`` stay.  Both are ``len(text)`` where nothing is cut, and
    ``head < tail`` where something is.  Arguments are those of `truncate`.

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
