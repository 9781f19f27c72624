"""Compactions and omissions: commits that replace others when the history is compiled, and can be undone.

A call and its results are covered together or not at all. Nothing is deleted: covered commits are left out of
``Tract.compile``, and of nothing else. A shorter version of a tool result keeps its role, id, name and ``is_error``.

A compaction is one commit, so it is written and undone as a whole. If messages that stay divide what it covers, its
content has one summary for each run between them:

    commits      u1 a1 r1 u2 a2 r2 a3 r3       u2 and a3 with r3 stay
    runs         [u1 a1 r1]  [a2 r2]           covers [[1, 3], [5, 6]], "runs": the length of each summary
    compiled     summary u2 summary a3 r3
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from toolcarry.api.tokens import count_tokens
from toolcarry.errors import ConfigError, InputError
from toolcarry.model.dedupe.failure import FAILED, outcome_of
from toolcarry.model.dedupe.rules import DEFAULT_RULE_SET
from toolcarry.model.speakers import safe_turn
from toolcarry.summarize import Summarizer, run_summarizer
from toolcarry.summarize.prompts import TOOL_SUMMARIZE_SYSTEM, instructions_for
from toolcarry.tract.canonical import FLAG
from toolcarry.tract.commit_codec import (
    arguments_json,
    encode_text,
    has_thought,
    part_text,
    stored_parts,
)
from toolcarry.tract.hooks import Summarization
from toolcarry.tract.outputs import Summary
from toolcarry.tract.store.log import Draft, Head, Log
from toolcarry.tract.store.types import CommitInfo, CompressResult, Kind, ToolTurn
from toolcarry.tract.truncation import Mark, find_mark, find_member
from toolcarry.tract.view import (
    BETWEEN,
    CALLS_AND_RESULTS,
    MESSAGES,
    NOTHING,
    SAID,
    View,
    original,
    pair_turns,
    ranges,
    read_view,
    sequences,
)

__all__ = [
    "compress",
    "compress_tool_calls",
    "drop_failed",
    "edit_draft",
    "mark_of",
    "summary_draft",
    "transcript",
    "uncompress",
]

REFERENCE: Final = 16
"""The number of hash digits in a reference to a commit."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The messages for a compaction to cover; turns and earlier compactions are never split."""

    covered: list[CommitInfo]
    preserved: list[CommitInfo]
    widened: list[CommitInfo]
    runs: list[list[CommitInfo]]
    """The covered messages, divided by the messages that stay."""
    replaces: list[CommitInfo]
    """The earlier compactions that it replaces."""
    turns: list[ToolTurn]
    """All turns of the conversation, with the first version of each result."""


def select(
    log: Log,
    view: View,
    *,
    commits: Sequence[str] | None,
    from_commit: str | None,
    to_commit: str | None,
    preserve: Sequence[str],
) -> Selection:
    """Select the messages to cover: the given commits, or a range of commits, or all."""
    if commits is not None and (from_commit is not None or to_commit is not None):
        raise ConfigError("commits: not allowed together with from_commit and to_commit")
    messages = {commit.sequence: commit for commit in log.commits(MESSAGES)}
    loops = thinking_loops(log)
    messages |= {commit.sequence: commit for loop in loops for commit in loop}
    first = original(log, from_commit).sequence if from_commit is not None else 0
    last = original(log, to_commit).sequence if to_commit is not None else max(messages, default=0)
    if commits is None:
        asked = {sequence for sequence in messages if first <= sequence <= last}
    else:
        asked = set(named(log, commits))
    turns = pair_turns((each for each in messages.values() if each.kind < Kind.RECORD), NOTHING)
    units = units_of(turns, loops)
    kept = widen(set(named(log, preserve)) & messages.keys(), units)
    older: dict[str, list[int]] = {}
    for sequence, compaction in view.compacted.items():
        older.setdefault(compaction.commit_hash, []).append(sequence)
    found = widen(asked & messages.keys(), [*units, *older.values()])
    compactions = {each.commit_hash: each for each in view.compacted.values()}
    replaces = [compactions[name] for name, covered in older.items() if found & set(covered)]
    covered = found - kept
    staying = (messages.keys() - covered) - view.left_out
    return Selection(
        covered=[messages[sequence] for sequence in sorted(covered)],
        runs=[[messages[each] for each in run] for run in divide(covered, staying)],
        preserved=[messages[sequence] for sequence in sorted(found & kept)],
        widened=[messages[sequence] for sequence in sorted(found - kept - asked)],
        replaces=replaces,
        turns=turns,
    )


