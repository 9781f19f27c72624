"""Pair calls with their results, newest first.

The walk goes backwards through the messages and yields a block as soon as its order and its result are
certain, so that a job may stop when its budget is spent. The rules: ids decide, and a result belongs to the
nearest earlier unanswered call with its id, else to the only earlier one that has it as its other id; without an id, the turn, the tool's name and the order within the
turn decide; a second result for an answered call is kept aside, except that a real one replaces one that was
made up for an interrupted call, and a later one replaces one that says that it is not the last. Within one message,
calls come before results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry._input.sources import PREVIEW, held_output
from toolcarry.errors import InputError
from toolcarry.model.formats import SPEAKERS, read_message, read_spoken
from toolcarry.model.formats.message import MessageParts, ToolCall, ToolResult
from toolcarry.model.pairing.block import Entry, call_entry, result_entry
from toolcarry.model.pairing.pending import OpenTurn, PendingResults
from toolcarry.model.pairing.provisional import replaces
from toolcarry.model.session import Branch, Directories, Places
from toolcarry.types.unread import MOST_PLACES, Unread, UnreadPlace


def with_whole(result: ToolResult, record: JsonObject) -> ToolResult:
    """Return a result with its whole text, which the record has next to the message, in place of a preview."""
    if not (isinstance(result.content, str) and result.content.startswith(PREVIEW)):
        return result
    return result._replace(content=held_output(record) or result.content)


class Walk:
    """The backward walk. ``duplicate_results`` counts the second results that it passed.

    ``walked_messages`` counts the messages and records that it passed, and ``unread`` holds what no format knows of them:
    the position of each such message, and its first part, call or record of unknown structure, newest first.
    ``second_results`` keeps further results of a call, by the order of its entry, with ``second_places`` for their
    positions; ``second_positions`` has all positions. If it follows a branch, ``entries`` ends where the branch is lost.
    """

    def __init__(self, messages: Sequence[Any], branch: Branch | None = None) -> None:
        self.duplicate_results = 0
        self.walked_messages = 0
        self.unread: list[tuple[int, JsonObject]] = []
        self.second_results: dict[int, list[JsonObject]] = {}
        self.second_places: dict[int, list[int]] = {}
        self.second_positions: list[int] = []
        self._messages = messages
        self._places = Places(messages, branch)
        self._directories = Directories(messages)
        self._main = PendingResults()
        self._pending_by_scope: dict[str, PendingResults] = {}
        self._held: list[Entry] = []
        self._waiting = 0
        self._order = 0

    @property
    def needs_import(self) -> bool:
        """True if the walk ended at a message that only an importer can read."""
        return self._places.needs_import

    @property
    def repeated_records(self) -> int:
        """The number of records that were skipped because they are written again later."""
        return self._places.repeated_records

    def unread_report(self) -> Unread:
        """Report what no format knows."""
        first = [
            UnreadPlace.of(position, wire)
            for position, wire in self.unread[: -MOST_PLACES - 1 : -1]
        ]
        return Unread(len(self.unread), self.walked_messages, tuple(first))

    def entries(self) -> Iterator[Entry]:
        """Yield every block, newest first. An entry without call is a result whose call is missing, and vice versa."""
        messages = self._messages
        for position in range(len(messages) - 1, -1, -1):
            record = object_at(position, messages[position])
            # An empty object replaces a line that was skipped.
            self.walked_messages += len(record) > 0
            placed = self._places.place(record, position)
            if placed is not None:
                yield from self._read(record, position, *placed)
            if self.needs_import or self._places.is_lost:
                return
        if self._held:
            for pending_results in (self._main, *self._pending_by_scope.values()):
                self._close_turn(pending_results)
            self._settle_rest()
            yield from self._flush()

    def _read(
        self,
        record: JsonObject,
        position: int,
        message: JsonObject,
        scope: str,
        is_active: bool,
    ) -> list[Entry]:
        """Read a message, and return the entries that it makes certain."""
        message_parts = MessageParts()
        if read_message(message, message.get("role"), message_parts) is None:
            self._places.needs_import = True
            return []
        pending_results = (
            self._pending_by_scope.setdefault(scope, PendingResults()) if scope else self._main
        )
        calls, results = message_parts.calls, message_parts.results
        if message_parts.unread is not None:
            self.unread.append((position, message_parts.unread))
        if len(results) == 1:  # the record holds the output of one call
            results[0] = with_whole(results[0], record)
        ready: list[Entry] = []
        if pending_results.turn is not None and not calls and not results and is_users(message):
            self._part_turn(pending_results)
            return [] if self._waiting else self._flush()
        if results:
            if pending_results.turn is not None and pending_results.turn.has_calls:
                self._close_turn(pending_results)
                if not self._waiting:
                    ready = self._flush()
            self._add_results(results, position, pending_results, scope, is_active)
        if calls:
            directory = self._directories.at(record, position)
            self._add_calls(calls, position, pending_results, scope, is_active, directory)
            if not self._waiting:
                ready += self._flush()
        return ready

    def _add_results(
        self,
        results: list[ToolResult],
        position: int,
        pending_results: PendingResults,
        scope: str,
        is_active: bool,
    ) -> None:
        for result in reversed(results):
            self._order = order = self._order + 1
            call_id = result.call_id
            entry = result_entry(result, position, order, scope, is_active)
            self._held.append(entry)
            if not call_id:
                if pending_results.turn is None:
                    pending_results.turn = OpenTurn()
                pending_results.turn.results.append(entry)
            elif call_id in pending_results.pending:
                pending_results.pending[call_id].append(entry)
            else:
                pending_results.pending[call_id] = [entry]
        self._waiting += len(results)

    def _add_calls(
        self,
        calls: list[ToolCall],
        position: int,
        pending_results: PendingResults,
        scope: str,
        is_active: bool,
        directory: str,
    ) -> None:
        if pending_results.turn is not None:
            pending_results.turn.has_calls = True
        # Calls of one message are equally near to their results: if an id repeats in it, their order decides.
        nearest = [pending_results.nearest_result(call.call_id) for call in calls]
        for call, answered in zip(reversed(calls), reversed(nearest), strict=True):
            self._order = order = self._order + 1
            if answered is not None:
                self._waiting -= 1
                answered.add_call(call, position, order, is_active, directory)
                continue
            entry = call_entry(call, position, order, scope, is_active, directory)
            self._held.append(entry)
            self._wait_for_turn(entry, pending_results)

    def _wait_for_turn(self, entry: Entry, pending_results: PendingResults) -> None:
        """Make a call that no id answered wait for the results of its turn, if it may have one there."""
        turn = pending_results.turn
        if turn is None:
            if entry.call_id:
                return
            turn = pending_results.turn = OpenTurn()
            turn.has_calls = True
        if not entry.call_id or turn.results:
            turn.calls.append(entry)
            self._waiting += 1

    def _close_turn(self, pending_results: PendingResults) -> None:
        turn = pending_results.turn
        if turn is not None:
            self._waiting -= len(turn.calls) + len(turn.results)
            turn.pair()
            pending_results.turn = None

    def _part_turn(self, pending_results: PendingResults) -> None:
        """Split a turn at a user message: the calls after it are paired first, those before it get the other results."""
        turn = pending_results.turn
        if turn is None or not turn.calls:
            return
        self._close_turn(pending_results)
        pending_results.turn = turn.rest()
        if pending_results.turn is not None:
            self._waiting += len(pending_results.turn.results)

    def _settle_rest(self) -> None:
        """Settle results that still wait at the beginning of the conversation: second ones, or ones without call."""
        self._held.sort(key=_by_order)
        self._pair_by_other_ids()
        answered: dict[tuple[str, str], Entry] = {}
        for entry in reversed(self._held):
            key = (entry.scope, entry.call_id)
            if not entry.call_id:
                continue
            if entry.call is not None:
                answered[key] = entry
            elif entry.result is not None and key in answered:
                self._settle_duplicate(answered[key], entry)

    def _pair_by_other_ids(self) -> None:
        """Pair results with the only call before them that has their id as its other id.

        Calls of Responses have two: ``call_id``, which results name, and the ``id`` of the item.
        """
        own = {(entry.scope, entry.call_id) for entry in self._held if entry.call is not None}
        others: dict[tuple[str, str], list[Entry]] = {}
        for entry in self._held:
            for other in other_ids(entry):
                others.setdefault((entry.scope, other), []).append(entry)
        if not others:
            return
        for entry in reversed(self._held):
            key = (entry.scope, entry.call_id)
            calls = others.get(key, ()) if key not in own and entry.call is None else ()
            if len(calls) != 1 or calls[0].position > entry.result_position:
                continue
            if calls[0].result is not None:
                self._settle_duplicate(calls[0], entry)
            else:
                calls[0].take_over(entry)
                entry.result = None

    def _settle_duplicate(self, answered: Entry, second: Entry) -> None:
        self.duplicate_results += 1
        kept, position = second.result, second.result_position
        if replaces(second, answered):
            kept, position = answered.result, answered.result_position
            answered.take_over(second)
        self.second_positions.append(position)
        if kept is not None:
            self.second_results.setdefault(answered.order, []).append(kept)
            self.second_places.setdefault(answered.order, []).append(position)
        second.result = None

    def _flush(self) -> list[Entry]:
        """Return the held entries, newest first. An entry without call and result gave its result to a call."""
        held = self._held
        self._held = []
        if len(held) > 1:
            held.sort(key=_by_order)
            held = [entry for entry in held if entry.call is not None or entry.result is not None]
        return held


_by_order = attrgetter("order")


def other_ids(entry: Entry) -> set[str]:
    """Return the ids of a call by which no result should name it."""
    call = entry.call or {}
    return {text_or_empty(call.get("id")), text_or_empty(call.get("call_id"))} - {"", entry.call_id}


def find_unread(messages: Sequence[Any]) -> Unread | None:
    """Report the messages whose structure no format knows; ``None`` if only an importer can read one of them."""
    walk = Walk(messages)
    for _ in walk.entries():
        pass
    return None if walk.needs_import else walk.unread_report()


def is_users(message: JsonObject) -> bool:
    """Return true if a message is from the user."""
    return SPEAKERS.get(read_spoken(message).speaker) == "USER"


def object_at(position: int, message: object) -> Any:
    """Return ``message`` as an object. Raises ``InputError`` if it is not one."""
    found = as_object(message)
    if found is None:
        kind = type(message).__name__
        raise InputError(f"message {position} is not an object, but {kind}", position)
    return found
