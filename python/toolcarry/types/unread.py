"""The report about messages, records and parts whose structure no format knows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from toolcarry.types.value import Value

__all__ = ["NOTHING", "Unread", "UnreadPlace", "cleaned"]

MOST_PLACES: Final = 5
"""The maximum number of places in a report."""
MOST_KEYS: Final = 8
LONGEST_KEY: Final = 40
"""Longer keys are cut: keys name members, but a hostile input may write anything into them."""


class UnreadPlace(Value, frozen=True):
    """The position of a message, and the keys of its first part, call or record that no format knows.

    Only keys are reported, never text: at most eight keys of at most forty characters, without control characters.
    """

    position: int
    keys: tuple[str, ...] = ()

    @classmethod
    def of(cls, position: int, keys: Iterable[str]) -> UnreadPlace:
        """Make a place with an object's keys."""
        return cls(position, cleaned(keys))


class Unread(Value, frozen=True):
    """The messages that a job could not read: ``count`` of ``total``, and the ``first`` of them.

    Records count as messages. A message is unread if no format knows its structure, or that of one of its parts or
    calls. It is left out of the output, or passed on unchanged. ``texts`` counts the messages of an imported file that
    were read except for a text in a member that its producer is not known to write. The value is false if everything
    was read.

    >>> unread = Unread(1, 4, (UnreadPlace(2, ("id", "segments")),))
    >>> bool(unread), unread.is_everything, unread.first[0].keys
    (True, False, ('id', 'segments'))
    >>> unread.to_dict()
    {'count': 1, 'total': 4, 'first': [{'position': 2, 'keys': ['id', 'segments']}], 'texts': 0}
    """

    count: int = 0
    total: int = 0
    first: tuple[UnreadPlace, ...] = ()
    texts: int = 0

    @property
    def is_everything(self) -> bool:
        """True if no message was read."""
        return 0 < self.count - self.texts == self.total

    def __bool__(self) -> bool:
        return self.count > 0

    def __len__(self) -> int:
        return self.count


NOTHING: Final = Unread()


def cleaned(keys: Iterable[object]) -> tuple[str, ...]:
    """Return keys in the form that reports show."""
    found: list[str] = []
    for key in keys:
        if len(found) == MOST_KEYS:
            break
        name = str(key)
        shown = (
            name
            if len(name) <= LONGEST_KEY
            else f"{name[: LONGEST_KEY - 1]}\N{HORIZONTAL ELLIPSIS}"
        )
        found.append("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in shown))
    return tuple(found)
