"""Judge the results of a request as they are after its repair: mend first, then count.

A repair makes up results, leaves others out, and moves some to their calls. All of that changes how many results there
are, what they measure, what supersedes what, and where a turn ends. So if a request is corrected at all, and a policy
asks for such things, its decisions are about the repaired request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._pure.pairing import Walk
from toolcarry._pure.projection.blocks import Block, CallFacts, read_blocks, turns_of
from toolcarry._pure.projection.repair.report import Mends
from toolcarry.types.policy import NO_LIMIT, Policy


def counts(policy: Policy) -> bool:
    """Return true if a policy counts results, or turns."""
    totals = (
        policy.max_tool_context_chars,
        policy.max_tool_context_tokens,
        policy.max_request_tokens,
    )
    is_limited = any(total not in (None, NO_LIMIT) for total in totals)
    is_kept = policy.keep_last_results > 0 or policy.keep_last_turns > 0
    return is_limited or is_kept or bool(policy.clear_tool_inputs)


def count_mends(blocks: Sequence[Block], mends: Mends) -> bool:
    """Count the results as the repair leaves them. Return true if any of them changes by that."""
    is_changed = False
    for block in blocks if mends.texts or mends.left_out else ():
        text = mends.texts.get(block.entry.order)
        if text is None and block.result_path in mends.left_out:
            text = ""
        if text is not None and block.made_up != text:
            block.stand_in(text)
            is_changed = True
    return is_changed


def adopt(
    blocks: Sequence[Block],
    mended: Sequence[Any],
    mends: Mends,
    policy: Policy,
    known: Sequence[CallFacts] | None,
) -> list[list[Block]]:
    """Give blocks the properties that they have in the ``mended`` messages. Return them by turn."""
    count_mends(blocks, mends)
    others = read_blocks(mended, policy, Walk(mended))
    partners = partners_of(blocks, others, mends)
    if partners is None:
        return turns_of(blocks)
    if known is not None:
        errors = {id(block): is_error for block, (_, is_error) in zip(blocks, known, strict=True)}
        facts = [CallFacts(block.reference, errors[id(block)]) for block in partners]
        others = read_blocks(mended, policy, Walk(mended), facts)
    own = {id(other.entry): block for block, other in zip(partners, others, strict=True)}
    for block, other in zip(partners, others, strict=True):
        block.reason = other.reason
        block.by = None if other.by is None else own[id(other.by)].entry
        if block.has_many_marks and not other.is_fixed:
            block.free()
    return [[own[id(other.entry)] for other in turn] for turn in turns_of(others)]


def partners_of(
    blocks: Sequence[Block], others: Sequence[Block], mends: Mends
) -> list[Block] | None:
    """Return the block of each one in the mended messages; ``None`` if they can't be matched.

    The repair keeps the order of the calls, and that of the results without call which it leaves in. It may have given
    tools other names.
    """
    calls = iter(
        [
            block
            for block in blocks
            if block.entry.call is not None and block.entry.order not in mends.gone_calls
        ]
    )
    orphans = iter(
        [
            block
            for block in blocks
            if block.entry.call is None and block.result_path not in mends.left_out
        ]
    )
    found: list[Block] = []
    for other in others:
        is_orphan = other.entry.call is None
        block = next(orphans if is_orphan else calls, None)
        name = mends.names.get(other.entry.tool_name, other.entry.tool_name)
        if block is None or (not is_orphan and block.entry.tool_name != name):
            return None
        found.append(block)
    is_whole = next(calls, None) is None and next(orphans, None) is None
    return found if is_whole else None
