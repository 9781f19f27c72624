"""Calls that are repeated after their results were removed, which shows that a projection left out too much."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from toolcarry._input.json import dump, loads_text_or_itself
from toolcarry._input.objects import as_object
from toolcarry.importers.read import read_message
from toolcarry.model.formats.message import MessageParts, ToolCall
from toolcarry.model.marker import References
from toolcarry.types.values import ProjectReport

__all__ = ["put_away", "refetched"]

AWAY: Final = frozenset(("cut", "cut_text", "shortened", "cleared", "dropped"))
"""The reasons for which a result is missing in a request. A superseded result is not missing, since a newer one is there."""


def put_away(
    report: ProjectReport, new: Collection[str], messages: Sequence[Any]
) -> frozenset[int]:
    """Return the hashes of the calls whose results were newly left out, given by their references."""
    if not new:
        return frozenset()
    wanted = {
        each.reference
        for each in report.replacements
        if each.reason in AWAY and each.reference in new
    }
    references = References()
    calls = calls_in(messages) if wanted else ()
    return frozenset(hash_of(call) for call in calls if references.add(call.call_id) in wanted)


def refetched(away: frozenset[int], messages: Sequence[Any]) -> frozenset[int]:
    """Return the hashes of the calls in new messages that repeat calls whose results were removed."""
    return away & {hash_of(call) for call in calls_in(messages)} if away else away


def calls_in(messages: Sequence[Any]) -> Iterator[ToolCall]:
    """Return the calls in messages, in order."""
    for message in messages:
        record = as_object(message)
        if record is not None:
            parts = MessageParts()
            read_message(record, record.get("role"), parts)
            yield from parts.calls


def hash_of(call: ToolCall) -> int:
    """Return a hash of a call's tool and arguments, valid in this process."""
    given = call.arguments
    arguments = loads_text_or_itself(given) if isinstance(given, str) else given
    return hash((call.server, call.name, dump(arguments, is_sorted=True)))
