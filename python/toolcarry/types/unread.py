"""The report about messages, records and parts of a structure that no format knows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from toolcarry.types.value import Value

__all__ = ["NOTHING", "Unread", "UnreadPlace", "cleaned"]

MOST_PLACES: Final = 5
"""The maximum number of places in a report."""
MOST_KEYS: Final = 8
LONGEST_KEY: Final = 40
"""A longer key is cut. Keys name members, but a hostile input may write anything into them."""


class UnreadPlace(Value, frozen=True):
    """A message, by its position, with the keys of its first part, call or record that no format knows.

    Only keys are reported, never text: at most eight, each of at most forty characters, without control characters.
    """

    position: int
    keys: tuple[str, ...] = ()

    @classmethod
    def of(cls, position: int, keys: Iterable[str]) -> UnreadPlace:
        """Make a place of an object's keys."""
        return cls(position, cleaned(keys))


class Unread(Value, frozen=True):
    """The messages that a job could not read: ``count`` of the ``total`` that it walked, and the ``first`` of them.

    Records count as messages. Such a message has a structure that no format knows, or a part or a call of such a structure.
    It is left out of what the job makes, or passed on unchanged. ``texts`` counts those of an imported file that were read,
    apart from a text in a member that its producer is not known to write. It is false if everything was read.

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
    """Return keys as a report shows them."""
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
