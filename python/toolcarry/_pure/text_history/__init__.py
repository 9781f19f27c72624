"""A conversation as a text history, and the counts of its messages and calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from toolcarry._input.objects import JsonObject
from toolcarry._pure.context import DEFAULT_RULE_SET, inactive_reason
from toolcarry._pure.context.limits import Measure
from toolcarry._pure.dedupe import Judging
from toolcarry._pure.pairing import Walk
from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.text_history.budget import shrink
from toolcarry._pure.text_history.host_calls import record_entry
from toolcarry._pure.text_history.placement import joined, place_entries, place_records
from toolcarry._pure.text_history.read import Spoken
from toolcarry.types.values import EncodingName, RecountReport, TextMessage


def recount(
    messages: Sequence[Any],
    records: Sequence[JsonObject],
    turn_id: str,
    max_result_length: int,
    total: int | None,
    encoding: EncodingName | None,
) -> tuple[list[TextMessage], RecountReport]:
    """Return a text history, and its report. ``total`` is in tokens of the encoding, or in characters without one."""
    spoken = Spoken(messages, turn_id)
    walk = Walk(messages)
    judging = Judging(DEFAULT_RULE_SET)
    entries: list[Entry] = []
    excluded: dict[str, int] = {}
    for entry in walk.entries():
        if entry.is_active:
            if entry.call is None:
                entry.read_arguments()
            judging.prepare(entry)
            entries.append(entry)
        else:
            reason = inactive_reason(entry)
            excluded[reason] = excluded.get(reason, 0) + 1
    entries.reverse()
    end = len(messages)
    history_messages = spoken.history_messages
    place_entries(history_messages, entries, spoken.turns, max_result_length, end)
    seated = [(record, record_entry(record)) for record in records]
    asked = (turn_id, max_result_length, end)
    without_turn = place_records(history_messages, seated, spoken.turns, *asked)
    history_messages = kept = joined(history_messages)
    size = None
    if total is not None:
        kept, size = shrink(history_messages, total, Measure(encoding))
    found: list[TextMessage] = [
        {"role": message.role, "content": message.content()} for message in kept
    ]
    holders = set(walk.second_positions)
    for entry in entries:
        holders |= {entry.position, entry.result_position}
    silent = spoken.silent - {
        message.position for message in history_messages if not message.is_made
    }
    staying = set(kept)
    gone = [message for message in history_messages if message not in staying]
    entries += [entry for _, entry in seated]
    lines = [line for message in kept for line in message.lines]
    fates = Counter([line.fate for line in lines])
    return found, RecountReport(
        messages=len(found),
        calls=len(entries),
        cut=fates["cut"],
        cut_further=fates["cut_further"],
        shortened=fates["shortened"],
        calls_left_out=len(entries) - len(lines),
        orphan_calls=sum([entry.result is None for entry in entries]),
        orphan_results=sum([entry.call is None for entry in entries]),
        duplicate_results=walk.duplicate_results,
        repeated_records=walk.repeated_records,
        errors=sum([entry.is_error for entry in entries]),
        excluded=excluded,
        inactive=spoken.inactive,
        thinking=spoken.thinking,
        client=spoken.client,
        folded=tuple(sorted(silent & holders)),
        silent=tuple(sorted(silent - holders)),
        without_role=tuple(spoken.without_role),
        without_turn=tuple(without_turn),
        left_out=tuple([message.position for message in gone if not message.is_made]),
        chars_before=sum(
            [line.chars_before for message in history_messages for line in message.lines]
        ),
        chars_after=sum([len(message["content"]) for message in found]),
        tokens_after=None if encoding is None else size,
        budget_too_small=bool(history_messages) and not kept,
        unread=walk.unread_report(),
    )
