"""The hand-over (``layout="handover"``): a context with which another model goes on with the work.

The calls become numbered steps in time order (``steps``), by their kinds (``kinds``), with cleaned results (``clean``).
From them follow the plan (``plan``), the open failures (``failures``), the current text of files (``files``,
``passages``), the ledger (``ledger``) and the latest steps (``latest``), among which ``layout`` divides the room.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from toolcarry.fallback.context.budget import Trace
from toolcarry.fallback.context.handover.layout import HandOver, find_directory
from toolcarry.fallback.context.handover.spoken import Spoken, spoken_in
from toolcarry.fallback.context.handover.steps import Step, mark_pending
from toolcarry.model.pairing.block import Entry
from toolcarry.types.policy import CarryPolicy
from toolcarry.types.values import CallPlace, EncodingName, NumberedCall, Rule

__all__ = ["HandedOver", "Spoken", "hand_over", "spoken_in"]

_FATES: dict[CallPlace, tuple[str, str]] = {
    "step": ("shown", ""),
    "ledger": ("cut", "ledger"),
    "file": ("cut", "file_text"),
    "merged": ("superseded", "merged"),
    "left_out": ("left_out", "budget"),
}


class HandedOver(NamedTuple):
    """A hand-over, and the numbers of its report."""

    text: str
    encoding: EncodingName | None
    shown: int
    cut: int
    left_out: int
    merged: int
    summary_cut: bool
    budget_too_small: bool
    block_tokens: list[tuple[int, int]]
    calls: list[NumberedCall]


def hand_over(
    found: Sequence[tuple[Entry, Rule]],
    spoken: Spoken,
    summary: str,
    policy: CarryPolicy,
    trace: Trace | None,
) -> HandedOver:
    """Return the hand-over of prepared entries, oldest first."""
    requests = spoken.requests
    steps: list[Step] = []
    turn = 0
    for number, (entry, rule) in enumerate(found, 1):
        while turn < len(requests) and requests[turn].position <= entry.position:
            turn += 1
        steps.append(Step(entry, number, turn, rule))
    mark_pending(steps, requests[-1].position if requests else -1)
    answer = spoken.answer
    if answer is not None and steps and answer.position <= steps[-1].entry.position:
        answer = None
    writer = HandOver(policy, summary)
    text = writer.write(steps, requests, answer, find_directory(steps))
    calls: list[NumberedCall] = []
    tokens: list[tuple[int, int]] = []
    tally = {"shown": 0, "cut": 0, "left_out": 0, "superseded": 0}
    for step in steps:
        entry, place = step.entry, writer.places[step.number] if text else "left_out"
        fate, reason = _FATES[place]
        if place == "step" and step.number in writer.cut:
            fate, reason = "cut", "total"
        tally[fate] += 1
        calls.append(NumberedCall(step.number, entry.position, entry.call_id, place))
        if place == "step" and writer.measure.encoding is not None:
            tokens.append((entry.position, writer.sizes[step.number]))
        if trace is not None:
            trace.append((entry.age, fate, reason))
    return HandedOver(
        text, writer.measure.encoding, tally["shown"] + tally["cut"], tally["cut"], tally["left_out"],
        tally["superseded"], writer.summary_cut, writer.has_no_room or (not text and bool(steps)),
        tokens, calls,
    )  # fmt: skip
