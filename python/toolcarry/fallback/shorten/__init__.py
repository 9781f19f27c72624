"""Shorten a text by what it is: the output of tests and builds, a log, a diff, a stack trace, hits, a listing, or JSON.

The outcome has lines of the text, with ``... 12 lines`` for those that are left out. JSON stays JSON, with its keys and
its short values. A text of no known kind, or without an important line that fits, is not shortened here but cut; of what a
terminal showed, the last state is. The kind ``lines``, which chooses lines of such a text, is of projections alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from toolcarry.fallback.shorten.hits import read_hits
from toolcarry.fallback.shorten.json_values import shorten_json
from toolcarry.fallback.shorten.kinds import LISTINGS, SEARCHES, find_kind, rank_lines, words_of
from toolcarry.fallback.shorten.lines import Ranking, choose
from toolcarry.fallback.shorten.listing import read_listing
from toolcarry.fallback.tokens.count import SURROGATES, count_tokens
from toolcarry.model.content import terminal
from toolcarry.model.content.client_blocks import without_blocks
from toolcarry.model.text.truncate import cut
from toolcarry.types.policy import NO_LIMIT
from toolcarry.types.values import CutSide, EncodingName

CHARS_PER_TOKEN: Final = 5
"""The characters of a token at most, where their number is only a first try."""
MOST_TRIES: Final = 4


class Shortened(NamedTuple):
    """A shortened text in two parts, between which the marker stands: at its end, or inside of JSON."""

    before: str
    after: str
    opened: str = ""
    closed: str = ""
    """What stands around the marker inside of JSON."""

    def with_marker(self, marker: str) -> str:
        return f"{self.before}{self.opened}{marker}{self.closed}{self.after}"

    def with_marker_below(self, marker: str) -> str:
        """Return the text with the marker after it, also after JSON."""
        return f"{self.before}{self.after}\n{marker}" if self.opened else self.with_marker(marker)

    @property
    def size(self) -> int:
        return sum(map(len, self))


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
    is_settled = "terminal" in kinds and terminal.is_drawn(text)
    text = without_blocks(text)
    if "json" in kinds:
        found = shorten_json(text, room, side)
        if found is not None:
            return Shortened(*found)
    lines = terminal.settled(text).removesuffix("\n").split("\n")
    ranking = _rank(text, lines, words_of(command), kinds)
    body = None if ranking is None else choose(lines, ranking, room - 1)
    if is_settled:
        text = terminal.settled(text)
    if body is not None:
        return Shortened(f"{body}\n", "")
    if not is_settled:
        return None
    head, tail = cut(text, max(room - 2, 0), side)
    if not head and tail == len(text):
        return None
    before, after = text[:head], text[tail:]
    return Shortened(f"{before}\n" if before else "", f"\n{after}" if after else "")


def _rank(
    text: str, lines: Sequence[str], words: AbstractSet[str], kinds: Sequence[str]
) -> Ranking | None:
    """Return the ranks of the lines of a text by its kind; ``None`` if that is not known, or may not be shortened."""
    is_search = not words.isdisjoint(SEARCHES)
    if is_search and "hits" in kinds:
        ranking = read_hits(lines)
        if ranking is not None:
            return ranking
    if (is_search or not words.isdisjoint(LISTINGS)) and "listing" in kinds:
        ranking = read_listing(lines)
        if ranking is not None:
            return ranking
    kind = find_kind(text, words)
    return rank_lines(lines, kind) if kind is not None and kind.name in kinds else None


def fit(
    at: Callable[[int], Shortened | None],
    room: int,
    tokens: int,
    encoding: EncodingName,
    marker: str,
) -> tuple[int, Shortened] | None:
    """Return a room in characters with what ``at`` returns for it; ``None`` if the text can only be cut.

    The room is lowered until the shortened text with its marker is within the limit in tokens.
    """
    if tokens != NO_LIMIT:
        room = min(room, CHARS_PER_TOKEN * tokens)
    for _ in range(MOST_TRIES):
        found = at(room) if room > 0 else None
        if found is None:
            return None
        counted = 0 if tokens == NO_LIMIT else count_tokens(found.with_marker(marker), encoding)
        if counted <= tokens:
            return room, found
        room = min(room, found.size) * tokens // counted - len(marker) // 2
    return None


def last_state(text: str, kinds: Sequence[str]) -> str | None:
    """Return what a terminal finally shows of a text; ``None`` if the text has no signs of a terminal."""
    return terminal.last_state(text) if "terminal" in kinds else None
