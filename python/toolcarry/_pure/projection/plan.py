"""Plan a projection: the same request with short markers for superseded or over-long results, and valid if asked for.

Unchanged values are the caller's own: the same objects, or the same bytes. Planning is a pure function, and leaves its
own output unchanged.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, cast

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_object
from toolcarry._pure.pairing import Walk
from toolcarry._pure.projection.blocks import (
    CLEARED,
    PARTIAL,
    Block,
    CallFacts,
    byte_length,
    read_blocks,
    turns_of,
)
from toolcarry._pure.projection.decide import BYTES_PER_TOKEN, Total, protect, repeat, replace
from toolcarry._pure.projection.early import has_early
from toolcarry._pure.projection.edits import Draft, Members, build
from toolcarry._pure.projection.fingerprint import signs_of
from toolcarry._pure.projection.inputs import are_wanted, read_inputs
from toolcarry._pure.projection.mended import adopt, count_mends, counts
from toolcarry._pure.projection.repair import formats_of, repair_messages
from toolcarry._pure.projection.repair.destinations import (
    DESTINATIONS,
    SHAPES,
    destination_of,
    wanted_destination,
)
from toolcarry._pure.projection.repair.destinations import Destination as Form
from toolcarry._pure.projection.repair.frame import Frame
from toolcarry._pure.projection.repair.guard import guarded, unread_place
from toolcarry._pure.projection.repair.report import Mends
from toolcarry._pure.projection.request import EditedMessages, is_original
from toolcarry._pure.projection.window import Request
from toolcarry.types.destinations import Destination
from toolcarry.types.policy import Policy
from toolcarry.types.values import Decision, Decisions, ProjectReport, Replacement

_FRAME_MENDS: Final = frozenset(read_table("texts")["frame_mends"])
"""The kinds of corrections that, without a position, are in the frame, and so before all messages."""
_Weigh = Callable[[int, int], int]
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
    changed += [
        block.entry.position
        for block in blocks
        for each in block.inputs
        if (each.is_cleared and not block.is_dropped)
        != (each.is_known and each.reference in before.made)
    ]
    mends = now.mends ^ before.mends
    changed += [mend.position for mend in mends if mend.position is not None]
    changed += [0 for mend in mends if mend.position is None and mend.kind in _FRAME_MENDS]
    return min([*changed, before.messages, now.messages])


def prefix_tokens(
    blocks: Sequence[Block], now: Decisions, previous: Decisions | None, weigh: _Weigh
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
        for each in block.cleared:
            if block.entry.position < changed:
                stable -= each.saved
            elif block.entry.position < sent:
                broken -= each.saved
    return max(stable, 0) // BYTES_PER_TOKEN, max(broken, 0) // BYTES_PER_TOKEN


class Projection(NamedTuple):
    """The plan for a request. ``drafts`` is ``None`` if they stay unchanged."""

    drafts: list[Draft] | None
    frame: Members
    """The other members of the request that change."""
    report: ProjectReport
    decisions: Decisions


class _Given(NamedTuple):
    """A request, and what is known about it besides its messages.

    ``shapes`` are its formats, if it is to be repaired, and ``guard`` the positions that no repair may touch.
    """

    messages: Sequence[Any]
    policy: Policy
    previous: Decisions | None
    frame_tokens: int
    is_continued: bool
    weigh: _Weigh
    known: Sequence[CallFacts] | None
    is_foreign: bool
    shapes: list[str]
    guard: frozenset[int]
    model: str
    frame: JsonObject | None


def plan(
    messages: Sequence[Any],
    policy: Policy,
    previous: Decisions | None,
    *,
    frame_tokens: int = 0,
    is_continued: bool = False,
    weigh: _Weigh | None = None,
    known: Sequence[CallFacts] | None = None,
    is_foreign: bool = False,
    model: str = "",
    frame: JsonObject | None = None,
) -> Projection:
    """Plan what a policy does with the messages of a request, given as plain objects.

    ``frame_tokens`` are the tokens of the request without its messages, ``is_continued`` is true if the provider stores
    the messages before them, and ``weigh`` returns their bytes, if these are known. ``known`` holds facts about each
    call, in order, that are not in the messages. Messages that are ``is_foreign`` were imported: no provider accepts
    them, and they are not repaired. ``model`` is the name of the model, if it is known, and ``frame`` holds the other members of the
    request, if there are any.
    """
    weigh = weigh or (lambda start, end: text_bytes(messages[start:end]))
    walk = Walk(messages)
    blocks = read_blocks(messages, policy, walk, known)
    shapes: list[str] = []
    if policy.repair and not is_foreign:
        shapes = shapes_of(messages, policy, is_continued=is_continued)
    early = None if is_continued or known is not None else form_of(shapes)
    if early is not None and not walk.unread and has_early(block.entry for block in blocks):
        blocks = read_blocks(messages, policy, Walk(messages), early=early)
    else:
        early = None
    if are_wanted(policy, previous):
        read_inputs(blocks, messages, policy)
    guard = guarded(messages, walk, blocks)
    if is_mixed(
        shapes
    ):  # without the turns of one provider, the rest would be repaired as the other's
        guard = frozenset(range(len(messages)))
    given = _Given(
        messages,
        policy,
        previous,
        frame_tokens,
        is_continued,
        weigh,
        known,
        is_foreign,
        shapes,
        guard,
        model,
        frame,
    )
    put = decide(given, blocks, turns_of(blocks))
    # Few requests need a correction, so that the others are read and put together once.
    is_corrected = policy.repair and (put.mends.made or drops(blocks))
    if is_corrected and (counts(policy) or is_missed(blocks, put.mends)):
        fresh = read_blocks(messages, policy, Walk(messages), known, early=early)
        if are_wanted(policy, previous):
            read_inputs(fresh, messages, policy)
        first = put_together(given, fresh)
        if first.mends.made:
            blocks = fresh
            mended = build(messages, first.drafts)
            turns = adopt(blocks, mended, first.mends, policy, known)
            put = decide(given, blocks, turns)
    return _told(given, blocks, put, walk)


class Assembled(NamedTuple):
    """The messages as they are put together, with the corrections and the counts."""

    drafts: list[Draft]
    mends: Mends
    not_repaired: list[str]
    is_same: bool
    frame: Members
    previous: Decisions | None = None
    total: Total | None = None
    request: Request | None = None


def decide(given: _Given, blocks: Sequence[Block], turns: Sequence[Sequence[Block]]) -> Assembled:
    """Decide about all results, and put the messages together."""
    policy, previous = given.policy, given.previous
    if previous is not None:
        standing = repeat(blocks, turns, previous)
        previous = dataclasses.replace(previous, messages=standing)
    protect(blocks, turns, policy)
    replace(blocks, policy, 0 if previous is None else previous.messages)
    total = Total(blocks, policy)
    total.clear(blocks, turns[-1] if turns else ())
    request = None
    if policy.max_request_tokens is not None:
        request = Request(given.messages, blocks, turns, given.frame_tokens, policy, given.guard)
        # With repair, messages are removed first, which then need no room.
        if not policy.repair and request.fit(turns):
            total.count_again(blocks)
            total.clear(blocks, turns[-1] if turns else ())
    is_changed = True
    while is_changed:
        put = put_together(given, blocks)
        # Only a request from which turns were dropped may need other corrections than before.
        is_changed = drops(blocks) and count_mends(blocks, put.mends)
        if request is not None:
            sent = given.messages if put.is_same else build(given.messages, put.drafts)
            prompt = [given.messages[position] for position in put.mends.moved]
            request.count_again([*prompt, *sent])
            is_changed |= request.fit(turns)
        if is_changed:  # the marker of a cleared image may be longer than its line
            total.count_again(blocks)
            total.clear(blocks, turns[-1] if turns else ())
    return put._replace(previous=previous, total=total, request=request)


def put_together(given: _Given, blocks: Sequence[Block]) -> Assembled:
    """Put the messages together, and repair them if the policy says so."""
    messages, policy = given.messages, given.policy
    shapes = given.shapes
    has_drops = drops(blocks)
    mends = Mends()
    edited = EditedMessages(messages, blocks, is_continued=given.is_continued, guard=given.guard)
    drafts = edited.all_messages()
    is_named = policy.destination is not None
    frame = None if given.frame is None else Frame(given.frame, is_named=is_named)
    if has_drops and not given.is_foreign and not is_mixed(shapes):
        shapes = shapes_of(build(messages, drafts), policy, is_continued=given.is_continued)
    destination = None
    if len(shapes) == 1 and shapes[0] in SHAPES:
        ids = (block.entry.call_id for block in blocks if block.entry.call is not None)
        destination = destination_of(shapes[0], ids, given.model, _asked_destination(policy))
    # If messages of one role may not follow one another, the rest has to be joined.
    if destination is not None and (policy.repair or destination.merges):
        drafts = repair_messages(edited, destination, mends, frame)
    not_repaired = shapes if destination is None else sorted(mends.open_kinds)
    asked = _asked_destination(policy)
    if asked is not None and destination is not None:
        wanted = wanted_destination(asked)
        if destination.shape != wanted.shape:
            not_repaired = [*not_repaired, wanted.refusal(destination.shape)]
    is_same = is_original(drafts, len(messages))
    return Assembled(drafts, mends, not_repaired, is_same, {} if frame is None else frame.edits())


def _asked_destination(policy: Policy) -> str | Destination | None:
    """Return the destination of a policy, which made it of a mapping."""
    asked = policy.destination
    return asked if asked is None or isinstance(asked, str) else cast("Destination", asked)


def shapes_of(messages: Sequence[Any], policy: Policy, *, is_continued: bool) -> list[str]:
    """Return the formats of messages; that of the policy's destination if the messages tell of none.

    Chat and Ollama differ in members of calls that a repair writes, so that each of both is the other one's as well.
    """
    asked = _asked_destination(policy)
    if asked is None:
        return formats_of(messages, is_continued=is_continued)
    wanted = wanted_destination(asked)
    typed = wanted.shape if wanted.has_types else ""
    shapes = formats_of(messages, is_continued=is_continued, asked=typed)
    own = form_of(shapes)
    is_chat = own is not None and own.form == wanted.form == "chat"
    return [wanted.shape] if not shapes or is_chat else shapes


def form_of(shapes: Sequence[str]) -> Form | None:
    """Return the destination of the only format of a request; ``None`` if there are more, or it is no provider's."""
    return DESTINATIONS[shapes[0]] if len(shapes) == 1 and shapes[0] in SHAPES else None


