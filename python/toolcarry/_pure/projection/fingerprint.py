"""By what a result is known again in a later request, where another one may have its reference.

Where ids repeat or are missing, references number what is there: as soon as a client lets go of its first turns, they
name other calls. A sign is cheap, since it is asked for only of what is decided: no more of a text is looked at than a
little of both ends. So two results of one tool and one length that differ in the middle alone are taken for one, if their
calls differ no more than that.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.projection.blocks import Block
from toolcarry._pure.projection.marker import marker_of
from toolcarry.types import Decision, Decisions, Sign

END = 32
"""How many characters of each end are looked at."""


def call_sign(entry: Entry) -> int:
    """The sign of a call: its tool, and the file, the command, or what else tells calls of the tool apart."""
    return checksum(entry.value or "", checksum(entry.tool_name))


def sign_of(block: Block) -> Sign:
    """The sign of a call and its result."""
    return call_sign(block.entry), len(block.text), checksum(block.text)


def checksum(text: str, start: int = 0) -> int:
    """The CRC-32 of both ends of a text, in UTF-32 where it is not ASCII, since that any text can be written in."""
    for end in (text[:END], text[-END:]):
        written = end.encode() if end.isascii() else end.encode("utf-32-le", "surrogatepass")
        start = zlib.crc32(written, start)
    return start


def recognize(blocks: Sequence[Block], previous: Decisions) -> tuple[set[str], int]:
    """Find the results that have their signs still: the references of the calls that do, and how many messages stand.

    A call that had no result then, or an empty one, is known by itself. From the first message on that is another one now,
    none is as it was sent, so that there is nothing left of it in a cache.
    """
    calls: set[str] = set()
    standing = previous.messages
    for block in blocks:
        sign = previous.signs.get(block.reference)
        if sign is None:
            continue
        call, size, ends = sign
        if call != call_sign(block.entry):
            standing = min(standing, block.entry.position)
            continue
        calls.add(block.reference)
        block.is_known = not size or (size == len(block.text) and ends == checksum(block.text))
        if not block.is_known and not is_as_decided(
            block, previous.made.get(block.reference), size
        ):
            standing = min(standing, block.entry.result_position)
    return calls, standing


def is_as_decided(block: Block, decision: Decision | None, size: int) -> bool:
    """Whether a result of so many characters stands as it was sent by a decision: a client may keep what it sent."""
    if block.is_fixed or decision is None:
        return block.is_fixed
    _, _, head, tail = decision
    kept = [count + 1 for count in (head, size - tail) if count] if decision[0] == "cut" else []
    marker = marker_of(decision, size, block.reference)
    return len(block.text) == len(marker) + sum(kept)


def signs_of(blocks: Sequence[Block]) -> dict[str, Sign]:
    """The signs of what is decided about, and of the calls that supersede."""
    decided = [block.decision for block in blocks if block.decision is not None]
    superseding = {by for kind, by, _, _ in decided if kind == "superseded"}
    signs: dict[str, Sign] = {}
    for block in blocks:
        if block.decision is not None or block.is_dropped:
            signs[block.reference] = sign_of(block)
        elif block.reference in superseding:
            signs[block.reference] = call_sign(block.entry), 0, 0
    return signs
