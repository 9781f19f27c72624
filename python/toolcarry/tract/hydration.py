"""Hydration: put the canonical results back into messages in which a client has previews, markers, placeholders or nothing.

The history comes first: a null, a placeholder or a part of a result never replaces its value. A result is restored only
if its call certainly is the one of the history (``matching``). The messages keep their order, and calls their results;
a result that is missing altogether is put where its provider wants it, if the history has it in the same format.
Contents are read from the history at most once, and all of them together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from toolcarry._data import read_table
from toolcarry._input.json import loads_arguments
from toolcarry._input.objects import as_object, plain_messages
from toolcarry._util.workers import check_wanted
from toolcarry.errors import InputError
from toolcarry.importers.read import read_call, read_message
from toolcarry.model.content import is_stand_in, result_text
from toolcarry.model.formats.message import MessageParts, ToolCall, ToolResult
from toolcarry.model.marker import is_marker
from toolcarry.model.result_slot import RESPONSE_KEYS, slot_at
from toolcarry.tract.canonical import FLAG, is_cut_wire, unmarked
from toolcarry.tract.commit_codec import UNREADABLE, StoredParts
from toolcarry.tract.compile import own_message, rebuilt, with_text
from toolcarry.tract.matching import Calls, Said, match
from toolcarry.tract.result_index import ResultIndex, Results
from toolcarry.tract.store.log import Log
from toolcarry.tract.store.types import CommitInfo, Hydrated
from toolcarry.tract.truncation import MEMBERS, has_preview, is_truncated

__all__ = ["Restored", "calls_in", "hydrate", "needs_refetch", "restore", "wholes_for"]

PREVIEW_MEMBERS: Final = frozenset(("preview", "shown", "total", "reference"))
"""The metadata of a preview."""


MARKS: Final = frozenset(("metadata", *PREVIEW_MEMBERS, *MEMBERS))
"""The members that may say that a result is a preview, or cut."""


class Found(NamedTuple):
    """A result of the messages, by the position of its message."""

    place: int
    result: ToolResult


class Asked(NamedTuple):
    """A call of the messages, by the position of its message and its number among all calls."""

    place: int
    number: int
    call: ToolCall


class Wanted(NamedTuple):
    """A result that the history may have in full: that of a ``call`` without one, or one that is not whole."""

    place: int
    call_id: str
    stored: Sequence[CommitInfo]
    """The results of the same call in the history."""
    result: ToolResult | None = None
    call: Asked | None = None


class Restored(NamedTuple):
    """Messages with restored results: for each given message, that message, after the results that come before it and
    before those that come after it. ``restored`` and ``refetch`` are those of ``Hydrated``."""

    messages: list[list[dict[str, Any]]]
    restored: tuple[str, ...] = ()
    refetch: tuple[str, ...] = ()


class Whole(NamedTuple):
    """A result of the history in full."""

    text: str
    wire: Mapping[str, Any] | None
    """The result in the format in which it was recorded; ``None`` for a text."""
    commit: CommitInfo


def hydrate(log: Log, index: ResultIndex, messages: Sequence[Mapping[str, Any]]) -> Hydrated:
    """Restore results that are missing, cleared or cut in messages, if the history has them in full."""
    done = restore(log, index, messages)
    return Hydrated(list(chain.from_iterable(done.messages)), done.restored, done.refetch)


def restore(log: Log, index: ResultIndex, messages: Sequence[Mapping[str, Any]]) -> Restored:
    """Do the same as ``hydrate``, and return the restored messages by the given ones."""
    records = plain_messages(messages)
    paired, asked = calls_in(records)
    if next(wanted_in(paired, asked, {}, Calls()), None) is None:
        return Restored([[record] for record in records])
    results = index.read()
    pairs = match(paired, results.paired, count_fresh(records, asked))
    wanted = sorted(wanted_in(paired, asked, pairs, results.paired), key=place_of)
    wholes = read_wholes(log, results, chain.from_iterable(each.stored for each in wanted))
    swaps: dict[int, dict[str, Any]] = {}
    missing: dict[int, list[Missing]] = {}
    restored: list[str] = []
    refetch: list[str] = []
    for place, call_id, stored, result, call in wanted:
        check_wanted()
        whole = only_whole(wholes, stored)
        wire = None if whole is None or call is None else answer_to(call.call, whole)
        if whole is None or (call is not None and wire is None):
            refetch.append(call_id)
        elif call is not None and wire is not None:
            restored.append(call_id)
            missing.setdefault(place, []).append(Missing(call.number, wire))
        elif result is not None and (
            whole.text or result_text(result.content) or result.content is None
        ):
            restored.append(call_id)
            swaps[id(result.wire)] = with_whole(result.wire, whole)
    numbers = {
        id(found.result.wire): number
        for number, each in enumerate(paired.calls)
        for found in each.results
    }
    changed = {each.place for each in wanted}
    return Restored(
        [
            [rebuilt(each, swaps, set()) for each in held] if place in changed else held
            for place, held in enumerate(with_missing(records, numbers, missing))
        ],
        tuple(restored),
        tuple(refetch),
    )


def wholes_for(index: ResultIndex, messages: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the texts of whole results in messages, by the hashes of the results of the same calls in the history."""
    records = plain_messages(messages)
    paired, asked = calls_in(records)
    known = index.read().paired
    found: dict[str, str] = {}
    for number, at in match(paired, known, count_fresh(records, asked)).items():
        own, stored = paired.calls[number].results, known.calls[at].results
        if len(own) == len(stored) == 1 and not is_placeholder(own[0].result):
            found[stored[0].commit_hash] = result_text(own[0].result.content)
    return found


