"""What stands in place of a result: one line that says why, and by which reference the whole is found.

A reference is the id of the call. Where an id repeats, its second call is ``id#2``; calls whose id is no plain word or
missing are ``#1``, ``#2`` and so on. Only a text that is such a line and nothing else is taken for a marker.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolcarry._data import read_table
from toolcarry.types import Decision

TEXTS = read_table("texts")
START: str = TEXTS["marker_start"]
WHOLE: str = TEXTS["marker_whole"]
MOST_ID = 200
"""How long an id may be to name a result."""


def marker_of(decision: Decision, chars: int, reference: str) -> str:
    """What stands for a result of so many characters, or for what was cut out of it.

    >>> marker_of(("superseded", "t2", 0, 0), 600, "t1")
    '[toolcarry: superseded by call t2; whole: t1]'
    >>> marker_of(("cut", "", 1_000, 9_500), 10_000, "t1")
    '[toolcarry: 1,500 of 10,000 characters; whole: t1]'
    """
    kind, by, head, tail = decision
    if kind == "superseded":
        return f"{START}superseded by call {by}{WHOLE}{reference}]"
    if kind == "rule":
        return f"{START}left out by a rule{WHOLE}{reference}]"
    if kind == "cleared":
        return f"{START}cleared, {chars:,} characters{WHOLE}{reference}]"
    return f"{START}{head + chars - tail:,} of {chars:,} characters{WHOLE}{reference}]"


def is_marker(text: str) -> bool:
    """Whether a text is a marker, and nothing else.

    >>> is_marker("[toolcarry: superseded by call b; whole: a]"), is_marker("See [toolcarry: cleared; whole: a]")
    (True, False)
    """
    return (
        text.startswith(START)
        and text.endswith("]")
        and WHOLE in text
        and "\n" not in text
        and text.find("]") == len(text) - 1
    )


REFERENCE = re.compile(rf"^{re.escape(START)}[^\]\n]+{re.escape(WHOLE)}([^\]\s]+)\]$", re.MULTILINE)


def last_reference(text: str) -> str:
    """The reference of the last marker that is a line of a text; empty where there is none.

    >>> last_reference("x = 1\\n[toolcarry: 5 of 900 characters; whole: t1#2]")
    't1#2'
    """
    found: list[str] = REFERENCE.findall(text)
    return found[-1] if found else ""


NUMBERS = re.compile(r"(#[0-9]+)+\Z")
MOST_NUMBER = "#999999"


def widest(reference: str) -> str:
    """A reference as long as any that its call may have.

    What a projection takes out is not counted in the next one, in which ``t1#2`` may be ``t1``: what is worth a marker, and
    how much room one leaves, is decided by this one, so that both decide alike.

    >>> [widest(reference) for reference in ("t1", "t1#2", "#12")]
    ['t1#999999', 't1#999999', '#999999']
    """
    return max(NUMBERS.sub("", reference) + MOST_NUMBER, reference, key=len)


class References:
    """Names for calls, in the order of the conversation: what comes later changes none of them."""

    def __init__(self) -> None:
        self._given: set[str] = set()
        self._counts: dict[str, int] = {}

    def add(self, call_id: str) -> str:
        """The reference of the next call.

        >>> references = References()
        >>> [references.add(call_id) for call_id in ("a", "a", "", "b", "a#2")]
        ['a', 'a#2', '#1', 'b', 'a#2#2']
        """
        stem = call_id if is_plain(call_id) else ""
        count = self._counts.get(stem, 0) + 1
        reference = stem if count == 1 and stem else f"{stem}#{count}"
        while reference in self._given:
            count += 1
            reference = f"{stem}#{count}"
        self._counts[stem] = count
        self._given.add(reference)
        return reference


def name_all(call_ids: Iterable[str]) -> list[str]:
    """The references of all calls of a conversation."""
    references = References()
    return [references.add(call_id) for call_id in call_ids]


def is_plain(call_id: str) -> bool:
    """Whether an id can stand in a marker as it is: printable ASCII without brackets, and not too long."""
    return len(call_id) <= MOST_ID and all(
        "!" <= char <= "~" and char not in "[];" for char in call_id
    )
