"""The marker in place of a result: one line with the reason, and the reference of the whole.

A reference is the id of the call. If an id repeats, its second call is ``id#2``; calls without id, or with one that is
not a plain word, are ``#1``, ``#2`` and so on. Only a text that is such a line and nothing else counts as a marker.
"""

from __future__ import annotations

from collections.abc import Iterable

from toolcarry._data import read_table
from toolcarry.types.values import Decision

_TEXTS = read_table("texts")
_START: str = _TEXTS["marker_start"]
_WHOLE: str = _TEXTS["marker_whole"]
ARGUMENT = ";"
"""The sign between the reference of a call and the name of one of its arguments: ``t1;content``. No id has it."""
MOST_ID = 64
"""The length of the longest id that is used as a reference."""


def marker_of(decision: Decision, chars: int, reference: str, cleared: str = "") -> str:
    """Return the marker for a result of ``chars`` characters, or for the part that was cut out of it.

    Without a ``reference`` the marker names none. ``cleared`` says what was cleared, if that was not only text.

    >>> marker_of(("superseded", "t2", 0, 0), 600, "t1")
    '[toolcarry: superseded by call t2; whole: t1]'
    >>> marker_of(("cut", "", 1_000, 9_500), 10_000, "t1")
    '[toolcarry: 1,500 of 10,000 characters; whole: t1]'
    """
    kind, by, head, tail = decision
    whole = f"{_WHOLE}{reference}" if reference else ""
    if kind == "superseded":
        return f"{_START}superseded by call {by}{whole}]"
    if kind == "rule":
        return f"{_START}left out by a rule{whole}]"
    if kind == "cleared":
        return f"{_START}cleared, {cleared or f'{chars:,} characters'}{whole}]"
    if kind == "shortened":
        return f"{_START}shortened from {chars:,} characters{whole}]"
    return f"{_START}{head + chars - tail:,} of {chars:,} characters{whole}]"


_BARE = tuple(
    f"{_START}{words}" for words in ("superseded by call ", "left out by a rule]", "cleared, ")
)
"""The beginnings of markers that stand in place of a whole result, which count without a reference, too."""


def is_marker(text: str) -> bool:
    """Return true if a text is a marker, and nothing else.

    >>> is_marker("[toolcarry: superseded by call b; whole: a]"), is_marker("See [toolcarry: cleared; whole: a]")
    (True, False)
    >>> is_marker("[toolcarry: cleared, 900 characters]")
    True
    """
    return (
        text.startswith(_START)
        and text.endswith("]")
        and (_WHOLE in text or text.startswith(_BARE))
        and "\n" not in text
        and text.find("]") == len(text) - 1
    )


class References:
    """The references of calls, in the order of the conversation. A later call changes none of them."""

    def __init__(self) -> None:
        self._given: set[str] = set()
        self._counts: dict[str, int] = {}

    def add(self, call_id: str) -> str:
        """Return the reference of the next call.

        >>> references = References()
        >>> [references.add(call_id) for call_id in ("a", "a", "", "b", "a#2")]
        ['a', 'a#2', '#1', 'b', 'a#2#2']
        """
        stem = call_id if _is_plain(call_id) else ""
        count = self._counts.get(stem, 0) + 1
        reference = stem if count == 1 and stem else f"{stem}#{count}"
        while reference in self._given:
            count += 1
            reference = f"{stem}#{count}"
        self._counts[stem] = count
        self._given.add(reference)
        return reference


def name_all(call_ids: Iterable[str]) -> list[str]:
    """Return the references of all calls of a conversation."""
    references = References()
    return [references.add(call_id) for call_id in call_ids]


def _is_plain(call_id: str) -> bool:
    """Return true if an id can be used in a marker unchanged: printable ASCII without brackets, and not too long."""
    return len(call_id) <= MOST_ID and all(
        "!" <= char <= "~" and char not in "[];" for char in call_id
    )