def place_of(wanted: Wanted) -> int:
    return wanted.place


def calls_in(records: Sequence[dict[str, Any]]) -> tuple[Calls[Found], list[Asked]]:
    """Return the calls of messages with their results, and the same calls as they are written."""
    paired: Calls[Found] = Calls()
    asked: list[Asked] = []
    for place, record in enumerate(records):
        check_wanted()
        parts = MessageParts()
        try:
            read_message(record, record.get("role"), parts)
        except UNREADABLE:
            continue
        start = len(asked)
        paired.add_calls(
            Said(call.call_id, call.name, loads_arguments(call.arguments)) for call in parts.calls
        )
        asked += (Asked(place, number, call) for number, call in enumerate(parts.calls, start))
        for result in parts.results:
            paired.add_result(result.call_id, result.name, Found(place, result))
    return paired, asked


def count_fresh(records: Sequence[dict[str, Any]], asked: Sequence[Asked]) -> int:
    """Return the number of calls after which the model has said nothing, so that the history may lack them."""
    count = len(asked)
    for place in range(len(records) - 1, -1, -1):
        while count and asked[count - 1].place == place:
            count -= 1
        if is_item(records[place]):  # each parallel call is an item
            continue
        if count < len(asked) or records[place].get("role") in ("assistant", "model"):
            break
    return len(asked) - count


def wanted_in(
    paired: Calls[Found],
    asked: Sequence[Asked],
    pairs: Mapping[int, int],
    known: Calls[CommitInfo],
) -> Iterator[Wanted]:
    """Yield the results that are not whole, or missing, with those of the same calls in the history."""
    for number, (call, written) in enumerate(zip(paired.calls, asked, strict=True)):
        stored = known.calls[pairs[number]].results if number in pairs else ()
        if not call.results and wanted_answer(written.call.wire):
            yield Wanted(written.place, call.said.call_id, stored, call=written)
        for place, result in call.results:
            if is_placeholder(result):
                yield Wanted(place, result.call_id, stored, result)
    ids = {call.said.call_id for calls in (paired, known) for call in calls.calls}
    for call_id, found in paired.lone.items():
        is_certain = call_id and call_id not in ids and len(found) == 1
        for place, result in found:
            if is_placeholder(result):
                stored = known.lone.get(call_id, ()) if is_certain else ()
                yield Wanted(place, call_id, stored, result)


def read_wholes(log: Log, results: Results, commits: Iterable[CommitInfo]) -> dict[int, Whole]:
    """Return those of the results that the history has in full, by the sequences of their commits."""
    roots = sorted({each.sequence: each for each in commits}.values(), key=sequence_of)
    filled = [results.whole(root) for root in roots]
    again = [root for root, whole in zip(roots, filled, strict=True) if root is not whole]
    parts = StoredParts()
    cut = {
        root.sequence: parts.result(root, content)
        for root, content in zip(again, log.contents_of(again), strict=True)
    }
    found: dict[int, Whole] = {}
    for root, commit, content in zip(roots, filled, log.contents_of(filled), strict=True):
        text, wire = parts.text(commit, content), parts.result(commit, content)
        if is_whole(commit, text, wire):
            was = cut.get(root.sequence)
            found[root.sequence] = Whole(text, wire if was is None else with_text(was, text), root)
    return found


