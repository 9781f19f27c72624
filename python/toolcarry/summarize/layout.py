"""Parts of a text that share the room that it has: what needs little takes what it needs, the rest is shared by weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from toolcarry.tokens import truncate

__all__ = ["Items", "Part", "Quotes", "fit", "join_parts"]

SHORTEST_QUOTE: Final = 40
CUT: Final = " [...] "
BETWEEN: Final = "\n\n"


class Part(Protocol):
    """A part under a heading."""

    title: str
    weight: int

    def draw(self, room: int) -> str:
        """The part in at most ``room`` characters; empty where that is too little."""


class Quotes:
    """Texts of others, oldest first, each a quotation; a newer one gets more room than an older one.

    >>> print(Quotes("Requests", 1, ["Fix it."]).draw(100))
    > Fix it.
    """

    def __init__(self, title: str, weight: int, texts: Sequence[str]) -> None:
        self.title, self.weight, self._texts = title, weight, texts

    def draw(self, room: int) -> str:
        """As many quotations as fit, from the newest on: it has half of the room, or what the older ones leave."""
        whole = [quote(text) for text in self._texts]
        older = sum(map(len, whole)) + len(BETWEEN) * (len(whole) - 1)
        if older <= room:
            return BETWEEN.join(whole)
        drawn: list[str] = []
        for text, quoted in zip(reversed(self._texts), reversed(whole), strict=True):
            older -= len(quoted) + len(BETWEEN)
            part = fit(text, max(room // 2, room - len(BETWEEN) - older))
            if not part:
                break
            drawn.append(part)
            room -= len(part) + len(BETWEEN)
        return BETWEEN.join(reversed(drawn))


class Items:
    """Lines of a list. Where not all fit, those at the end stay, or, with ``keeps_first``, those at the beginning.

    >>> print(Items("Files", 1, ["a.py", "b.py", "c.py"]).draw(19))
    - ... 2 more
    - c.py
    """

    def __init__(
        self, title: str, weight: int, lines: Sequence[str], *, keeps_first: bool = False
    ) -> None:
        self.title, self.weight, self._lines = title, weight, [f"- {line}" for line in lines]
        self._keeps_first = keeps_first

    def draw(self, room: int) -> str:
        """The lines that fit, and how many don't."""
        lines = self._lines if self._keeps_first else self._lines[::-1]
        used, kept = -1, 0
        for number, line in enumerate(lines, start=1):
            used += len(line) + 1
            left = len(lines) - number
            if used + (len(f"\n- ... {left} more") if left else 0) <= room:
                kept = number
        if not kept:
            return ""
        left = len(lines) - kept
        drawn = lines[:kept] + ([f"- ... {left} more"] if left else [])
        return "\n".join(drawn if self._keeps_first else drawn[::-1])


def quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def fit(text: str, room: int) -> str:
    """``text`` as a quotation of at most ``room`` characters, its middle cut out; empty where that says nothing.

    >>> fit("one two three four five six seven eight nine ten eleven twelve", 52)
    '> one two three four fi [...] nine ten eleven twelve'
    """
    quoted, limit = quote(text), room
    while len(quoted) > room:
        if limit < SHORTEST_QUOTE:
            return ""
        quoted = quote(truncate(text, limit, keep="ends", marker=CUT))
        limit = min(limit - 1, limit * room // len(quoted))
    return quoted


def join_parts(parts: Sequence[Part], max_chars: int) -> str:
    """The parts under their headings, in at most ``max_chars`` characters. A part without room is left out.

    >>> print(join_parts([Items("Files", 1, ["a.py"])], 100))
    ### Files
    <BLANKLINE>
    - a.py
    """
    left = list(parts)
    while left:
        drawn = draw_all(left, max_chars)
        if all(drawn):
            return BETWEEN.join(drawn)
        # What has no room gives its room away, the least important first.
        empty = [part for part, text in zip(left, drawn, strict=True) if not text]
        left.remove(min(empty, key=lambda part: part.weight))
    return ""


def draw_all(parts: Sequence[Part], max_chars: int) -> list[str]:
    """Each part with its heading; empty where it has no room."""
    whole = [draw(part, max_chars) for part in parts]
    room = max_chars - len(BETWEEN) * (len(parts) - 1)
    shared = list(range(len(parts)))
    while True:
        weights = sum(parts[place].weight for place in shared)
        small = [
            place
            for place in shared
            if whole[place] and len(whole[place]) * weights <= room * parts[place].weight
        ]
        if not small:
            break
        room -= sum(len(whole[place]) for place in small)
        shared = [place for place in shared if place not in small]
    for place in shared:
        whole[place] = draw(parts[place], max(0, room) * parts[place].weight // weights)
    return whole


def draw(part: Part, room: int) -> str:
    heading = f"### {part.title}\n\n"
    body = part.draw(max(0, room - len(heading)))
    return heading + body if body else ""
