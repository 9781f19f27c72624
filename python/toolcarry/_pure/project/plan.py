"""The projection: the same request with short markers where results are superseded or too long, and valid if asked for.

What stays is the caller's own: in objects the same objects, in bytes the same bytes. It is a pure function, and what it
gave it leaves as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from toolcarry._pure.pair import Walk
from toolcarry._pure.project.blocks import Block, read_blocks, turns_of
from toolcarry._pure.project.choose import Total, protect, repeat, replace
from toolcarry._pure.project.drafts import Draft, build
from toolcarry._pure.project.material import Material, is_as_it_was
from toolcarry._pure.project.mend import mend
from toolcarry._pure.project.request import Request, request_tokens
from toolcarry._pure.project.sizes import Weigh, prefix_tokens, text_bytes
from toolcarry.policy import Policy
from toolcarry.types import Decisions, Mend, ProjectReport, Replacement


class Projection(NamedTuple):
    """What becomes of the messages: ``None`` where they stay as they are."""

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
) -> Projection:
    """What a policy makes of the messages of a request, plain objects.

    ``frame_tokens`` is what the request takes beside its messages, ``is_continued`` says that the provider holds what was
    before them, and ``weigh`` tells their bytes, where these are known.
    """
    walk = Walk(messages)
    blocks = read_blocks(messages, policy, walk)
    turns = turns_of(blocks)
    if previous is not None:
        repeat(blocks, previous.made)
    protect(blocks, turns, policy)
    replace(blocks, policy, previous)
    total = Total(blocks, policy)
    total.clear(blocks, turns[-1] if turns else ())
    request = None
    if policy.max_request_tokens is not None:
        request = Request(messages, blocks, frame_tokens, policy)
        if previous is not None:
            request.drop_again(turns, previous.dropped)
        request.fit(turns)
    dropped = [] if request is None else request.dropped
    material = Material(messages, blocks, is_continued=is_continued)
    for turn in dropped:
        material.drop(turn)
    mends: list[Mend] = []
    drafts = mend(material, mends) if policy.repair else material.all_messages()
    is_same = is_as_it_was(drafts, len(messages))
    tokens = None
    if request is not None:
        new = messages if is_same else build(messages, drafts)
        tokens = frame_tokens + sum([request_tokens(message, policy.encoding) for message in new])
    decisions = Decisions(
        len(messages),
        {block.reference: block.decision for block in blocks if block.decision is not None},
        frozenset(block.reference for turn in dropped for block in turn),
        frozenset(mends),
    )
    stable, broken = prefix_tokens(
        blocks, decisions, previous, weigh or (lambda start, end: text_bytes(messages[start:end]))
    )
    report = ProjectReport(
        blocks=len(blocks),
        replacements=tuple(replacements(blocks, dropped)),
        mends=tuple(mends),
        orphan_calls=sum(block.entry.result is None for block in blocks),
        orphan_results=sum(block.entry.call is None for block in blocks),
        duplicate_results=walk.duplicate_results,
        errors=sum(block.entry.is_error for block in blocks),
        chars_before=sum(len(block.text) for block in blocks),
        chars_after=sum(len(block.new) for block in blocks),
        tokens_before=None if request is None else request.before,
        tokens_after=tokens,
        over_budget=total.over,
        over_request=0 if tokens is None or request is None else max(tokens - request.limit, 0),
        stable_prefix_tokens=stable,
        cache_break_tokens=broken,
    )
    return Projection(None if is_same else drafts, report, decisions)


def replacements(blocks: Sequence[Block], dropped: Sequence[Sequence[Block]]) -> list[Replacement]:
    """The results that markers stand for, and those that went with their calls."""
    gone = {id(block) for turn in dropped for block in turn}
    found: list[Replacement] = []
    for block in blocks:
        entry, size, after = block.entry, len(block.text), len(block.new)
        kind, _, start, end = block.decision or ("", "", 0, size)
        if id(block) in gone:
            reason, after, start, end = "dropped", 0, 0, size
        elif not kind:
            continue
        else:
            reason = block.reason if kind == "superseded" and block.reason else kind
            start, end = (start, end) if kind == "cut" else (0, size)
        found.append(
            Replacement(
                entry.result_position,
                block.reference,
                entry.name,
                reason,
                size,
                after,
                start,
                end,
            )
        )
    return found
