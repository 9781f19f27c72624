"""Shorter results in place of long ones: each keeps its role, its id, its tool's name and whether it failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from toolcarry.tokens import count_tokens
from toolcarry.tract.compress import covered_tools, hashes
from toolcarry.tract.reading import encode_text, part_text
from toolcarry.tract.store.log import Draft, Log
from toolcarry.tract.store.pages import Head
from toolcarry.tract.turns import pair_turns
from toolcarry.tract.values import CommitInfo, CompressResult, Kind
from toolcarry.tract.view import MESSAGES, NOTHING, original, ranges, read_view

__all__ = ["compress_tool_calls", "edit_draft", "summary_draft"]

Write = Callable[[CommitInfo, str], tuple[str, dict[str, Any]]]
"""Makes a short text of a result's, and says where it comes from."""


def edit_draft(root: CommitInfo, text: str, extra: dict[str, Any]) -> Draft:
    """A newer version of a result."""
    metadata = {
        "tool_call_id": root.tool_call_id,
        "name": root.name,
        "is_error": root.is_error,
        "edit": root.commit_hash,
        **extra,
    }
    return Draft("tool", Kind.EDIT, encode_text(text), metadata, count_tokens(text))


def summary_draft(root: CommitInfo, text: str, provenance: dict[str, Any]) -> Draft:
    """A summary as a newer version of a result, with where it comes from and what it saves."""
    draft = edit_draft(root, text, {})
    tokens = {"tokens_before": root.token_count, "tokens_after": draft.token_count}
    return draft._replace(metadata={**draft.metadata, "provenance": {**provenance, **tokens}})


def compress_tool_calls(
    log: Log, given: Sequence[str] | None, *, name: str | None, write: Write
) -> CompressResult:
    """Let the text that ``write`` makes of each result supersede it, where it is shorter, in one transaction.

    Without hashes, the results of all turns that have no newer version yet. What the model said last behind the turns
    is the final answer: it is named among what is preserved, and stays as it is.
    """
    view = read_view(log)
    messages = list(log.commits(MESSAGES))
    asked = None if given is None else {original(log, each).sequence for each in given}
    turns = [
        turn
        for turn in pair_turns(messages, NOTHING)
        if asked is None or asked & {turn.call.sequence, *(each.sequence for each in turn.results)}
    ]
    results = [
        result
        for turn in turns
        for result in turn.results
        if (name is None or result.name == name)
        and (asked is not None or result.commit_hash not in view.newest)
        and result.sequence not in view.left_out
        and result.sequence not in view.compacted
    ]
    covered: list[CommitInfo] = []
    drafts: list[Draft] = []
    before = after = 0
    for result in results:
        text, provenance = write(result, part_text(result, log.content(result)))
        draft = summary_draft(result, text, provenance)
        if text.strip() and draft.token_count < view.version_of(result).token_count:
            covered.append(result)
            drafts.append(draft)
            before += view.version_of(result).token_count
            after += draft.token_count
    if not drafts:
        return CompressResult(None, (), (), 0, 0)
    preserved = final_answer(messages, covered[-1].sequence, asked)
    found = {commit.sequence for commit in covered}
    calls = {
        turn.call.sequence for turn in turns if found & {each.sequence for each in turn.results}
    }
    tools = covered_tools(turns, calls)

    def with_record(head: Head) -> list[Draft]:
        metadata = {
            "covers": ranges(commit.sequence for commit in covered),
            "preserved": ranges(commit.sequence for commit in preserved),
            "edits": [[head[0] + 1, head[0] + len(drafts)]],
            "tools": tools,
            "provenance": {"tokens_before": before, "tokens_after": after},
        }
        return [*drafts, Draft("compaction", Kind.COMPACTION, b"", metadata, 0)]

    commit = log.append_to(with_record)[-1]
    return CompressResult(commit, hashes(covered), hashes(preserved), before, after)


def final_answer(
    messages: Sequence[CommitInfo], after: int, asked: set[int] | None
) -> list[CommitInfo]:
    """What the model said last behind the turns, without another call: of what was asked for, where something was."""
    for commit in reversed(messages):
        is_asked = asked is None or commit.sequence in asked
        if commit.sequence > after and commit.role == "assistant" and is_asked:
            return [commit] if commit.kind is Kind.MESSAGE else []
    return []
