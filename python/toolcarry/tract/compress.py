"""Compaction: a record beside the originals that stands for them, and can be taken back.

A call and its results are covered together or not at all. Nothing is deleted: what is covered is left out of what is
compiled, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from toolcarry._pure.dialogue import safe_turn
from toolcarry.errors import ConfigError, InputError
from toolcarry.tokens import count_tokens
from toolcarry.tract.reading import arguments_json, encode_text, part_text
from toolcarry.tract.store.log import Draft, Log
from toolcarry.tract.turns import pair_turns
from toolcarry.tract.values import CommitInfo, CompressResult, Kind, ToolTurn
from toolcarry.tract.view import (
    CALLS_AND_RESULTS,
    MESSAGES,
    NOTHING,
    View,
    original,
    ranges,
    read_view,
    sequences,
)

__all__ = ["Selection", "compress", "drop_failed", "select", "transcript", "uncompress"]

REFERENCE: Final = 16
"""Digits of a commit's hash that stand for it."""


class Selection(NamedTuple):
    """The messages that a compaction is to cover, whole turns and whole earlier compactions."""

    covered: list[CommitInfo]
    preserved: list[CommitInfo]
    widened: list[CommitInfo]
    replaces: list[CommitInfo]
    """Earlier compactions that it takes the place of."""
    turns: list[ToolTurn]
    """All of the conversation, with the first version of each result."""


def select(
    log: Log,
    view: View,
    *,
    commits: Sequence[str] | None,
    from_commit: str | None,
    to_commit: str | None,
    preserve: Sequence[str],
) -> Selection:
    """What is to be covered: the commits named, or those from one to another, or all."""
    if commits is not None and (from_commit is not None or to_commit is not None):
        raise ConfigError("commits: not allowed beside from_commit and to_commit")
    messages = {commit.sequence: commit for commit in log.commits(MESSAGES)}
    first = original(log, from_commit).sequence if from_commit is not None else 0
    last = original(log, to_commit).sequence if to_commit is not None else max(messages, default=0)
    if commits is None:
        asked = {sequence for sequence in messages if first <= sequence <= last}
    else:
        asked = set(named(log, commits))
    turns = pair_turns(messages.values(), NOTHING)
    units = [[turn.call.sequence, *(each.sequence for each in turn.results)] for turn in turns]
    kept = widen(set(named(log, preserve)) & messages.keys(), units)
    older: dict[str, list[int]] = {}
    for sequence, compaction in view.compacted.items():
        older.setdefault(compaction.commit_hash, []).append(sequence)
    found = widen(asked & messages.keys(), [*units, *older.values()])
    compactions = {each.commit_hash: each for each in view.compacted.values()}
    replaces = [compactions[name] for name, covered in older.items() if found & set(covered)]
    return Selection(
        [messages[sequence] for sequence in sorted(found - kept)],
        [messages[sequence] for sequence in sorted(found & kept)],
        [messages[sequence] for sequence in sorted(found - kept - asked)],
        replaces,
        turns,
    )


def widen(found: set[int], units: Sequence[Sequence[int]]) -> set[int]:
    """The sequences with all that stands in a unit with one of them."""
    by_member: dict[int, list[int]] = {}
    for number, unit in enumerate(units):
        for sequence in unit:
            by_member.setdefault(sequence, []).append(number)
    wide, waiting, taken = set(found), list(found), set[int]()
    while waiting:
        for number in by_member.get(waiting.pop(), ()):
            if number not in taken:
                taken.add(number)
                waiting += [sequence for sequence in units[number] if sequence not in wide]
                wide.update(units[number])
    return wide


def named(log: Log, hashes: Iterable[str]) -> list[int]:
    """The sequences of the messages that are named; of a compaction those that it covers."""
    found: list[int] = []
    for name in hashes:
        commit = log.find(name)
        if commit.kind is Kind.COMPACTION:
            found += sequences(commit.metadata["covers"])
        else:
            found.append(original(log, name).sequence)
    return found


