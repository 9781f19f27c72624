"""Results that stand before their calls, as a client leaves them that sorts its messages or compacts them.

No reader pairs them, since a result answers a call before it. But if only one call has the id, the result can belong to
no other, and the repair moves it after the call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from toolcarry._pure.pairing.block import Entry

if TYPE_CHECKING:
    from toolcarry._pure.projection.repair.destinations import Destination


def join_early(entries: Sequence[Entry], destination: Destination) -> list[Entry]:
    """Give each call without a result the first one before it with its id, if no other call has the id.

    The entries are in the order of the walk, newest first.
    """
    counts = Counter([entry.call_id for entry in entries if entry.call is not None])
    lost = {
        entry.call_id: entry
        for entry in entries
        if entry.call is None and entry.result is not None and is_only_result(entry, destination)
    }
    joined: set[int] = set()
    for entry in entries:
        early = lost.get(entry.call_id) if entry.call_id else None
        if early is None or entry.call is None or entry.result is not None:
            continue
        is_before = early.position < entry.position and early.scope == entry.scope
        if is_before and counts[entry.call_id] == 1 and destination.is_call(entry.call):
            entry.take_over(early)
            joined.add(early.order)
    return [entry for entry in entries if entry.order not in joined]


def has_early(entries: Iterable[Entry]) -> bool:
    """Return true if a result without call has the id of a call without result."""
    alone = [entry for entry in entries if entry.call is None or entry.result is None]
    lost = {entry.call_id for entry in alone if entry.call is None}
    return any(
        entry.call_id != "" and entry.call_id in lost for entry in alone if entry.result is None
    )


def is_only_result(entry: Entry, destination: Destination) -> bool:
    """Return true if a result has the form of the destination's results, and is no call as well."""
    result = entry.result or {}
    is_both = destination.can_be_call_and_result and destination.is_call(result)
    return destination.is_result(result) and not is_both
