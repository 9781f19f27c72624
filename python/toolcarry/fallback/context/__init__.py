"""The kernels of the context: from messages to blocks, from blocks to a context, and both in one step.

Each returns ``None`` if it meets a message, a call or a result that only an importer can read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from toolcarry.fallback.context.budget import Fill, Trace, excluding_setting
from toolcarry.fallback.context.handover import Spoken, hand_over, spoken_in
from toolcarry.fallback.context.handover.kinds import kind_of
from toolcarry.fallback.context.handover.plan import plan_section
from toolcarry.fallback.dialogue import turns_of
from toolcarry.fallback.tokens.count import count_tokens
from toolcarry.model.content import result_text
from toolcarry.model.dedupe import Judging
from toolcarry.model.dedupe.rules import DEFAULT_RULE_SET, Rules, rule_set
from toolcarry.model.pairing import Walk
from toolcarry.model.pairing.block import Entry
from toolcarry.model.pairing.given_blocks import to_entries
from toolcarry.model.session import Branch
from toolcarry.types.outcomes import CarryOutcome, WalkedBlock
from toolcarry.types.policy import CarryPolicy
from toolcarry.types.values import Notes, Report, Rule, ToolBlock


def extract_tool_blocks(messages: Sequence[Any]) -> list[ToolBlock] | None:
    """Return every block of a conversation, in the order of the calls."""
    walk = Walk(messages)
    judging = Judging(DEFAULT_RULE_SET)
    blocks = []
    for age, entry in enumerate(walk.entries()):
        judging.prepare(entry)
        second = tuple(walk.second_results.get(entry.order, ()))
        notes = Notes(age, (), False, entry.is_active, second, entry.directory)
        blocks.append(_to_block(entry, notes))
    blocks.reverse()
    return None if walk.needs_import else blocks


def deduplicate_tools(blocks: Sequence[ToolBlock], rules: Rules) -> list[ToolBlock] | None:
    """Return the blocks that no other one supersedes, with the facts about the others that rendering needs.

    A block for which nothing changes is the caller's own.
    """
    entries = to_entries(blocks, range(len(blocks)))
    if entries is None:
        return None
    judging = Judging(rule_set(rules))
    judging.find_firsts(entries)
    kept: list[Entry] = []
    earlier: dict[int, list[int]] = {}
    for entry in entries:
        reason, _, counted_by = judging.judge(entry)
        if counted_by is not None:
            earlier.setdefault(counted_by.order, []).append(entry.order)
        if not reason:
            kept.append(entry)
    kept.reverse()
    last = len(blocks) - 1
    return [
        _renewed(blocks[last - entry.order], entry, tuple(earlier.get(entry.order, ())))
        for entry in kept
    ]


def _renewed(block: ToolBlock, entry: Entry, earlier: tuple[int, ...]) -> ToolBlock:
    """Return a block with the key and the notes of its judged entry; the same one if it has them."""
    notes = replace(block.notes, age=entry.order, earlier=earlier, is_stale=entry.is_stale)
    key = dedup_key(entry)
    if notes == block.notes and key == block.dedup_key:
        return block
    return replace(block, dedup_key=key, notes=notes)


def format_tool_context(
    blocks: Sequence[ToolBlock], summary: str, policy: CarryPolicy
) -> str | None:
    """Return the context of deduplicated blocks."""
    fill = Fill(policy, summary)
    judging = Judging(rule_set(policy.rules))
    entries = to_entries(blocks, [block.notes.age for block in reversed(blocks)])
    if entries is None:
        return None
    ruled: list[tuple[Entry, Rule]] = []
    for block, entry in zip(reversed(blocks), entries, strict=True):
        ruled.append((entry, judging.prepare(entry)))
        entry.is_stale = block.notes.is_stale
    if policy.layout != "handover":
        _fill_given(fill, blocks, entries)
        if policy.layout == "auto":
            _add_plan(fill, entries, judging, policy)
        if policy.layout == "sections" or fill.fits_all:
            return fill.text()
    found = [each for each in reversed(ruled) if not excluding_reason(policy, *each)]
    return hand_over(found, Spoken([], None), summary, policy, None).text


def _fill_given(fill: Fill, blocks: Sequence[ToolBlock], entries: Sequence[Entry]) -> None:
    """Offer the entries of blocks that are deduplicated, newest first, with the counts in their headings."""
    counts = sorted(
        (
            (age, entry)
            for block, entry in zip(reversed(blocks), entries, strict=True)
            for age in block.notes.earlier
        ),
        key=_by_age,
    )
    counts.reverse()
    for entry in entries:
        while counts and counts[-1][0] <= entry.order:
            fill.count(counts.pop()[1])
        if entry.is_active:
            fill.offer(entry)
        else:
            fill.exclude(entry, inactive_reason(entry))
        if fill.is_done:
            break
    while counts:
        fill.count(counts.pop()[1])


def _by_age(item: tuple[int, Entry]) -> int:
    return item[0]


def carry(
    messages: Sequence[Any], summary: str, policy: CarryPolicy, trace: Trace | None = None
) -> CarryOutcome | None:
    """Return the context of a conversation as text, and the report of every block that was walked."""
    if policy.layout != "sections":
        return _carry_whole(messages, summary, policy, trace)
    branch = Branch()
    found = carry_walked(Walk(messages, branch), summary, policy, trace)
    if found is None or branch.is_sure:
        return found
    if trace is not None:
        trace.clear()
    return carry_walked(Walk(messages), summary, policy, trace)


def carry_walked(
    walk: Walk, summary: str, policy: CarryPolicy, trace: Trace | None
) -> CarryOutcome | None:
    """Return the context and the report of a walk."""
    tally = _Tally()
    fill = Fill(policy, summary, trace)
    _fill_sections(tally.watch(walk.entries(), fill), fill, tally, policy)
    if walk.needs_import:
        return None
    text = fill.text()
    return CarryOutcome(text, tally.report(text, walk, fill))


def _fill_sections(
    entries: Iterator[Entry], fill: Fill, tally: _Tally, policy: CarryPolicy
) -> None:
    """Offer the entries that no other one supersedes, newest first, until the total is spent."""
    rules = rule_set(policy.rules)
    judging = Judging(rules)
    if rules.keeps_first:
        all_entries = list(entries)
        judging.find_firsts(all_entries)
        tally.errors += sum([entry.is_error for entry in all_entries])
        entries = iter(all_entries)
    for entry in entries:
        reason, _, counted_by = judging.judge(entry)
        if not rules.keeps_first:
            tally.errors += entry.is_error
        if counted_by is not None:
            fill.count(counted_by)
        if reason:
            fill.supersede(entry, reason)
        else:
            fill.offer(entry)
            if fill.is_done:
                break


def _carry_whole(
    messages: Sequence[Any], summary: str, policy: CarryPolicy, trace: Trace | None
) -> CarryOutcome | None:
    """Return the hand-over, for which the whole conversation is read; by default, sections if everything fits."""
    walk = Walk(messages)
    entries = list(walk.entries())
    if walk.needs_import:
        return None
    judging = Judging(rule_set(policy.rules))
    if policy.layout == "auto":
        noted: Trace | None = None if trace is None else []
        fill, tally = Fill(policy, summary, noted), _Tally()
        _fill_sections(tally.watch(iter(entries), fill), fill, tally, policy)
        _add_plan(fill, entries, judging, policy)
        if fill.fits_all:
            text = fill.text()
            if trace is not None:
                trace += noted or ()
            return CarryOutcome(text, tally.report(text, walk, fill))
    fill, tally = Fill(policy, summary, trace), _Tally()
    found: list[tuple[Entry, Rule]] = []
    for entry in tally.watch(iter(entries), fill):
        rule = judging.prepare(entry)
        tally.errors += entry.is_error
        reason = excluding_reason(policy, entry, rule)
        if reason:
            fill.exclude(entry, reason)
        else:
            found.append((entry, rule))
    found.reverse()
    spoken = spoken_in(turns_of(messages) or [])
    written = hand_over(found, spoken, summary, policy, trace)
    report = tally.report(written.text, walk, fill)
    report = replace(
        report,
        shown=written.shown,
        cut=written.cut,
        left_out=written.left_out,
        superseded={"merged": written.merged} if written.merged else {},
        summary_cut=written.summary_cut,
        budget_too_small=written.budget_too_small,
        block_tokens=tuple(written.block_tokens),
        steps=tuple(written.calls),
    )
    return CarryOutcome(written.text, report)


def _add_plan(fill: Fill, entries: Sequence[Entry], judging: Judging, policy: CarryPolicy) -> None:
    """Show the last plan of judged entries, newest first, if all of them fit."""
    if fill.fits_all:
        about = [each for each in reversed(entries) if each.is_active and kind_of(each) == "plan"]
        found = [(entry, judging.prepare(entry)) for entry in about]
        fill.add_plan(plan_section([each for each in found if not excluding_reason(policy, *each)]))


def excluding_reason(policy: CarryPolicy, entry: Entry, rule: Rule) -> str:
    """Return why no hand-over shows a block: a rule, its branch, or a setting; empty if it may be shown."""
    if rule.keep == "none":
        return "rule"
    return excluding_setting(policy, entry) if entry.is_active else inactive_reason(entry)


class _Tally:
    """Counts of the blocks that were walked. ``errors`` of the active branch are counted when they are judged."""

    def __init__(self) -> None:
        self.walked = self.calls_alone = self.results_alone = self.errors = self.chars = 0

    def watch(self, entries: Iterator[Entry], fill: Fill) -> Iterator[Entry]:
        """Count each entry, and yield those of the active branch."""
        for entry in entries:
            entry.age = self.walked
            self.walked += 1
            if entry.result is None:
                self.calls_alone += 1
            else:
                content = entry.content
                is_plain = isinstance(content, str) and content[:5] != "data:"
                self.chars += len(str(content) if is_plain else result_text(content))
                if entry.call is None:
                    self.results_alone += 1
            if entry.is_active:
                yield entry
            else:
                self.errors += entry.is_error  # its flag; it is not judged
                fill.exclude(entry, inactive_reason(entry))

    def report(self, text: str, walk: Walk, fill: Fill) -> Report:
        encoding = fill.encoding
        return Report(
            walked=self.walked,
            walked_all=not fill.is_done,
            shown=fill.shown,
            cut=fill.cut,
            left_out=fill.left_out,
            superseded=fill.superseded,
            excluded=fill.excluded,
            orphan_calls=self.calls_alone,
            orphan_results=self.results_alone,
            duplicate_results=walk.duplicate_results,
            repeated_records=walk.repeated_records,
            errors=self.errors,
            chars_before=self.chars,
            chars_after=len(text),
            summary_cut=fill.summary_cut,
            budget_too_small=fill.budget_too_small,
            tokens_after=None if encoding is None else count_tokens(text, encoding),
            block_tokens=tuple(fill.block_tokens),
            unread=walk.unread_report(),
        )


def explain(messages: Sequence[Any], summary: str, policy: CarryPolicy) -> list[WalkedBlock] | None:
    """Return the age, the fate and the reason of every block that ``carry`` walks."""
    trace: Trace = []
    if carry(messages, summary, policy, trace) is None:
        return None
    return [WalkedBlock(*each) for each in trace]


def inactive_reason(entry: Entry) -> str:
    return "side_chain" if entry.scope else "other_branch"


def dedup_key(entry: Entry) -> str | None:
    return None if entry.key is None else f"{entry.kind}:{entry.key}"


def _to_block(entry: Entry, notes: Notes) -> ToolBlock:
    return ToolBlock(
        entry.call,
        entry.result,
        entry.name,
        dedup_key(entry),
        entry.call_id,
        entry.is_error,
        entry.position,
        entry.scope,
        notes,
    )