def units_of(turns: Sequence[ToolTurn], loops: Sequence[Sequence[CommitInfo]]) -> list[list[int]]:
    """Return the sequences of the commits that must stay together: calls with their results, and thinking loops."""
    units = [[turn.call.sequence, *(each.sequence for each in turn.results)] for turn in turns]
    return units + [[commit.sequence for commit in loop] for loop in loops]


def divide(covered: set[int], staying: set[int]) -> list[list[int]]:
    """Return the covered sequences as runs, divided by those of messages that stay.

    >>> divide({1, 2, 5, 6}, {3})
    [[1, 2], [5, 6]]
    """
    runs: list[list[int]] = [[]]
    for sequence in sorted(covered | staying):
        if sequence in covered:
            runs[-1].append(sequence)
        elif runs[-1]:
            runs.append([])
    return runs if runs[-1] else runs[:-1]


def thinking_loops(log: Log) -> list[list[CommitInfo]]:
    """Return the turns in which the model thinks apart from what it says: from the first thought to the end of the turn.

    Anthropic refuses a loop whose thoughts are removed or separated from their calls, and OpenAI's Responses a call
    without its reasoning item, and reasoning without the item that it led to
    (https://platform.claude.com/docs/en/build-with-claude/extended-thinking).
    """
    loops: list[list[CommitInfo]] = []
    loop: list[CommitInfo] = []
    for commit, content in log.contents(SAID):
        if commit.kind is Kind.MESSAGE and commit.role == "user":
            loops.append(loop)
            loop = []
            continue
        is_thought = commit.metadata.get("record") == 0 and has_thought(content)
        if is_thought or (loop and commit.kind < Kind.RECORD):
            loop.append(commit)
    loops.append(loop)
    is_apart = (Kind.CALL, Kind.RECORD)
    return [loop for loop in loops if any(commit.kind in is_apart for commit in loop)]


def widen(found: set[int], units: Sequence[Sequence[int]]) -> set[int]:
    """Return the sequences, and all members of the units that contain one of them, transitively."""
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
    """Return the sequences of the given messages; a compaction gives the sequences that it covers."""
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
    write: Write,
    commits: Sequence[str] | None = None,
    from_commit: str | None = None,
    to_commit: str | None = None,
    preserve: Sequence[str] = (),
    is_rolling: bool = False,
) -> CompressResult:
    """Replace the covered messages with the texts that ``write`` returns for their runs, together with its provenance.

    ``write`` gets the transcripts of the runs. With ``is_rolling``, they contain the summaries of earlier compactions
    and not the messages that these cover.
    """
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
    told = view.compacted if is_rolling else {}
    texts, provenance = write([transcript(log, view, run, told) for run in chosen.runs])
    if not all(text.strip() for text in texts):
        raise InputError(
            "content: is empty; allowed: a summary of the messages that it replaces", None
        )
    text = BETWEEN.join(texts)
    before = sum(view.version_of(commit).token_count for commit in chosen.covered)
    after = count_tokens(text)
    covered = {commit.sequence for commit in chosen.covered}
    metadata = {
        "covers": ranges(commit.sequence for commit in chosen.covered),
        "preserved": ranges(commit.sequence for commit in chosen.preserved),
        "replaces": [commit.commit_hash for commit in chosen.replaces],
        "tools": covered_tools(log, chosen.turns, covered),
        "provenance": {**provenance, "tokens_before": before, "tokens_after": after},
    }
    if len(texts) > 1:
        metadata["runs"] = [
            {"covers": ranges(commit.sequence for commit in run), "length": len(each)}
            for run, each in zip(chosen.runs, texts, strict=True)
        ]
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
    """Undo a compaction or an omission."""
    commit = log.find(name)
    if commit.kind not in (Kind.COMPACTION, Kind.OMISSION):
        raise InputError(f"commit {name}: is not a compaction, but {commit.role}", None)
    metadata = {"undoes": commit.commit_hash}
    return log.append([Draft("undo", Kind.UNDO, b"", metadata, 0)])[0]


