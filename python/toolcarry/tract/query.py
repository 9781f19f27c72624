"""Queries: tool results, calls and turns by name, the text of a reference, and the history as lines."""

from __future__ import annotations

from collections.abc import Iterator

from toolcarry.api.projection import resolve
from toolcarry.errors import InputError, UnknownCommitError
from toolcarry.tract.commit_codec import decode_text, dump_message, part_text
from toolcarry.tract.compaction import transcript
from toolcarry.tract.compile import compiled, own_message
from toolcarry.tract.store.log import Log
from toolcarry.tract.store.types import CommitInfo, Kind, ToolTurn
from toolcarry.tract.view import (
    CALLS,
    CALLS_AND_RESULTS,
    CHANGES,
    MESSAGES,
    RESULTS,
    original,
    pair_turns,
    read_canonical,
    read_view,
    sequences,
)

__all__ = [
    "export",
    "find_calls",
    "find_results",
    "find_turns",
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
        raise InputError(f"commit {commit_hash}: is not a tool result, but {found.role}", None)
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
        return resolve(compiled(log, read_canonical(log)).messages, reference)
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
