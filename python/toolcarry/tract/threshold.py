"""The choice of messages for a compaction that is due: the oldest go, until the rest fits a target.

Always kept are the system prompt, the last user message, and the newest unit: a call with its results, or a thinking
loop. Then units are kept from the newest on, as long as they and the summary fit.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from toolcarry._data import read_table
from toolcarry.api.context import carry, dialogue
from toolcarry.api.tokens import count_tokens
from toolcarry.errors import ConfigError
from toolcarry.summarize import ExtractiveSummarizer, Summarizer
from toolcarry.summarize.extractive import LEAST_CHARS
from toolcarry.summarize.prompts import CONVERSATION_SUMMARIZE_SYSTEM
from toolcarry.tract.commit_codec import arguments_json
from toolcarry.tract.compaction import compress, run_summarizers, thinking_loops, units_of
from toolcarry.tract.compile import compiled
from toolcarry.tract.store.log import Log
from toolcarry.tract.store.types import CommitInfo, CompressResult, Kind
from toolcarry.tract.view import MESSAGES, NOTHING, View, pair_turns, read_view

__all__ = ["NOTHING_TO_DO", "Chosen", "check_shares", "choose", "compact"]

SUMMARY_SHARE: Final = 0.2
"""The part of the target that the summaries may take."""
FRAME: Final = 4
"""The tokens of a message without its text."""
CHARS_PER_TOKEN: Final = 3
SHORTEST_SUMMARY: Final = 1_000
"""The minimum number of characters of a summary that consists of quotations."""
UNANSWERED: Final[str] = read_table("hand_over")["headings"]["unanswered"]
"""A line of a hand-over that is left out here: the messages that stay may have the answer."""
NOTHING_TO_DO: Final = CompressResult(None, (), (), 0, 0)


class Chosen(NamedTuple):
    """The hashes of the commits to cover and to preserve, and the tokens that the summaries may have."""

    commits: list[str]
    preserve: list[str]
    target_tokens: int


def check_shares(compact_at: float, target: float) -> None:
    """Raise ``ConfigError`` unless ``0 < target < compact_at <= 1``."""
    shares = {"compact_at": compact_at, "target": target}
    for key, value in shares.items():
        is_share = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_share or not 0 < value <= 1:
            raise ConfigError(f"{key}: {value!r:.80} is not allowed; allowed: a number > 0, <= 1")
    if target >= compact_at:
        raise ConfigError(
            f"target: {target!r} is not allowed; allowed: less than compact_at, {compact_at!r}"
        )


def compact(
    log: Log, used: int, room: int, summarizer: Summarizer | None, instructions: str | None
) -> CompressResult:
    """Replace the oldest messages with summaries, so that a request that takes ``used`` tokens takes ``room``.

    Without a summarizer, a hand-over takes their place, or quotations if no tool was called.
    """
    chosen = choose(log, used, room)
    if not chosen.commits:
        return NOTHING_TO_DO
    context = "" if summarizer is not None else hand_over(log, chosen)
    summarizer = summarizer or ExtractiveSummarizer(
        max_chars=max(CHARS_PER_TOKEN * chosen.target_tokens, SHORTEST_SUMMARY)
    )
    summaries = run_summarizers(
        summarizer, CONVERSATION_SUMMARIZE_SYSTEM, instructions, chosen.target_tokens
    )
    return compress(
        log,
        write=(lambda _: ([context], {"by": "hand-over"})) if context else summaries,
        commits=chosen.commits,
        preserve=chosen.preserve,
        is_rolling=True,
    )


def hand_over(log: Log, chosen: Chosen) -> str:
    """Return the hand-over of the messages to cover, those of earlier compactions included; empty if no tool was called."""
    covered = set(chosen.commits)
    others = {each.sequence for each in log.commits() if each.commit_hash not in covered}
    view = read_view(log)
    whole = View(view.newest, view.left_out | others, {})
    messages = compiled(log, whole).messages
    # About a quarter of the room, and at least the least that it takes.
    quotes = ExtractiveSummarizer(max_chars=max(chosen.target_tokens, LEAST_CHARS))
    said = dialogue(messages)
    summary = quotes(said, "") if said else ""
    found = carry(
        messages, summary=summary, max_tokens=chosen.target_tokens, layout="handover", framing=False
    )
    return found.text.replace(UNANSWERED, "") if found.report.shown else ""


def choose(log: Log, used: int, room: int) -> Chosen:
    """Choose the oldest messages, so that the others take ``room`` tokens; all of them take ``used``."""
    view = read_view(log)
    messages = [each for each in log.commits(MESSAGES) if each.sequence not in view.left_out]
    weights = {each.sequence: weight_of(each, view) for each in messages}
    told = {each.commit_hash: each for each in view.compacted.values()}
    counted = sum(weights.values()) + sum(each.token_count + FRAME for each in told.values())
    scale = max(used / max(counted, 1), 1.0)  # for what the counts of single messages leave out
    shown = [each for each in messages if each.sequence not in view.compacted]
    groups = grouped(units_of(pair_turns(messages, NOTHING), thinking_loops(log)))
    kept = set[int]()
    last_request = [each.sequence for each in shown if each.role == "user"][-1:]
    for sequence in (*(each.sequence for each in shown if each.role == "system"), *last_request):
        kept |= groups.get(sequence, {sequence})
    target_tokens = max(int(room * SUMMARY_SHARE), 1)
    left = room - target_tokens - scale * sum(weights.get(each, 0) for each in kept)
    for place, commit in enumerate(reversed(shown)):
        unit = groups.get(commit.sequence, {commit.sequence}) - kept
        left -= scale * sum(weights.get(each, 0) for each in unit)
        if left < 0 and place:
            break
        kept |= unit
    covered = [each.commit_hash for each in messages if each.sequence not in kept]
    preserved = [each.commit_hash for each in messages if each.sequence in kept]
    is_new = any(each.sequence not in kept for each in shown)
    return Chosen(covered if is_new else [], preserved, target_tokens)


def weight_of(commit: CommitInfo, view: View) -> int:
    """Return the tokens that a message takes in a request; 0 if a compaction covers it."""
    if commit.sequence in view.compacted:
        return 0
    calls = commit.metadata["tool_calls"] if commit.kind is Kind.CALL else ()
    arguments = sum(count_tokens(call["name"] + arguments_json(call)) for call in calls)
    return view.version_of(commit).token_count + arguments + FRAME


def grouped(units: list[list[int]]) -> dict[int, set[int]]:
    """Return the sequences that must stay together, by each of them; units that share one are joined."""
    found: dict[int, set[int]] = {}
    for unit in units:
        joined = {id(found[each]): found[each] for each in unit if each in found}
        group = set(unit).union(*joined.values())
        found.update(dict.fromkeys(group, group))
    return found
