"""Hydration: put the canonical results back into messages that a client sends with previews, markers or placeholders.

The history comes first: a null, a placeholder or a part of a result never replaces its value. Messages keep their order
and number, calls their results. A result is read from the history at most once, and all of them together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from toolcarry._input.objects import as_object, plain_messages
from toolcarry.api.context import extract_tool_blocks
from toolcarry.errors import InputError
from toolcarry.importers.read import read_call
from toolcarry.model.content import is_stand_in, result_text
from toolcarry.model.formats.message import ToolResult
from toolcarry.model.marker import is_marker, last_reference, name_all
from toolcarry.model.result_slot import slot_at
from toolcarry.tract.canonical import FLAG, is_cut_wire
from toolcarry.tract.commit_codec import part_text, results_of, stored_parts
from toolcarry.tract.compile import compiled, rebuilt, with_text
from toolcarry.tract.result_index import ResultIndex, Results
from toolcarry.tract.store.log import Log
from toolcarry.tract.store.types import CommitInfo, Hydrated, Kind
from toolcarry.tract.truncation import MEMBERS, has_preview, is_truncated
from toolcarry.tract.view import read_canonical

__all__ = ["hydrate", "needs_refetch"]

PREVIEW_MEMBERS: Final = frozenset(("preview", "shown", "total", "reference"))
"""The metadata of a preview."""


MARKS: Final = frozenset(("metadata", *PREVIEW_MEMBERS, *MEMBERS))
"""The members that may say that a result is a preview, or cut."""


class Wanted(NamedTuple):
    """A result of the messages that the history may have in full."""

    message: int
    result: ToolResult
    stored: CommitInfo | None


def hydrate(log: Log, index: ResultIndex, messages: Sequence[Mapping[str, Any]]) -> Hydrated:
    """Restore results that are missing, cleared or cut in messages, if the history has them in full.

    A toolcarry marker names its result by a reference. Without a marker, results are matched by call id, and the nth
    result of an id belongs to its nth call. They are not matched if the history has more results of that id than the
    messages, since it is unknown which ones the messages lack. Any other result stays unchanged.
    """
    records = plain_messages(messages)
    read = [results_of(record) if may_have_result(record) else [] for record in records]
    counts = Counter(result.call_id for results in read for result in results)
    seen: Counter[str] = Counter()
    stored = StoredResults(log, index)
    wanted: list[Wanted] = []
    for place, results in enumerate(read):
        for result in results:
            number = seen[result.call_id]
            seen[result.call_id] += 1
            if is_placeholder(result):
                found = stored.of(result, number, counts[result.call_id])
                wanted.append(Wanted(place, result, found))
    contents = stored.read([each.stored for each in wanted if each.stored is not None])
    swaps: dict[int, dict[int, dict[str, Any]]] = {}
    restored: list[str] = []
    refetch: list[str] = []
    for place, result, commit in wanted:
        text = None if commit is None else part_text(commit, contents[commit.sequence])
        if commit is None or text is None or not is_whole(commit, contents[commit.sequence], text):
            refetch.append(result.call_id)
        elif text or result_text(result.content) or result.content is None:
            restored.append(result.call_id)
            whole = with_whole(result.wire, commit, contents[commit.sequence], text)
            swaps.setdefault(place, {})[id(result.wire)] = whole
    hydrated = [
        rebuilt(record, swaps[place], set()) if place in swaps else record
        for place, record in enumerate(records)
    ]
    return Hydrated(hydrated, tuple(restored), tuple(refetch))


def needs_refetch(log: Log, index: ResultIndex, call: object) -> bool:
    """True if the history has no whole result of a call, which is given as an id or in any provider's format."""
    call_id = call if isinstance(call, str) else id_of(call)
    found = index.read().of(call_id)
    return not any(
        is_whole(commit, content, part_text(commit, content))
        for commit, content in zip(found, log.contents_of(found), strict=True)
    )


def id_of(call: object) -> str:
    wire = as_object(call)
    if wire is None:
        raise InputError(f"call must be an id or an object, not {type(call).__name__}", None)
    return read_call(wire)[1]


class StoredResults:
    """Finds the results of the history in full."""

    def __init__(self, log: Log, index: ResultIndex) -> None:
        self._log = log
        self._index = index

    @cached_property
    def _results(self) -> Results:
        return self._index.read()

    def of(self, result: ToolResult, place: int, count: int) -> CommitInfo | None:
        """Return the commit of a result, which is the one at ``place`` of the ``count`` results with its call id."""
        call_id = result.call_id
        reference = last_reference(result_text(result.content))
        known = self._results.by_id.get(call_id, [])
        if reference and (reference != call_id or len(known) != 1):
            named = self._by_reference.get(reference)
            if named is not None and named.tool_call_id == call_id:
                return self._results.whole(named)
        if not place < len(known) <= count:
            return None
        return self._results.whole(known[place])

    def read(self, commits: Sequence[CommitInfo]) -> dict[int, bytes]:
        """Return the contents of commits by their sequences."""
        pairs = zip(commits, self._log.contents_of(commits), strict=True)
        return {commit.sequence: content for commit, content in pairs}

    @cached_property
    def _by_reference(self) -> dict[str, CommitInfo]:
        """The results of the whole log by their references."""
        writer = compiled(self._log, read_canonical(self._log))
        commits: dict[int, CommitInfo] = {}
        for message, origins in zip(writer.messages, writer.origins, strict=True):
            results = [commit for commit in origins if commit.kind is Kind.RESULT]
            wires = [id(result.wire) for result in results_of(message)] if results else []
            commits.update(zip(wires, results, strict=False))
        blocks = extract_tool_blocks(writer.messages)
        names = name_all(block.call_id for block in blocks)
        return {
            name: commits[id(block.tool_result)]
            for name, block in zip(names, blocks, strict=True)
            if id(block.tool_result) in commits
        }


def may_have_result(record: Mapping[str, Any]) -> bool:
    """Return false for a message that can only hold the model's text and calls, as its members show."""
    return not (
        record.get("role") == "assistant"
        and (record.get("content") is None or isinstance(record["content"], str))
        and "parts" not in record
    )


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


def is_whole(commit: CommitInfo, content: bytes, text: str) -> bool:
    """True if a result of the history is neither null, nor a stand-in, nor cut. A tool may have printed nothing."""
    if FLAG in commit.metadata or is_stand_in(text):
        return False
    stored = None if text else stored_wire(commit, content)
    slot = None if stored is None else slot_at(stored)
    return stored is None or (slot is not None and slot.content is not None)


def stored_wire(commit: CommitInfo, content: bytes) -> Mapping[str, Any] | None:
    """Return the result object of a message; ``None`` if the result is a string."""
    index = commit.metadata.get("record")
    parts = None if index is None else stored_parts(content)
    return None if parts is None or index is None else parts[index].wires[0]


def with_whole(
    wire: Mapping[str, Any], commit: CommitInfo, content: bytes, text: str
) -> dict[str, Any]:
    """Return a result with the content of the history, in its own structure if that is a result of the same type."""
    own = without_marks(wire)
    stored = stored_wire(commit, content)
    slot = None if stored is None else slot_at(own)
    if (
        stored is not None
        and slot is not None
        and not slot.holder
        and slot.key in stored
        and all(stored.get(key) == own.get(key) for key in ("type", "role"))
    ):
        return {**own, slot.key: stored[slot.key]}
    return with_text(own, text)


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
