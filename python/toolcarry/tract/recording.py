"""Append the new messages of a live conversation to the history.

A recorder knows where a conversation ends, so nothing is compared here: messages are appended to the commit that is
expected to be the newest one. A result that the guard or the rule for previews refuses is left out, and the others are
written, since a live conversation can't be sent again without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from toolcarry.errors import InputError
from toolcarry.tract.canonical import Names, NewMessage
from toolcarry.tract.guard import Guard, is_flagged
from toolcarry.tract.importing import append_at, drafts_of, known_names
from toolcarry.tract.store.log import Draft, Head, Log, prepare

__all__ = ["INCOMPLETE", "Recorded", "append_new", "names_of"]

INCOMPLETE: Final = "incomplete"
"""The metadata of an interrupted answer, of which the received part is kept."""


class Recorded(NamedTuple):
    """The new head, the number of commits, the calls whose results were cut before, and the number of refused messages."""

    head: Head
    commits: int
    cut: tuple[str, ...]
    refused: int


def names_of(log: Log) -> Names:
    """Return the tool names by call id, which are read from the history when one is missing."""
    return Names(lambda: known_names(log))


def append_new(
    log: Log, expected: Head, messages: Sequence[NewMessage], names: Names, guard: Guard
) -> Recorded:
    """Append messages to the expected head in one transaction. Raises ``MovedError`` if the head is another one."""
    drafts: list[Draft] = []
    refused = 0
    for new in messages:
        try:
            (made,) = drafts_of([new], names)
            guard.check(made)
        except InputError:
            refused += 1
            continue
        drafts += made
    if not drafts:
        return Recorded(expected, 0, (), refused)
    head = append_at(log, expected, prepare(drafts, log.tenant))
    guard.tell(drafts)
    cut = tuple(str(draft.metadata["tool_call_id"]) for draft in drafts if is_flagged(draft))
    return Recorded(head, len(drafts), cut, refused)
