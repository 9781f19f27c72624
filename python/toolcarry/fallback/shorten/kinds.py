"""The kinds of texts, and the ranks of their lines; the words are those of ``_data/shorten.json``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple

from toolcarry._data import read_table
from toolcarry.fallback.shorten.diff import rank_diff
from toolcarry.fallback.shorten.lines import Rank, Ranking


class Words(NamedTuple):
    """Words by which a line is recognised: at its start, at its end, or anywhere."""

    starts: tuple[str, ...]
    ends: tuple[str, ...]
    parts: tuple[str, ...]

    def matches(self, line: str) -> bool:
        return (
            line.startswith(self.starts)
            or line.endswith(self.ends)
            or any(part in line for part in self.parts)
        )


class TextKind(NamedTuple):
    """A kind of text: how it is recognised, and which of its lines matter."""

    name: str
    signs: tuple[str, ...]
    commands: tuple[str, ...]
    weak_signs: tuple[str, ...]
    folded: Words
    important: Words
    next: Words
    before: int
    after: int
    is_similar: bool
    """True if lines that differ only in their numbers are folded."""
    label: str


def _words(table: Mapping[str, Any]) -> Words:
    return Words(*(tuple(table.get(name, ())) for name in ("starts", "ends", "parts")))


def _kind(table: Mapping[str, Any]) -> TextKind:
    signs, commands, weak = (
        tuple(table.get(key, ())) for key in ("signs", "commands", "weak_signs")
    )
    folded, important, beside = (
        _words(table.get(key, {})) for key in ("folded", "important", "next")
    )
    before, after = table.get("before", 0), table.get("after", 0)
    is_similar = table.get("is_similar", False)
    return TextKind(
        table["name"], signs, commands, weak, folded, important, beside, before, after, is_similar, table["label"]
    )  # fmt: skip


_TABLE: Final = read_table("shorten")
KINDS: Final = tuple(map(_kind, _TABLE["kinds"]))
ERRORS: Final = tuple(_TABLE["errors"])
SEARCHES: Final = frozenset(_TABLE["searches"])
LISTINGS: Final = frozenset(_TABLE["listings"])

_LOOK: Final = 2_000
"""The characters at each end of a text in which its kind is looked for."""
_BETWEEN: Final = re.compile(r"[ \t\n;&|()/'\"=]+")
"""The characters between the words of a command."""


def words_of(command: str) -> frozenset[str]:
    """Return the words of a command, which is also the name of a tool that is no shell."""
    return frozenset(_BETWEEN.split(command))


def find_kind(text: str, words: AbstractSet[str]) -> TextKind | None:
    """Return the kind of a text; ``None`` if it is not known. The command suggests it, and the text has to agree.

    The text of a command that suggests nothing is looked at only at its ends.

    >>> find_kind("1 failed", words_of("npx jest")).name, find_kind("1 failed", words_of("cat a"))
    ('tests', None)
    """
    ends = text[:_LOOK], text[-_LOOK:]
    for kind in KINDS:
        if any(name in words for name in kind.commands):
            if any(sign in text for sign in (*kind.signs, *kind.weak_signs)):
                return kind
        elif any(sign in end for sign in kind.signs for end in ends):
            return kind
    return None


def rank_lines(lines: Sequence[str], kind: TextKind) -> Ranking:
    """Return the rank of each line. The first and the last line are next to what is important."""
    if kind.name == "diff":
        return rank_diff(lines, kind.label)
    ranks = [_rank(line, kind) for line in lines]
    if kind.is_similar:
        _fold_similar(lines, ranks)
    important = [place for place, rank in enumerate(ranks) if rank == Rank.IMPORTANT]
    for place in important:
        for near in range(max(place - kind.before, 0), min(place + kind.after + 1, len(lines))):
            if ranks[near] == Rank.PLAIN:
                ranks[near] = Rank.NEAR
    for place in (0, len(lines) - 1):
        ranks[place] = max(ranks[place], Rank.NEAR)
    return Ranking(ranks, kind.label)


def _rank(line: str, kind: TextKind) -> Rank:
    if not line or kind.folded.matches(line):
        return Rank.FOLDED
    if kind.important.matches(line):
        return Rank.IMPORTANT
    return Rank.NEAR if kind.next.matches(line) else Rank.PLAIN


_NUMBER: Final = re.compile("[0-9]+")


def _fold_similar(lines: Sequence[str], ranks: list[Rank]) -> None:
    """Fold lines that are, except for their numbers, like an earlier one. Of important ones the last stays, too."""
    known: dict[str, int] = {}
    for place, line in enumerate(lines):
        form = _NUMBER.sub("0", line)
        last = known.get(form)
        if last is not None:
            if ranks[place] != Rank.IMPORTANT:
                ranks[place] = Rank.FOLDED
            elif last >= 0:
                ranks[last] = Rank.FOLDED
            known[form] = place
        else:
            known[form] = -1
