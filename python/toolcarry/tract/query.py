"""Queries: tool results, calls and turns by name, the text of a reference, and the history as lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from toolcarry._input.objects import plain_messages
from toolcarry._pure.content import is_stand_in, result_text
from toolcarry._pure.formats.message import ToolResult
from toolcarry._pure.projection.marker import last_reference, name_all
from toolcarry.api.context import extract_tool_blocks
from toolcarry.api.projection import resolve, whole_text
from toolcarry.errors import InputError, UnknownCommitError
from toolcarry.tract.commit_codec import (
    decode_text,
    dump_message,
    part_text,
    results_of,
)
from toolcarry.tract.compaction import transcript
from toolcarry.tract.compile import compiled, own_message, rebuilt, with_text
from toolcarry.tract.store.log import Log
from toolcarry.tract.store.types import CommitInfo, Hydrated, Kind, ToolTurn
from toolcarry.tract.truncation import is_truncated
from toolcarry.tract.view import (
    CALLS,
    CALLS_AND_RESULTS,
    CHANGES,
    MESSAGES,
    NOTHING,
    RESULTS,
    original,
    pair_turns,
    read_view,
    sequences,
)
from toolcarry.types.values import ToolBlock

__all__ = [
    "export",
    "find_calls",
    "find_results",
    "find_turns",
    "hydrate",
    "original_result",
    "resolve_reference",
    "result_versions",
]


def result_versions(log: Log, commit_hash: str) -> list[CommitInfo]:
    """Return every version of a tool result, oldest first. The hash may be that of any version."""
    root = original_result(log, commit_hash)
    newer = [each for each in log.commits(CHANGES) if each.edits == root.commit_hash]
    return [root, *newer]


def original_result(log: Log, commit_hash: str) -> CommitInfo:
    """Return the first version of a tool result. Raises ``InputError`` for a commit that is not one."""
    found = original(log, commit_hash)
    if found.kind is not Kind.RESULT:
        raise InputError(f"commit {commit_hash}: is no tool result, but {found.role}", None)
    return found


def find_results(
    log: Log, name: str | None = None, after: str | None = None, before: str | None = None
) -> Iterator[CommitInfo]:
    """Yield the results of one tool, or of all tools, between two commits.

    An edited result is yielded in its newest version, at the place of the original. ``after`` and ``before`` may name
    any version of a result, which means the place of the original.
    """
    start = original(log, after).sequence if after is not None else 0
    end = original(log, before).sequence if before is not None else None
    view = read_view(log)
    for commit in log.commits(RESULTS, after=start):
        if end is not None and commit.sequence >= end:
            return
        if name is None or commit.name == name:
            yield view.version_of(commit)


def find_calls(log: Log, name: str | None = None) -> Iterator[CommitInfo]:
    """Yield the model's messages with at least one call of the tool, or of any tool."""
    for commit in log.commits(CALLS):
        if name is None or name in call_names(commit):
            yield commit


def find_turns(log: Log, name: str | None = None) -> list[ToolTurn]:
    """Return the turns with a call of the tool, or of any tool."""
    turns = pair_turns(log.commits(CALLS_AND_RESULTS), read_view(log))
    return [turn for turn in turns if name is None or name in turn.tool_names]


def call_names(commit: CommitInfo) -> list[str]:
    return [call["name"] for call in commit.metadata["tool_calls"]]


def resolve_reference(log: Log, reference: str) -> str:
    """Return the text for a marker's reference: the original result of a call, or the messages of a compaction.

    Calls are searched in the whole log, even if they are compacted or left out.

    Raises ``InputError`` if nothing has this reference.
    """
    try:
        return resolve(compiled(log, NOTHING).messages, reference)
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
    """Restore results that are missing, cleared or cut in messages, if the history has them in full.

    A toolcarry marker names its result by a reference. Without a marker, results are matched by call id, and the nth
    result of an id belongs to its nth call. They are not matched if the history has more results of that id than the
    messages, since it is unknown which ones the messages lack. Any other result stays unchanged.
    """
    wholes = StoredResults(log)
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


class StoredResults:
    """Finds the full text of results in the history."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._by_id: dict[str, list[CommitInfo]] = {}
        for commit in log.commits(RESULTS):
            self._by_id.setdefault(commit.tool_call_id or "", []).append(commit)

    def of(self, result: ToolResult, place: int, count: int) -> str | None:
        """Return the full text of a result, which is the one at ``place`` of the ``count`` results with its call id."""
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
        """All blocks of the history by their references."""
        blocks = extract_tool_blocks(compiled(self._log, NOTHING).messages)
        return dict(zip(name_all(block.call_id for block in blocks), blocks, strict=True))


def is_placeholder(result: ToolResult) -> bool:
    """True if a result is empty, a stand-in such as a marker, or cut."""
    text = result_text(result.content)
    return not text or is_stand_in(result.content) or is_truncated(text)


def is_whole(text: str) -> bool:
    """True if a text is neither empty, nor a stand-in, nor cut."""
    return bool(text) and not is_stand_in(text) and not is_truncated(text)


def export(log: Log) -> Iterator[bytes]:
    """Yield the lines of imported files, byte for byte, and each other message as a line of JSON.

    A document or a message always begins on a new line: a newline is added if the bytes before it don't end with one.
    """
    is_open = False
    for commit, content in log.contents():
        if commit.kind >= Kind.EDIT:
            continue
        if commit.metadata.get("source") is True:
            is_line = False
            chunk = content
            if is_open and "document" in commit.metadata:
                yield b"\n"
        elif commit.metadata.get("record", 0) > 0 or "inside" in commit.metadata:
            continue
        else:
            is_line = True
            chunk = content if "record" in commit.metadata else own_line(commit, content)
        if is_line and is_open:
            yield b"\n"
        yield chunk + b"\n" if is_line else chunk
        is_open = not is_line and not chunk.endswith(b"\n")


def own_line(commit: CommitInfo, content: bytes) -> bytes:
    return dump_message(own_message(commit, decode_text(content), is_error=commit.is_error))