def is_mixed(shapes: Sequence[str]) -> bool:
    """Return true if a request has calls or results of several providers, so that none of them can be served."""
    return len(shapes) > 1


def drops(blocks: Sequence[Block]) -> bool:
    """Return true if any turn is dropped."""
    return any(block.is_dropped for block in blocks)


def _told(given: _Given, blocks: Sequence[Block], put: Assembled, walk: Walk) -> Projection:
    """Return the plan with its report."""
    mends, total, request = put.mends, put.total, put.request
    decisions = Decisions(
        messages=len(given.messages),
        made=decisions_of(blocks),
        dropped=frozenset([block.reference for block in blocks if block.is_dropped]),
        mends=frozenset(mends.made),
        signs=signs_of(blocks),
    )
    # A decision about a result that is left out changes nothing.
    sent = [block for block in blocks if block.result_path not in mends.left_out]
    if total is not None and total.over:  # by less, if some results were dropped or left out since
        total.count_again(sent)
    stable, broken = prefix_tokens(sent, decisions, put.previous, given.weigh)
    report = ProjectReport(
        blocks=len(blocks),
        replacements=tuple(replacements(sent)),
        mends=tuple(mends.made),
        orphan_calls=sum(block.entry.result is None for block in blocks),
        orphan_results=sum(block.entry.call is None for block in blocks),
        duplicate_results=walk.duplicate_results,
        errors=sum(block.entry.is_error for block in blocks),
        chars_before=sum(len(block.text) for block in blocks),
        chars_after=sum(len(block.sent) for block in sent),
        tokens_before=None if request is None else request.before,
        tokens_after=None if request is None else request.tokens,
        over_budget=0 if total is None else total.over,
        over_request=0 if request is None else request.over,
        not_repaired=", ".join([*put.not_repaired, *unread_place(walk.unread_report())])
        if given.policy.repair
        else "",
        stable_prefix_tokens=stable,
        cache_break_tokens=broken,
        unread=walk.unread_report(),
        names=mends.names,
    )
    return Projection(None if put.is_same else put.drafts, put.frame, report, decisions)


