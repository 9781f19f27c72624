"""From a reference, or from a request whose results were cut, back to what the tools gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolcarry._pure.content import is_stand_in, result_text
from toolcarry._pure.said import ToolResult
from toolcarry.errors import InputError, UnknownCommitError
from toolcarry.resolve import resolve
from toolcarry.tract.compile import rebuilt, with_text, written
from toolcarry.tract.compress import transcript
from toolcarry.tract.marks import is_truncated
from toolcarry.tract.reading import part_text, results_of
from toolcarry.tract.store.log import Log
from toolcarry.tract.values import CommitInfo, Hydrated, Kind
from toolcarry.tract.view import MESSAGES, NOTHING, RESULTS, read_view, sequences
from toolcarry.wire import plain_messages

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

    Of calls with one id, the nth result belongs to the nth call. A result that the history has no better is left as it is.
    """
    known: dict[str, list[CommitInfo]] = {}
    for commit in log.commits(RESULTS):
        known.setdefault(commit.tool_call_id or "", []).append(commit)
    restored: list[str] = []
    refetch: list[str] = []
    seen: dict[str, int] = {}
    whole: list[dict[str, Any]] = []
    for record in plain_messages(messages):
        swaps: dict[int, dict[str, Any]] = {}
        for result in results_of(record):
            place = seen[result.call_id] = seen.get(result.call_id, -1) + 1
            if not is_placeholder(result):
                continue
            text = next(better(log, known.get(result.call_id, ())[place : place + 1]), None)
            if text is None:
                refetch.append(result.call_id)
                continue
            restored.append(result.call_id)
            swaps[id(result.wire)] = with_text(result.wire, text)
        whole.append(rebuilt(record, swaps, set()) if swaps else record)
    return Hydrated(whole, tuple(restored), tuple(refetch))


def is_placeholder(result: ToolResult) -> bool:
    """Whether a result says nothing, or says of itself that it is not the whole."""
    text = result_text(result.content)
    return not text or is_stand_in(result.content) or is_truncated(text)


def better(log: Log, commits: Sequence[CommitInfo]) -> Iterator[str]:
    """The texts of results that are whole."""
    for commit in commits:
        text = part_text(commit, log.content(commit))
        if text and not is_stand_in(text) and "legacy_truncated" not in commit.metadata:
            yield text
