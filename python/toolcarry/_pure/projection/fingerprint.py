"""Recognise a result in a later request, in which another one may have its reference.

If ids repeat or are missing, references are numbered. As soon as a client removes its first turns, the numbers name
other calls. Signs are cheap: they are needed only for results with a decision, and read only a little of both ends of a
text. So two results of the same tool and length that differ only in the middle are taken for the same one, if their
calls don't differ either.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.projection.arguments import Input
from toolcarry._pure.projection.blocks import Block
from toolcarry._pure.projection.marker import marker_of
from toolcarry.types.values import Decision, Decisions, Sign

END = 32
"""The number of characters that are read at each end."""


def call_sign(entry: Entry) -> int:
    """Return the sign of a call: its tool, and its key, such as the file or the command."""
    return checksum(entry.value or "", checksum(entry.tool_name))


def _sign_of(block: Block) -> Sign:
    """Return the sign of a call and its result."""
    return call_sign(block.entry), len(block.text), checksum(block.text)


def _input_sign(entry: Entry, each: Input) -> Sign:
    """Return the sign of an argument."""
    return call_sign(entry), len(each.text), checksum(each.text)


def checksum(text: str, start: int = 0) -> int:
    """Return the CRC-32 of both ends of a text. Unless it is ASCII, they are encoded as UTF-32, which takes any text."""
    for end in (text[:END], text[-END:]):
        written = end.encode() if end.isascii() else end.encode("utf-32-le", "surrogatepass")
        start = zlib.crc32(written, start)
    return start


def recognize(blocks: Sequence[Block], previous: Decisions) -> tuple[set[str], int]:
    """Find results by their signs. Return the references of calls with equal signs, and how many messages are
    unchanged.

    A call that had no result then, or an empty one, is recognised by itself. From the first message on that differs
    now, none counts as unchanged, since no cache has anything of it.
    """
    calls: set[str] = set()
    standing = previous.messages
    for block in blocks:
        for each in block.inputs:
            sign = previous.signs.get(each.reference)
            each.is_known = sign == _input_sign(block.entry, each)
            if sign is not None and not each.is_known:
                standing = min(standing, block.entry.position)
        sign = previous.signs.get(block.reference)
        if sign is None:
            continue
        call, size, ends = sign
        if call != call_sign(block.entry):
            standing = min(standing, block.entry.position)
            continue
        calls.add(block.reference)
        block.is_known = not size or (size == len(block.text) and ends == checksum(block.text))
        if not block.is_known and not matches_decision(
            block, previous.made.get(block.reference), size
        ):
            standing = min(standing, block.entry.result_position)
    return calls, standing


def matches_decision(block: Block, decision: Decision | None, size: int) -> bool:
    """Return true if a result of ``size`` characters is as a decision left it, since a client may keep what it sent."""
    if block.is_fixed or decision is None:
        return block.is_fixed
    kind, _, head, tail = decision
    if kind == "terminal":
        return len(block.text) == tail
    if kind == "shortened":
        return len(block.text) == len(marker_of(decision, size, block.reference)) + tail
    kept = [count + 1 for count in (head, size - tail) if count] if kind == "cut" else []
    marker = marker_of(decision, size, block.reference)
    return len(block.text) == len(marker) + sum(kept)


def signs_of(blocks: Sequence[Block]) -> dict[str, Sign]:
    """Return the signs of the results with a decision, and of the calls that supersede."""
    decided = [block.decision for block in blocks if block.decision is not None]
    superseding = {by for kind, by, _, _ in decided if kind == "superseded"}
    signs: dict[str, Sign] = {}
    for block in blocks:
        if block.decision is not None or block.is_dropped:
            signs[block.reference] = _sign_of(block)
        elif block.reference in superseding:
            signs[block.reference] = call_sign(block.entry), 0, 0
        for each in block.cleared:
            signs[each.reference] = _input_sign(block.entry, each)
    return signs
