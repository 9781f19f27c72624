"""Plan a projection: the same request with short markers for superseded or over-long results, and valid if asked for.

Unchanged values are the caller's own: the same objects, or the same bytes. Planning is a pure function, and leaves its
own output unchanged.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from toolcarry._input.objects import as_object
from toolcarry._pure.pairing import Walk
from toolcarry._pure.projection.blocks import Block, Known, byte_length, read_blocks, turns_of
from toolcarry._pure.projection.decide import BYTES_PER_TOKEN, Total, protect, repeat, replace
from toolcarry._pure.projection.edits import Draft, build
from toolcarry._pure.projection.fingerprint import signs_of
from toolcarry._pure.projection.repair import mend, shapes_of
from toolcarry._pure.projection.repair.providers import DIALECTS
from toolcarry._pure.projection.repair.report import Mends
from toolcarry._pure.projection.request import Material, is_as_it_was
from toolcarry._pure.projection.window import Request
from toolcarry.types.policy import Policy
from toolcarry.types.values import Decisions, ProjectReport, Replacement

Weigh = Callable[[int, int], int]
"""The bytes of the messages between two positions in the input."""


def text_bytes(messages: Iterable[Any]) -> int:
    """Return the UTF-8 bytes of all texts in messages, at any depth."""
    total = 0
    rest = list(messages)
    while rest:
        value = rest.pop()
        if isinstance(value, str):
            total += byte_length(value)
        elif isinstance(value, (list, tuple)):
            rest.extend(value)
        else:
            found = as_object(value)
            if found is not None:
                rest.extend(found.values())
    return total


def first_changed(blocks: Sequence[Block], now: Decisions, previous: Decisions | None) -> int:
    """Return the first message that differs from the previous projection; without one, from the input."""
    before = Decisions(now.messages) if previous is None else previous
    changed = [
        block.entry.result_position
        for block in blocks
        if block.decision != (before.made.get(block.reference) if block.is_known else None)
    ]
    changed += [
        block.entry.position
        for block in blocks
        if block.is_dropped != (block.is_known and block.reference in before.dropped)
    ]
    changed += [mend.position for mend in now.mends ^ before.mends if mend.position is not None]
    return min([*changed, before.messages, now.messages])


def prefix_tokens(
    blocks: Sequence[Block], now: Decisions, previous: Decisions | None, weigh: Weigh
) -> tuple[int, int]:
    """Estimate how many tokens are unchanged, and how many of those that were sent before have to be read again."""
    changed = first_changed(blocks, now, previous)
    sent = changed if previous is None else min(previous.messages, now.messages)
    stable, broken = weigh(0, changed), weigh(changed, sent)
    for block in blocks:
        if block.decision is not None:
            if block.entry.result_position < changed:
                stable -= block.saved
            elif block.entry.result_position < sent:
                broken -= block.saved
    return max(stable, 0) // BYTES_PER_TOKEN, max(broken, 0) // BYTES_PER_TOKEN


class Projection(NamedTuple):
    """The plan for the messages. ``drafts`` is ``None`` if they stay unchanged."""

    drafts: list[Draft] | None
    report: ProjectReport
    decisions: Decisions


def plan(
    messages: Sequence[Any],
    policy: Policy,
    previous: Decisions | None,
    *,
    frame_tokens: int = 0,
    is_continued: bool = False,
    weigh: Weigh | None = None,
    known: Sequence[Known] | None = None,
    lost: frozenset[int] = frozenset(),
    is_foreign: bool = False,
) -> Projection:
    """Plan what a policy does with the messages of a request, given as plain objects.

    ``frame_tokens`` are the tokens of the request without its messages, ``is_continued`` is true if the provider stores
    the messages before them, and ``weigh`` returns their bytes, if these are known. ``known`` holds facts about each
    call, in order, that are not in the messages. ``lost`` are the orders of calls whose results the repair leaves out.
    Messages that are ``is_foreign`` were imported: no provider accepts them, and they are not repaired.
    """
    given, walk = previous, Walk(messages)
    blocks = read_blocks(messages, policy, walk, known, lost)
    turns = turns_of(blocks)
    if previous is not None:
        standing = repeat(blocks, turns, previous)
        previous = dataclasses.replace(previous, messages=standing)
    protect(blocks, turns, policy)
    replace(blocks, policy, 0 if previous is None else previous.messages)
    total = Total(blocks, policy)
    total.clear(blocks, turns[-1] if turns else ())
    request = None
    if policy.max_request_tokens is not None:
        request = Request(messages, blocks, turns, frame_tokens, policy)
        if not policy.repair:  # else the repair removes messages, which then need no room
            request.fit(turns)
    shapes: list[str] = []
    while True:
        drops = any(block.is_dropped for block in blocks)
        mends = Mends()
        material = Material(messages, blocks, is_continued=is_continued)
        drafts = material.all_messages()
        if (policy.repair or drops) and not is_foreign:
            left = build(messages, drafts) if drops else messages
            shapes = shapes_of(left, is_continued=is_continued)
        dialect = DIALECTS.get(shapes[0]) if len(shapes) == 1 else None
        # If messages of one role may not follow one another, the rest has to be joined.
        if dialect is not None and (policy.repair or dialect.merges):
            drafts = mend(material, dialect, mends)
        is_same = is_as_it_was(drafts, len(messages))
        if request is None:
            break
        request.count_anew(messages if is_same else build(messages, drafts))
        if not request.fit(turns):
            break
    if mends.left_out and not lost and (gone := lost_by(blocks, mends)):
        return plan(
            messages,
            policy,
            given,
            frame_tokens=frame_tokens,
            is_continued=is_continued,
            weigh=weigh,
            known=known,
            lost=gone,
        )
    decisions = Decisions(
        messages=len(messages),
        made={block.reference: block.decision for block in blocks if block.decision is not None},
        dropped=frozenset([block.reference for block in blocks if block.is_dropped]),
        mends=frozenset(mends.made),
        signs=signs_of(blocks),
    )
    # A decision about a result that is left out changes nothing.
    sent = [block for block in blocks if block.result_path not in mends.left_out]
    if total.over:  # by less, if some results were dropped or left out since
        total.count_anew(sent)
    stable, broken = prefix_tokens(
        sent, decisions, previous, weigh or (lambda start, end: text_bytes(messages[start:end]))
    )
    unrepaired = shapes if dialect is None else sorted(mends.open_kinds)
    report = ProjectReport(
        blocks=len(blocks),
        replacements=tuple(replacements(sent)),
        mends=tuple(mends.made),
        orphan_calls=sum(block.entry.result is None for block in blocks),
        orphan_results=sum(block.entry.call is None for block in blocks),
        duplicate_results=walk.duplicate_results,
        errors=sum(block.entry.is_error for block in blocks),
        chars_before=sum(len(block.text) for block in blocks),
        chars_after=sum(len(block.new) for block in sent),
        tokens_before=None if request is None else request.before,
        tokens_after=None if request is None else request.tokens,
        over_budget=total.over,
        over_request=0 if request is None else request.over,
        not_repaired=", ".join(unrepaired) if policy.repair else "",
        stable_prefix_tokens=stable,
        cache_break_tokens=broken,
    )
    return Projection(None if is_same else drafts, report, decisions)


def lost_by(blocks: Sequence[Block], mends: Mends) -> frozenset[int]:
    """Return the orders of calls whose results were left out, if one of them was to supersede an older result."""
    decided = [block.decision for block in blocks if block.decision is not None]
    superseding = {by for kind, by, _, _ in decided if kind == "superseded"}
    lost = [
        block
        for block in blocks
        if block.entry.call is not None and block.result_path in mends.left_out
    ]
    is_missed = any(block.reference in superseding for block in lost)
    return frozenset(block.entry.order for block in lost if is_missed)


def replacements(blocks: Sequence[Block]) -> list[Replacement]:
    """Return the results that markers replace, and those that were dropped with their calls."""
    found: list[Replacement] = []
    for block in blocks:
        entry, size = block.entry, len(block.text)
        start, end = 0, size
        if block.is_dropped:
            reason = "dropped"
        elif block.decision is None:
            continue
        else:
            kind, _, head, tail = block.decision
            reason = block.reason if kind == "superseded" and block.reason else kind
            start, end = (head, tail) if kind == "cut" else (0, size)
        found.append(
            Replacement(
                position=entry.result_position,
                reference=block.reference,
                tool_name=entry.name,
                reason=reason,
                chars_before=size,
                chars_after=len(block.new),
                start=start,
                end=end,
            )
        )
    return found