def drop_failed(log: Log, name: str | None) -> CompressResult:
    """Leave out the turns in which every result failed, by its flag or certainly by its words."""
    view = read_view(log)
    turns = pair_turns(log.commits(CALLS_AND_RESULTS), NOTHING)
    covered: list[CommitInfo] = []
    for turn in turns:
        is_named = name is None or name in turn.tool_names
        is_shown = (
            turn.call.sequence not in view.left_out and turn.call.sequence not in view.compacted
        )
        versions = [view.version_of(each) for each in turn.results]
        if is_named and is_shown and versions and all(has_failed(log, each) for each in versions):
            covered += [turn.call, *turn.results]
    if not covered:
        return CompressResult(None, (), (), 0, 0)
    before = sum(view.version_of(commit).token_count for commit in covered)
    metadata = {
        "covers": ranges(commit.sequence for commit in covered),
        "tools": covered_tools(log, turns, {commit.sequence for commit in covered}),
    }
    (commit,) = log.append([Draft("omission", Kind.OMISSION, b"", metadata, 0)])
    return CompressResult(commit, hashes(covered), (), before, 0)


def has_failed(log: Log, result: CommitInfo) -> bool:
    """Return true if a result is marked as failed, or says so as the formats without a flag do."""
    if result.is_error:
        return True
    kind = DEFAULT_RULE_SET.find(result.name or "", "", {}).kind
    return outcome_of(part_text(result, log.content(result)), kind, "") == FAILED


def covered_tools(log: Log, turns: Iterable[ToolTurn], covered: set[int]) -> list[dict[str, str]]:
    """Return the covered calls: the tool's name, the call's id, and the result's reference for ``Tract.resolve``.

    For a result that was cut before it was written, ``log`` is its id in a log of the host, or the host's file.
    """
    tools: list[dict[str, str]] = []
    for turn in turns:
        if turn.call.sequence in covered:
            for call in turn.call.metadata["tool_calls"]:
                found = [each for each in turn.results if each.tool_call_id == call["id"]]
                ref = (found[0] if found else turn.call).commit_hash[:REFERENCE]
                where = log_id(log, found[0]) if found else ""
                kept = {"log": where} if where else {}
                tools.append({"name": call["name"], "id": call["id"], "ref": ref, **kept})
    return tools


def log_id(log: Log, result: CommitInfo) -> str:
    """Return the place where a host kept the whole of a result that was cut before it was written; empty if unknown."""
    if FLAG not in result.metadata:
        return ""
    mark = mark_of(result, log.content(result))
    return mark.reference or mark.path


def mark_of(commit: CommitInfo, content: bytes) -> Mark:
    """Return the mark of a result that was cut: in its text, or else in its members."""
    found = find_mark(part_text(commit, content))
    index = commit.metadata.get("record")
    parts = None if index is None else stored_parts(content)
    wires = () if parts is None or index is None else parts[index].wires
    marks = (mark for mark in (found, *map(find_member, wires)) if mark is not None)
    return next(marks, Mark("a member"))


def transcript(
    log: Log,
    view: View,
    commits: Sequence[CommitInfo],
    told: Mapping[int, CommitInfo] = MappingProxyType({}),
) -> str:
    """Return the text for a summarizer: the messages with their speakers, the tool calls, and the results.

    Messages that an earlier compaction covers are included in full, unless ``told`` has it by their sequences: then as
    its summary.
    """
    earlier = {each.commit_hash: each for at in commits if (each := told.get(at.sequence))}
    commits = [commit for commit in commits if commit.sequence not in told]
    wanted = {commit.sequence for commit in commits}
    turns = [
        f"[SUMMARY]\n{safe_turn(part_text(each, log.content(each)))}\n[/SUMMARY]"
        for each in earlier.values()
    ]
    if not wanted:
        return BETWEEN.join(turns)
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
        turns.append(f"[{label}{name}{' failed' if version.is_error else ''}]\n{body}\n[/{label}]")
    return BETWEEN.join(turns)


def one_line(name: str) -> str:
    return " ".join(name.split())


def hashes(commits: Iterable[CommitInfo]) -> tuple[str, ...]:
    return tuple([commit.commit_hash for commit in commits])


Write = Callable[[Sequence[str]], tuple[list[str], dict[str, Any]]]
"""A function that returns the texts for transcripts, one for each or one for all, and their provenance."""
WriteSummaries = Callable[[Sequence[tuple[CommitInfo, str]]], list[Summary]]
"""A function that shortens the texts of results, and returns each with its provenance."""


