"""Shorten a text by what it is: the output of tests and builds, a log, a diff, a stack trace, or JSON.

The outcome has lines of the text, with ``... 12 lines`` for those that are left out. JSON stays JSON, with its keys and
its short values. A text of no known kind is not shortened here but cut, as is one of which nothing important would fit;
of what a terminal showed, the last state is cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from toolcarry._pure.shorten.json_values import shorten_json
from toolcarry._pure.shorten.kinds import find_kind, rank_lines
from toolcarry._pure.shorten.lines import choose
from toolcarry._pure.shorten.terminal import is_drawn, settled
from toolcarry._pure.text.truncate import cut
from toolcarry._pure.tokens.count import SURROGATES
from toolcarry.types.values import CutSide


class Shortened(NamedTuple):
    """A shortened text in two parts, between which the marker stands: at its end, or inside of JSON."""

    before: str
    after: str

    def with_marker(self, marker: str) -> str:
        return f"{self.before}{marker}{self.after}"

    @property
    def size(self) -> int:
        return len(self.before) + len(self.after)


def shorten(
    text: str, command: str, kinds: Sequence[str], room: int, side: CutSide
) -> Shortened | None:
    """Return a text in at most ``room`` characters, its marker not counted; ``None`` if it can only be cut.

    ``command`` printed the text, or is empty, ``kinds`` are those that may be shortened, and ``side`` is the part that
    stays of a text of no known kind.

    >>> lines = ["test session starts", *["tests/test_a.py PASSED"] * 40, "E   assert 1 == 2", "1 failed, 40 passed"]
    >>> print(shorten("\\n".join(lines), "pytest -v", ("tests",), 120, "head").before)
    test session starts
    ... 40 passing lines
    E   assert 1 == 2
    1 failed, 40 passed
    <BLANKLINE>
    """
    if SURROGATES.search(text):
        return None
    if "json" in kinds:
        found = shorten_json(text, room)
        if found is not None:
            return Shortened(*found)
    kind = find_kind(text, command)
    if kind is not None and kind.name in kinds:
        lines = settled(text).removesuffix("\n").split("\n")
        body = choose(lines, rank_lines(lines, kind), room - 1, kind.label)
        if body is not None:
            return Shortened(f"{body}\n", "")
    if "terminal" not in kinds or not is_drawn(text):
        return None
    text = settled(text)
    head, tail = cut(text, max(room - 2, 0), side)
    if not head and tail == len(text):
        return None
    before, after = text[:head], text[tail:]
    return Shortened(f"{before}\n" if before else "", f"\n{after}" if after else "")


def last_state(text: str, kinds: Sequence[str]) -> str | None:
    """Return what a terminal shows of a text in the end; ``None`` if nothing about the text tells of a terminal."""
    if "terminal" not in kinds or not is_drawn(text) or SURROGATES.search(text):
        return None
    return settled(text) or None
