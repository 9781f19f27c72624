"""From a reference, or from a request whose results were cut, back to what the tools gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from toolcarry._input.objects import plain_messages
from toolcarry._pure.content import is_stand_in, result_text
from toolcarry._pure.formats.message import ToolResult
from toolcarry._pure.projection.marker import last_reference, name_all
from toolcarry.context import extract_tool_blocks
from toolcarry.errors import InputError, UnknownCommitError
from toolcarry.projection import resolve, whole_text
from toolcarry.tract.compile import rebuilt, with_text, written
from toolcarry.tract.compress import transcript
from toolcarry.tract.marks import is_truncated
from toolcarry.tract.reading import part_text, results_of
from toolcarry.tract.store.log import Log
from toolcarry.tract.values import CommitInfo, Hydrated, Kind
from toolcarry.tract.view import MESSAGES, NOTHING, RESULTS, read_view, sequences
from toolcarry.types import ToolBlock

__all__ = ["hydrate", "resolve_reference"]


def resolve_reference(log: Log, reference: str) -> str:
    """What a marker's reference names: the result of a call, as the tool gave it; of a compaction, what it covers.

    Calls are looked for in the whole log, also where they are compacted or left out by now.

    Raises ``InputError`` where nothing has this reference.
    """
    try:
        return resolve(written(log, NOTHING).messages, reference)
    except InputError as missing:
        try:
            commit = log.find(reference)
        except UnknownCommitError:
            raise missing from None
    if commit.kind is not Kind.COMPACTION:
        return part_text(commit, log.content(commit))
    covered = set(sequences(commit.metadata["covers"]))
    return transcript(
        log, read_view(log), [each for each in log.commits(MESSAGES) if each.sequence in covered]
    )


def hydrate(log: Log, messages: Sequence[Mapping[str, Any]]) -> Hydrated:
    """Put back the results that are missing, cleared or cut in messages, of those that the history has whole.

    A marker of ours names its result. Without one, of calls with one id the nth result belongs to the nth call: but not where
    the history has more of them, since which are missing here can't be told. What is not better there is left as it is.
    """
    wholes = Wholes(log)
    restored: list[str] = []
    refetch: list[str] = []
    seen: Counter[str] = Counter()
    whole: list[dict[str, Any]] = []
    read = [(record, results_of(record)) for record in plain_messages(messages)]
    counts = Counter(result.call_id for _, results in read for result in results)
    for record, results in read:
        swaps: dict[int, dict[str, Any]] = {}
        for result in results:
            place = seen[result.call_id]
            seen[result.call_id] += 1
            if not is_placeholder(result):
                continue
            text = wholes.of(result, place, counts[result.call_id])
            if text is None:
                refetch.append(result.call_id)
                continue
            restored.append(result.call_id)
            swaps[id(result.wire)] = with_text(result.wire, text)
        whole.append(rebuilt(record, swaps, set()) if swaps else record)
    return Hydrated(whole, tuple(restored), tuple(refetch))


class Wholes:
    """The results that the history has whole."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._by_id: dict[str, list[CommitInfo]] = {}
        for commit in log.commits(RESULTS):
            self._by_id.setdefault(commit.tool_call_id or "", []).append(commit)

    def of(self, result: ToolResult, place: int, count: int) -> str | None:
        """The text of a result that is not whole, of its call's id the one at ``place`` of ``count``."""
        reference = last_reference(result_text(result.content))
        named = self._by_reference.get(reference) if reference else None
        known = self._by_id.get(result.call_id, ())
        if named is not None and named.tool_result is not None and named.call_id == result.call_id:
            text = whole_text(named.tool_result)
        elif place < len(known) <= count:
            text = part_text(known[place], self._log.content(known[place]))
        else:
            return None
        return text if is_whole(text) else None

    @cached_property
    def _by_reference(self) -> dict[str, ToolBlock]:
        """The calls with their results, by what a marker calls them."""
        blocks = extract_tool_blocks(written(self._log, NOTHING).messages)
        return dict(zip(name_all(block.call_id for block in blocks), blocks, strict=True))


def is_placeholder(result: ToolResult) -> bool:
    """Whether a result says nothing, or says of itself that it is not the whole."""
    text = result_text(result.content)
    return not text or is_stand_in(result.content) or is_truncated(text)


def is_whole(text: str) -> bool:
    """Whether a text says something, and not of itself that it is not all."""
    return bool(text) and not is_stand_in(text) and not is_truncated(text)
