"""A conversation as a text history, and the counts of its messages and calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from toolcarry._input.objects import Wire
from toolcarry._pure.context import inactive_reason
from toolcarry._pure.context.limits import Measure
from toolcarry._pure.pairing import Walk
from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.text_history.budget import shrink
from toolcarry._pure.text_history.host_calls import record_entry
from toolcarry._pure.text_history.placement import joined, place_entries, place_records
from toolcarry._pure.text_history.read import Spoken
from toolcarry.types.values import EncodingName, TextMessage

RecountCounts = tuple[
    int, int, int, int, int, int, int, int, int, int, int, dict[str, int], int, int, tuple[int, ...], tuple[int, ...],
    tuple[int, ...], tuple[int, ...], tuple[int, ...], int, int, int | None, bool,
]  # fmt: skip
"""The fields of a ``RecountReport``, in their order, except for the skipped lines."""


def recount(
    messages: Sequence[Any],
    records: Sequence[Wire],
    turn_id: str,
    max_result_length: int,
    total: int | None,
    encoding: EncodingName | None,
) -> tuple[list[TextMessage], RecountCounts]:
    """Return a text history, and its counts. ``total`` is in tokens of the encoding, or in characters without one."""
    spoken = Spoken(messages, turn_id)
    walk = Walk(messages)
    entries: list[Entry] = []
    excluded: dict[str, int] = {}
    for entry in walk.entries():
        if entry.is_active:
            entry.read_arguments()
            entries.append(entry)
        else:
            reason = inactive_reason(entry)
            excluded[reason] = excluded.get(reason, 0) + 1
    entries.reverse()
    end = len(messages)
    told = spoken.told
    place_entries(told, entries, spoken.turns, max_result_length, end)
    seated = [(record, record_entry(record)) for record in records]
    asked = (turn_id, max_result_length, end)
    without_turn = place_records(told, seated, spoken.turns, *asked)
    told = kept = joined(told)
    size = None
    if total is not None:
        kept, size = shrink(told, total, Measure(encoding))
    found: list[TextMessage] = [
        {"role": message.role, "content": message.content()} for message in kept
    ]
    holders = set(walk.second_positions)
    for entry in entries:
        holders |= {entry.position, entry.result_position}
    silent = spoken.silent - {message.position for message in told if not message.is_made}
    staying = set(kept)
    gone = [message for message in told if message not in staying]
    entries += [entry for _, entry in seated]
    lines = [line for message in kept for line in message.lines]
    fates = Counter([line.fate for line in lines])
    return found, (
        len(found),
        len(entries),
        fates["cut"],
        fates["cut_further"],
        fates["shortened"],
        len(entries) - len(lines),
        sum([entry.result is None for entry in entries]),
        sum([entry.call is None for entry in entries]),
        walk.duplicate_results,
        walk.repeated_records,
        sum([entry.is_error for entry in entries]),
        excluded,
        spoken.inactive,
        spoken.thinking,
        tuple(sorted(silent & holders)),
        tuple(sorted(silent - holders)),
        tuple(spoken.without_role),
        tuple(without_turn),
        tuple([message.position for message in gone if not message.is_made]),
        sum([line.chars_before for message in told for line in message.lines]),
        sum([len(message["content"]) for message in found]),
        None if encoding is None else size,
        bool(told) and not kept,
    )
