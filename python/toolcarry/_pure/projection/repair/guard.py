"""The messages that a repair leaves alone: those of an exchange in which something could not be read.

A message of unknown structure may hold the call of a result after it, or the result of a call before it. Both are in
its exchange, which lasts from one message that only the user speaks in to the next. So nothing in the exchange is
removed, made up, moved, merged or renamed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject
from toolcarry._pure.content import spoken_text
from toolcarry._pure.formats import read_spoken
from toolcarry._pure.pairing import Walk, is_users
from toolcarry._pure.projection.blocks import Block
from toolcarry.types.unread import Unread


def guarded(messages: Sequence[Any], walk: Walk, blocks: Iterable[Block]) -> frozenset[int]:
    """Return the positions of the messages that a repair leaves alone; none if everything was read."""
    if not walk.unread:
        return frozenset()
    unread = sorted(position for position, _ in walk.unread)
    busy = {*unread, *walk.second_positions}
    for block in blocks:
        busy |= {block.entry.position, block.entry.result_position}
    spoken = [-1]
    spoken += [
        position
        for position, message in enumerate(messages)
        if position not in busy and is_users(message) and says_a_word(message)
    ]
    spoken.append(len(messages))
    found: set[int] = set()
    number = 0
    for position in unread:
        while spoken[number + 1] < position:
            number += 1
        if position not in found:
            found.update(range(spoken[number] + 1, spoken[number + 1]))
    return frozenset(found)


def says_a_word(message: JsonObject) -> bool:
    """Return true if a message has a text that is not blank: a blank one may be removed, and ends no exchange."""
    return bool(spoken_text(read_spoken(message).content).strip())


def unread_place(unread: Unread) -> list[str]:
    """Return the place of what was not read, for ``not_repaired``; nothing if everything was read.

    It names the first messages, and the number of the others.
    """
    if not unread:
        return []
    positions = [place.position for place in unread.first]
    more = len(unread) - len(positions)
    named = ", ".join(map(str, positions))
    others = f" and {more} more" if more > 0 else ""
    return [f"unread in message{'s' if len(unread) > 1 else ''} {named}{others}"]