def edit_draft(root: CommitInfo, text: str, extra: dict[str, Any], *, is_error: bool) -> Draft:
    """Return a draft for a newer version of the result ``root``."""
    metadata = {
        "tool_call_id": root.tool_call_id,
        "name": root.name,
        "is_error": is_error,
        "edit": root.commit_hash,
        **extra,
    }
    return Draft("tool", Kind.EDIT, encode_text(text), metadata, count_tokens(text))


def summary_draft(
    root: CommitInfo, text: str, provenance: dict[str, Any], *, is_error: bool
) -> Draft:
    """Return a draft for a summary as a newer version of a result, with its provenance and its token counts."""
    draft = edit_draft(root, text, {}, is_error=is_error)
    tokens = {"tokens_before": root.token_count, "tokens_after": draft.token_count}
    return draft._replace(metadata={**draft.metadata, "provenance": {**provenance, **tokens}})


def compress_tool_calls(
    log: Log, given: Sequence[str] | None, *, name: str | None, write: WriteSummaries
) -> CompressResult:
    """Supersede each result with the text that ``write`` returns for it, if it is shorter, in one transaction.

    Without hashes, this applies to all results that have no newer version yet. The model's last message after the turns
    is the final answer: it is reported as preserved, and stays unchanged.
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
    whole = [(result, part_text(result, log.content(result))) for result in results]
    for result, (text, provenance) in zip(results, write(whole), strict=True):
        is_error = view.version_of(result).is_error
        draft = summary_draft(result, text, provenance, is_error=is_error)
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
    tools = covered_tools(log, turns, calls)

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
    """Return the model's last message after the turns, if it has no tool calls; only among ``asked``, if given."""
    for commit in reversed(messages):
        is_asked = asked is None or commit.sequence in asked
        if commit.sequence > after and commit.role == "assistant" and is_asked:
            return [commit] if commit.kind is Kind.MESSAGE else []
    return []


def summary_instructions(
    result: CommitInfo,
    settings: Summarization | None,
    instructions: str | None,
    target_tokens: int | None,
) -> str:
    """Return the prompt for the summary of a result, from the given instructions, or else the settings for its tool."""
    if instructions is None and settings is not None:
        instructions = settings.instructions_for(result.name or "")
    return instructions_for(TOOL_SUMMARIZE_SYSTEM, instructions, target_tokens)


def needs_summarizer(summarizer: Summarizer | None, key: str) -> Summarizer:
    """Return the summarizer. Raises ``ConfigError`` if it is ``None``."""
    if summarizer is None:
        raise ConfigError(f"{key}: needs a summarizer; pass one to Tract.open(summarizer=...)")
    return summarizer


def summarize(
    summarizer: Summarizer | None, text: str, instructions: str
) -> tuple[str, dict[str, Any]]:
    """Return the summary of a string, and its provenance. Raises ``InputError`` if the summary is empty."""
    summarizer = needs_summarizer(summarizer, "summarizer")
    short = run_summarizer(summarizer, text, instructions)
    if not isinstance(short, str) or not short.strip():
        raise InputError("the summarizer returned nothing", None)
    provenance = {"by": "summarizer", "instructions": instructions}
    model = getattr(summarizer, "model", None)
    return short, {**provenance, "model": model} if isinstance(model, str) else provenance


def run_summarizers(
    summarizer: Summarizer | None, system: str, instructions: str | None, target_tokens: int | None
) -> Write:
    """Return a function that summarizes each run. ``target_tokens`` is for all, and divided by their lengths."""

    def write(transcripts: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
        total = sum(map(len, transcripts)) or 1
        texts: list[str] = []
        provenance: dict[str, Any] = {}
        for transcript in transcripts:
            share = target_tokens and max(target_tokens * len(transcript) // total, 1)
            prompt = instructions_for(system, instructions, share)
            text, provenance = summarize(summarizer, transcript, prompt)
            texts.append(text)
        return texts, provenance

    return write


def summarize_result(log: Log, root: CommitInfo, write: WriteSummaries) -> CommitInfo:
    """Supersede a result with its summary. Raises ``InputError`` if the summary is not shorter."""
    ((text, provenance),) = write([(root, part_text(root, log.content(root)))])
    is_error = read_view(log).version_of(root).is_error
    draft = summary_draft(root, text, provenance, is_error=is_error)
    if draft.token_count >= root.token_count:
        raise InputError("the summary is not shorter than the result", None)
    return log.append([draft])[0]