def sequence_of(commit: CommitInfo) -> int:
    return commit.sequence


def only_whole(wholes: Mapping[int, Whole], stored: Sequence[CommitInfo]) -> Whole | None:
    """Return the result that the history has of a call; ``None`` if it has none in full, or several that differ."""
    found = [wholes[each.sequence] for each in stored if each.sequence in wholes]
    return found[0] if found and all(each.text == found[0].text for each in found) else None


def needs_refetch(log: Log, index: ResultIndex, call: object) -> bool:
    """True if the history has no whole result of a call, which is given as an id or in any provider's format."""
    call_id = call if isinstance(call, str) else id_of(call)
    found = index.read().of(call_id)
    parts = StoredParts()
    return not any(
        is_whole(commit, parts.text(commit, content), parts.result(commit, content))
        for commit, content in zip(found, log.contents_of(found), strict=True)
    )


def id_of(call: object) -> str:
    wire = as_object(call)
    if wire is None:
        raise InputError(f"call must be an id or an object, not {type(call).__name__}", None)
    return read_call(wire)[1]


def is_placeholder(result: ToolResult) -> bool:
    """True if a result is empty, a stand-in such as a marker, a preview, or cut."""
    text = result_text(result.content)
    return (
        not text
        or is_marker(text)
        or is_stand_in(result.content)
        or is_truncated(text)
        or is_cut_wire(result.wire)
    )


def is_whole(commit: CommitInfo, text: str, wire: Mapping[str, Any] | None) -> bool:
    """True if a result of the history is neither null, nor a stand-in, nor cut. A tool may have printed nothing."""
    if FLAG in commit.metadata or is_stand_in(text):
        return False
    slot = None if text or wire is None else slot_at(wire)
    return bool(text) or wire is None or (slot is not None and slot.content is not None)


def with_whole(wire: Mapping[str, Any], whole: Whole) -> dict[str, Any]:
    """Return a result with the content of the history, in its own structure if that is a result of the same type."""
    own, stored = without_marks(wire), whole.wire
    slot = None if stored is None else slot_at(own)
    if (
        stored is not None
        and slot is not None
        and not slot.holder
        and slot.key in stored
        and all(stored.get(key) == own.get(key) for key in ("type", "role"))
    ):
        return {**own, slot.key: stored[slot.key]}
    return with_text(own, whole.text)