def compress(
    log: Log,
    *,
    write: Callable[[str], tuple[str, dict[str, Any]]],
    commits: Sequence[str] | None = None,
    from_commit: str | None = None,
    to_commit: str | None = None,
    preserve: Sequence[str] = (),
) -> CompressResult:
    """Let the text that ``write`` makes of the covered messages stand for them; it says where it comes from, too."""
    view = read_view(log)
    chosen = select(
        log,
        view,
        commits=commits,
        from_commit=from_commit,
        to_commit=to_commit,
        preserve=preserve,
    )
    if not chosen.covered:
        return CompressResult(None, (), (), 0, 0)
    text, provenance = write(transcript(log, view, chosen.covered))
    if not text.strip():
        raise InputError("content: is empty; what is left out must be said in some words", None)
    before = sum(view.version_of(commit).token_count for commit in chosen.covered)
    after = count_tokens(text)
    metadata = {
        "covers": ranges(commit.sequence for commit in chosen.covered),
        "preserved": ranges(commit.sequence for commit in chosen.preserved),
        "replaces": [commit.commit_hash for commit in chosen.replaces],
        "tools": covered_tools(chosen.turns, {commit.sequence for commit in chosen.covered}),
        "provenance": {**provenance, "tokens_before": before, "tokens_after": after},
    }
    draft = Draft("compaction", Kind.COMPACTION, encode_text(text), metadata, after)
    (commit,) = log.append([draft])
    return CompressResult(
        commit,
        hashes(chosen.covered),
        hashes(chosen.preserved),
        before,
        after,
        hashes(chosen.widened),
    )


def uncompress(log: Log, name: str) -> CommitInfo:
    """Take back a compaction, or an omission."""
    commit = log.find(name)
    if commit.kind not in (Kind.COMPACTION, Kind.OMISSION):
        raise InputError(f"commit {name}: is no compaction, but {commit.role}", None)
    metadata = {"undoes": commit.commit_hash}
    return log.append([Draft("undo", Kind.UNDO, b"", metadata, 0)])[0]


def drop_failed(log: Log, name: str | None) -> CompressResult:
    """Leave out the turns of which every result failed."""
    view = read_view(log)
    turns = pair_turns(log.commits(CALLS_AND_RESULTS), NOTHING)
    covered: list[CommitInfo] = []
    for turn in turns:
        is_named = name is None or name in turn.tool_names
        is_shown = (
            turn.call.sequence not in view.left_out and turn.call.sequence not in view.compacted
        )
        if is_named and is_shown and turn.results and all(each.is_error for each in turn.results):
            covered += [turn.call, *turn.results]
    if not covered:
        return CompressResult(None, (), (), 0, 0)
    before = sum(view.version_of(commit).token_count for commit in covered)
    metadata = {
        "covers": ranges(commit.sequence for commit in covered),
        "tools": covered_tools(turns, {commit.sequence for commit in covered}),
    }
    (commit,) = log.append([Draft("omission", Kind.OMISSION, b"", metadata, 0)])
    return CompressResult(commit, hashes(covered), (), before, 0)


def covered_tools(turns: Iterable[ToolTurn], covered: set[int]) -> list[dict[str, str]]:
    """The calls that are covered: the tool's name, the call's id, and what ``Tract.resolve`` finds the result by."""
    tools: list[dict[str, str]] = []
    for turn in turns:
        if turn.call.sequence in covered:
            for call in turn.call.metadata["tool_calls"]:
                found = [each for each in turn.results if each.tool_call_id == call["id"]]
                ref = (found[0] if found else turn.call).commit_hash[:REFERENCE]
                tools.append({"name": call["name"], "id": call["id"], "ref": ref})
    return tools


def transcript(log: Log, view: View, commits: Sequence[CommitInfo]) -> str:
    """What a summarizer is given: who said what, which tools were called with what, and what came back.

    What an earlier compaction covers is given as it was, not as its summary.
    """
    wanted = {commit.sequence for commit in commits}
    turns: list[str] = []
    if not wanted:
        return ""
    for commit, content in log.contents(MESSAGES, after=min(wanted) - 1):
        if commit.sequence > max(wanted):
            break
        if commit.sequence not in wanted:
            continue
        version = view.version_of(commit)
        text = part_text(version, content if version is commit else log.content(version))
        label = commit.role.upper()
        name = f" {one_line(commit.name)}" if commit.name else ""
        calls = [
            f"[CALL {one_line(call['name'])} {arguments_json(call)}]"
            for call in commit.metadata.get("tool_calls", ())
        ]
        body = "\n".join(
            part for part in (safe_turn(text).replace("[/TOOL]", r"[\/TOOL]"), *calls) if part
        )
        turns.append(f"[{label}{name}{' failed' if commit.is_error else ''}]\n{body}\n[/{label}]")
    return "\n\n".join(turns)


def one_line(name: str) -> str:
    return " ".join(name.split())


def hashes(commits: Iterable[CommitInfo]) -> tuple[str, ...]:
    return tuple([commit.commit_hash for commit in commits])
