"""The new messages of a request: those that its line of the history lacks."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toolcarry.integrations.recorder.lines import RecordedLine, Sign, Signed, lacks_result
from toolcarry.switch.request_fields import LazyMessages
from toolcarry.tract.canonical import NewMessage
from toolcarry.tract.hydration import restore
from toolcarry.tract.result_index import ResultIndex

__all__ = ["RecordedPlace", "known_in", "new_messages"]


class RecordedPlace(NamedTuple):
    """The place of a request in the history: its line, and the number of its signed messages that the line has.

    ``is_answered`` is true if the line has its answer, too. ``source`` is the line from which a new one takes results.
    """

    line: RecordedLine
    known: int
    is_answered: bool = False
    source: RecordedLine | None = None


def new_messages(
    messages: Sequence[Any], signs: Sequence[Signed], place: RecordedPlace
) -> list[NewMessage]:
    """Return the messages that the line lacks, with their bytes if these are known.

    A system prompt of the line's last request is not new. Results that a client cleared before it branched off are
    taken from the line that it left.
    """
    start = signs[place.known - 1].position + 1 if place.known else 0
    signed = {each.position for each in signs}
    whole: Sequence[Sequence[Any]] = ()
    if place.source is not None and lacks_result(signs):
        log = place.source.log
        whole = restore(log, ResultIndex(log), list(messages)).messages
    found: list[NewMessage] = []
    for position in range(start, len(messages)):
        message = messages[position]
        if not isinstance(message, dict):
            continue
        written = messages.written(position) if isinstance(messages, LazyMessages) else None
        if position not in signed and written is not None and hash(written) in place.line.known:
            continue
        if whole and whole[position] != [message]:
            found += map(NewMessage, whole[position])
        else:
            found.append(NewMessage(message, written))
    return found


def known_in(lines: Sequence[RecordedLine]) -> Mapping[int, Sign]:
    """Return the messages of the last requests of all lines."""
    return lines[0].known if len(lines) == 1 else ChainMap(*(line.known for line in lines))
