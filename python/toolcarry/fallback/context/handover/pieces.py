"""The pieces of a hand-over, each with its exact size.

The sizes of pieces are summed, never counted again. So each piece begins with a letter or a sign other than a slash, and
ends with a line feed (see ``limits``). Foreign text is only ever in a fence that is longer than any run inside, or in one
line after words of ours, in which markdown does not act: so no text can forge a heading, a step or a speaker.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from toolcarry.fallback.context.fence import Source, fence_into
from toolcarry.fallback.context.handover.clean import short_line, without_keys
from toolcarry.fallback.context.inline import inert
from toolcarry.fallback.context.limits import Limits, Measure
from toolcarry.types.policy import NO_LIMIT

CHARS: Final = 4
"""The characters that stand for one token where the total counts characters."""
_MOST_CHARS: Final = 24
"""The most characters for each token of a text that is shown."""
LONGEST_INLINE: Final = 200
"""The characters of a text of one line that needs no fence."""


class Piece(NamedTuple):
    """A finished part of a context, its size, and true if a text in it was shortened, or became one line."""

    text: str
    size: int
    is_cut: bool = False
    is_outlined: bool = False


NOTHING: Final = Piece("", 0)


class Paper:
    """Writes pieces in the unit of a total."""

    def __init__(self, measure: Measure, limits: Limits) -> None:
        self.measure = measure
        self.limits = limits
        self.token = CHARS if measure.encoding is None else 1
        """The size that stands for one token."""

    def piece(self, text: str) -> Piece:
        return Piece(text, self.measure.size(text))

    def line_size(self, line: str) -> int:
        """Return what a line of a list takes at most, be it the last one, which an empty line follows, or not."""
        return max(self.measure.size(line), self.measure.size(f"{line}\n"))

    def fence(self, source: Source, limits: Limits, room: int, end: str) -> Piece | None:
        """Return a text in a fence, shortened to the room; ``None`` if too little of it would be shown."""
        most = _MOST_CHARS * room // self.token  # so that a long text is not counted as a whole
        limits = limits._replace(chars=min(limits.chars, most)) if most > 0 else limits
        fenced = fence_into(source, limits, room, self.measure, end)
        if fenced is None:
            return None
        return Piece(fenced.text, self.measure.size(fenced.text), fenced.is_cut)

    def spoken(self, label: str, text: str, room: int) -> Piece | None:
        """Return what a person said, after a label: in one line if it is short, else in a fence."""
        text = without_keys(text).strip("\n \t")
        if "\n" not in text and len(text) <= LONGEST_INLINE:
            piece = self.piece(f"**{label}:** {inert(short_line(text, LONGEST_INLINE))}\n\n")
            return piece if piece.size <= room else None
        head = self.piece(f"**{label}:**\n")
        free = Limits(NO_LIMIT, NO_LIMIT, self.limits.encoding)
        body = self.fence(Source(text, "text", "ends", ""), free, room - head.size, "\n")
        if body is None:
            return None
        return Piece(head.text + body.text, head.size + body.size, body.is_cut)

    def spoken_in_short(self, label: str, text: str) -> Piece:
        """Return the beginning and the end of what a person said, after a label, in one line."""
        line = inert_line(" ".join(without_keys(text).split()), LONGEST_INLINE)
        return self.piece(f"**{label}:** {line}\n\n")._replace(is_cut=True)


def inert_line(text: str, longest: int) -> str:
    """Return a text as one line in which no markdown acts."""
    return inert(short_line(text, longest))
