"""How much of a request stands as it did, which is what a prompt cache keeps, by bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from toolcarry._pure.projection.blocks import Block, byte_length
from toolcarry._pure.projection.decide import BYTES_PER_TOKEN
from toolcarry.decisions import DecisionFields, Decisions
from toolcarry.wire import as_object

Weigh = Callable[[int, int], int]
"""The bytes of the messages from one position to another, as they came."""


def text_bytes(messages: Iterable[Any]) -> int:
    """The UTF-8 bytes of all texts in messages, at any depth."""
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
    """The first message that is not as the previous projection had it; without one, as it came."""
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
    blocks: Sequence[Block], fields: DecisionFields, previous: Decisions | None, weigh: Weigh
) -> tuple[int, int]:
    """How many tokens stand as they did, and how many that were sent before have to be read anew; estimates."""
    now = Decisions.of(fields)
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