def decisions_of(blocks: Sequence[Block]) -> dict[str, Decision]:
    """Return the decisions about results, and about arguments of calls, by reference."""
    made: dict[str, Decision] = {}
    for block in blocks:
        if block.decision is not None:
            made[block.reference] = block.decision
        made |= {each.reference: CLEARED for each in block.cleared}
    return made


def is_missed(blocks: Sequence[Block], mends: Mends) -> bool:
    """Return true if a result that was left out was to supersede an older one, or if one may have lost cache marks."""
    mended = {mend.position for mend in mends.made}
    if any(block.entry.result_position in mended and block.has_many_marks for block in blocks):
        return True
    if not mends.left_out:
        return False
    decided = [block.decision for block in blocks if block.decision is not None]
    superseding = {by for kind, by, _, _ in decided if kind == "superseded"}
    return any(
        block.reference in superseding
        for block in blocks
        if block.entry.call is not None and block.result_path in mends.left_out
    )


def replacements(blocks: Sequence[Block]) -> list[Replacement]:
    """Return the results and arguments that markers replace, and the results that were dropped with their calls."""
    found: list[Replacement] = []
    for block in blocks:
        entry, size = block.entry, len(block.text)
        for each in block.cleared:
            chars = len(each.text)
            found.append(
                Replacement(
                    position=entry.position,
                    reference=each.reference,
                    tool_name=entry.name,
                    reason=each.reason,
                    chars_before=chars,
                    chars_after=len(each.marker),
                    start=0,
                    end=chars,
                )
            )
        start, end = 0, size
        if block.is_dropped:
            reason = "dropped"
        elif block.decision is None:
            continue
        else:
            kind, _, head, tail = block.decision
            reason = block.reason if kind == "superseded" and block.reason else kind
            start, end = (head, tail) if kind == "cut" else (0, size)
            if kind in PARTIAL and kind != "terminal" and block.media.beside:
                reason = "cut_text"
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