def without_marks(wire: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result without the members that say that it is a preview."""
    own = dict(wire)
    if MARKS.isdisjoint(own):
        return own
    if has_preview({"metadata": own.get("metadata")}):
        kept = {key: own["metadata"][key] for key in own["metadata"] if key not in PREVIEW_MEMBERS}
        del own["metadata"]
        own |= {"metadata": kept} if kept else {}
    if has_preview(own):
        own = {key: value for key, value in own.items() if key not in PREVIEW_MEMBERS}
    return {key: value for key, value in own.items() if key not in MEMBERS}


# Results that are missing altogether

ITEM_CALLS: Final = frozenset(read_table("responses")["calls"]) - {"program", "tool_search_call"}
"""The items of Responses that the client answers with an item whose type ends in ``_output``."""
CHAT: Final = "tool"
"""The role of a message that is a result."""
GEMINI: Final = "functionResponse"
CALL_KEYS: Final = ("functionCall", "function_call")
IN_PARTS: Final = frozenset(("tool_result", "toolResult", GEMINI))
"""The results that are parts of a user message; others are messages or items."""


def wanted_answer(call: Mapping[str, Any]) -> str:
    """Return the kind of result that answers a call; empty if the client does not answer it, or the kind is unknown.

    >>> wanted_answer({"type": "tool_use", "id": "t1"}), wanted_answer({"type": "web_search_call"})
    ('tool_result', '')
    """
    kind = call.get("type")
    if kind == "tool_use":
        return "tool_result"
    if kind in ITEM_CALLS:
        return f"{kind}_output"
    if "toolUse" in call:
        return "toolResult"
    if any(key in call for key in CALL_KEYS):
        return GEMINI
    return CHAT if kind in (None, "function", "custom") and has_function(call) else ""


def has_function(call: Mapping[str, Any]) -> bool:
    return any(as_object(call.get(key)) is not None for key in ("function", "custom"))


def is_item(record: Mapping[str, Any]) -> bool:
    """True for an item of Responses that may stand between parallel calls."""
    return record.get("type") in ITEM_CALLS or record.get("type") == "reasoning"


def answer_kind(result: Mapping[str, Any]) -> str:
    """Return the kind of a result: its type, its member, or its role."""
    if any(key in result for key in RESPONSE_KEYS):
        return GEMINI
    return "toolResult" if "toolResult" in result else str(result.get("type", result.get("role")))


def answer_to(call: ToolCall, whole: Whole) -> dict[str, Any] | None:
    """Return the result of the history for a call without one; ``None`` if it was recorded in another format."""
    wanted = wanted_answer(call.wire)
    stored = whole.wire
    if stored is None and call.call_id:
        stored = own_message(whole.commit, whole.text)
    return unmarked(stored) if stored is not None and answer_kind(stored) == wanted else None


class Missing(NamedTuple):
    """A result to put into the messages, by the number of its call."""

    number: int
    wire: dict[str, Any]


def with_missing(
    records: Sequence[dict[str, Any]],
    numbers: Mapping[int, int],
    missing: Mapping[int, Sequence[Missing]],
) -> list[list[dict[str, Any]]]:
    """Return each message with the missing results around or in it, in the order of the calls.

    ``numbers`` are those of the calls by the ``id()`` of their results, ``missing`` the missing results by the positions
    of the messages with their calls.
    """
    waiting: deque[Missing] = deque()
    done: list[list[dict[str, Any]]] = []
    for place, record in enumerate(records):
        before, own = placed(waiting, record, numbers)
        done.append([*before, own])
        waiting.extend(missing.get(place, ()))
    if waiting:
        done[-1] += messages_for(waiting)
    return done


def placed(
    waiting: deque[Missing], record: dict[str, Any], numbers: Mapping[int, int]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Take the results that come before or into a message; return those before it, and the message."""
    if not waiting or is_item(record):
        return [], record
    if answer_kind(waiting[0].wire) in IN_PARTS:
        held = with_parts(waiting, record, numbers)
        return (messages_for(waiting), record) if held is None else ([], held)
    number = numbers.get(id(record))
    if number is None:
        return messages_for(waiting), record
    return [each.wire for each in taken(waiting, number)], record


def taken(waiting: deque[Missing], number: int) -> Iterator[Missing]:
    """Take the results of the calls before a number."""
    while waiting and waiting[0].number < number:
        yield waiting.popleft()


def messages_for(waiting: deque[Missing]) -> list[dict[str, Any]]:
    """Take all results, and return them as messages."""
    wires = [each.wire for each in waiting]
    waiting.clear()
    kind = answer_kind(wires[0]) if wires else ""
    if kind in IN_PARTS:
        return [{"role": "user", "parts" if kind == GEMINI else "content": wires}]
    return wires


def with_parts(
    waiting: deque[Missing], record: dict[str, Any], numbers: Mapping[int, int]
) -> dict[str, Any] | None:
    """Take all results into a user message, before what it says; ``None`` if it can't hold them."""
    kind = answer_kind(waiting[0].wire)
    key = "parts" if kind == GEMINI else "content"
    held = record.get(key)
    if record.get("role") != "user":
        return None
    if isinstance(held, str) and kind == "tool_result":
        held = [{"type": "text", "text": held}] if held else []
    if not isinstance(held, list):
        return None
    last = max((at for at, part in enumerate(held) if id(part) in numbers), default=-1)
    parts: list[Any] = []
    for part in held[: last + 1]:
        if id(part) in numbers:
            parts += (each.wire for each in taken(waiting, numbers[id(part)]))
        parts.append(part)
    parts += (each.wire for each in waiting)
    waiting.clear()
    return {**record, key: [*parts, *held[last + 1 :]]}
