"""Decide which results are replaced: superseded ones, those over a limit, and those for which a total has no room.

Arguments of old calls that hold nothing new are replaced in the same way (``inputs``).

A decision for an earlier request of the same conversation is repeated as long as it is about the same result. It may
become stronger (a cut result may be superseded, or cleared), never weaker. New decisions about messages that were sent
before are made only if they save enough together, since they invalidate the prompt cache from there on. Messages that
were not yet sent cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from toolcarry._pure.context.limits import Limits, result_limits
from toolcarry._pure.dedupe.rules import RuleSet
from toolcarry._pure.projection.arguments import Input
from toolcarry._pure.projection.blocks import (
    CLEARED,
    PARTIAL,
    RULED_OUT,
    Block,
    joined,
    newest_first,
)
from toolcarry._pure.projection.fingerprint import recognize
from toolcarry._pure.projection.inputs import KEPT_TURNS
from toolcarry._pure.projection.marker import marker_of, widest
from toolcarry._pure.projection.media import Media
from toolcarry._pure.shorten import fit
from toolcarry._pure.tokens.count import count_tokens
from toolcarry.types.policy import NO_LIMIT, Policy
from toolcarry.types.values import Decision, Decisions, Rule

OLD_TOKENS: Final = 400
"""The tokens to which a total shortens each old result, before it clears any."""
SHORTENED: Decision = ("shortened", "", 0, 0)
BYTES_PER_TOKEN = 4
"""The factor by which saved tokens are estimated, since the hot path counts none."""


def target_of(limit: int) -> int:
    """Return the size to which a total over its limit is cleared at once: 60 % of the limit.

    A total that is cleared just below its limit is over it again with the next result, and each clearing costs the
    prompt cache.

    >>> target_of(1_000), target_of(0)
    (600, 0)
    """
    return limit - limit // 5 * 2


def is_enough(won: int, policy: Policy) -> bool:
    """Return true if a saving in bytes justifies changing messages that were sent before."""
    return won >= BYTES_PER_TOKEN * policy.clear_at_least


def protect(blocks: Sequence[Block], turns: Sequence[Sequence[Block]], policy: Policy) -> None:
    """Mark the results that the policy keeps: the last ones, those of the last turns, and those of the tools it names.

    No argument of them is replaced, nor one of the very last turns.
    """
    if policy.keep_last_results:
        for number, block in enumerate(newest_first(blocks)):
            if number == policy.keep_last_results:
                break
            block.is_kept = True
    for turn in turns[len(turns) - min(policy.keep_last_turns, len(turns)) :]:
        for block in turn:
            block.is_kept = True
    if policy.exclude_tools:
        rule = Rule(policy.exclude_tools)
        excluded = RuleSet((rule,))
        for block in blocks:
            given = {} if block.entry.call is None else block.entry.given
            block.is_kept |= excluded.find(block.entry.tool_name, block.entry.server, given) is rule
    recent = {id(block) for turn in turns[-KEPT_TURNS:] for block in turn}
    for block in blocks:
        block.is_open = not block.is_kept and id(block) not in recent


def repeat(blocks: Sequence[Block], turns: Sequence[Sequence[Block]], previous: Decisions) -> int:
    """Repeat the decisions of the previous request, unless their references now belong to other results.

    Returns how many messages are the same as they were sent, as far as the results show.
    """
    calls, standing = recognize(blocks, previous)
    for block in blocks:
        decision = previous.made.get(block.reference) if block.is_known else None
        if decision is not None and (decision[0] != "superseded" or decision[1] in calls):
            block.decide(decision)
        for each in block.inputs:
            if each.is_known and each.reference in previous.made:
                each.clear(block.encoding)
    for turn in turns[:-1]:
        gone = [block for block in turn if block.reference in previous.dropped]
        if gone and all(block.is_known for block in gone):
            for block in turn:
                block.drop()
    return standing


def replace(blocks: Sequence[Block], policy: Policy, sent: int) -> None:
    """Replace superseded and over-long results, and arguments that hold nothing new if the policy says so.

    Among the first ``sent`` messages, do so only if it saves enough.
    """
    waiting: list[tuple[Block, Decision]] = []
    waiting_inputs: list[tuple[Block, Input]] = []
    won = 0
    for block, each in open_inputs(blocks) if policy.clear_tool_inputs else ():
        if block.entry.position >= sent:
            each.clear(block.encoding)
        elif each.is_worth(block.encoding):
            won += each.saved
            waiting_inputs.append((block, each))
    references = {id(block.entry): block.reference for block in blocks}
    limits = result_limits(policy)
    for block in blocks:
        if block.is_fixed or block.is_kept or block.is_dropped:
            continue
        decision = wanted(block, references, limits)
        if decision is None:
            continue
        if block.entry.result_position >= sent:
            block.decide(decision)
            continue
        saved = block.outcome(decision)[1] - block.saved
        if saved > 0:
            won += saved
            waiting.append((block, decision))
    if is_enough(won, policy):
        for block, decision in waiting:
            block.decide(decision)
        for block, each in waiting_inputs:
            each.clear(block.encoding)


def open_inputs(blocks: Iterable[Block]) -> Iterator[tuple[Block, Input]]:
    """Return the arguments that may be replaced now, oldest call first."""
    for block in blocks:
        if block.inputs and block.is_open and not block.is_dropped:
            yield from ((block, each) for each in block.inputs if not each.is_cleared)


def wanted(block: Block, references: Mapping[int, str], limits: Limits) -> Decision | None:
    """Return the policy's decision about a result; ``None`` if it leaves it unchanged."""
    if block.reason == "rule":
        return RULED_OUT
    if block.by is not None and block.reason:
        return "superseded", references[id(block.by)], 0, 0
    if block.decision is not None:
        return None
    return cut_to(block, limits.by_rule(block.entry.max_chars)) or _settle(block)


def _settle(block: Block) -> Decision | None:
    """Return the decision to keep of a result what a terminal shows in the end; ``None`` if no terminal showed it."""
    text = block.last_state()
    return None if text is None else ("terminal", "", 0, len(text))


def cut_to(block: Block, limits: Limits) -> Decision | None:
    """Return a decision that cuts a result to its limits, marker included; ``None`` if it is within them.

    No more is cut than necessary: what a terminal shows in the end may be within them.
    """
    text, side = block.text, block.side
    limits = beside(limits, block.media)
    head, tail = limits.cut(text, side)
    if head == tail:
        return None
    if block.media.is_whole:
        return CLEARED
    last = block.last_state()
    if last is not None and limits.cut(last, side) == (len(last), len(last)):
        return "terminal", "", 0, len(last)
    reference = widest(block.reference)
    decision = shorten_to(block, limits, reference)
    if decision is not None:
        return decision
    longest = marker_of(("cut", "", len(text), len(text)), len(text), reference)
    is_counted = limits.tokens != NO_LIMIT
    room = limits
    if limits.chars != NO_LIMIT:
        room = room._replace(chars=limits.chars - len(longest) - 2)
    if is_counted:
        room = room._replace(tokens=limits.tokens - count_tokens(longest, limits.encoding) - 2)
    while room.chars > 0 and room.tokens > 0:
        head, tail = room.cut(text, side)
        if head == tail or (not head and tail == len(text)):
            break
        decision = ("cut", "", head, tail)
        new = joined(text, decision, reference)
        over = count_tokens(new, limits.encoding) - limits.tokens if is_counted else 0
        if over <= 0:
            return decision
        room = room._replace(tokens=room.tokens - over)
    return CLEARED


def shorten_old(block: Block, policy: Policy, *, in_tokens: bool = True) -> Decision | None:
    """Return the decision that shortens an old result for a total; ``None`` if it can only be cleared."""
    is_partial = block.decision is None or block.decision[0] in PARTIAL
    if block.is_fixed or block.is_kept or not is_partial or not policy.content_kinds:
        return None
    chars = NO_LIMIT if in_tokens else BYTES_PER_TOKEN * OLD_TOKENS
    tokens = OLD_TOKENS if in_tokens else NO_LIMIT
    decision = cut_to(block, Limits(chars, tokens, policy.encoding))
    return None if decision == CLEARED else decision


def shorten_to(block: Block, limits: Limits, reference: str) -> Decision | None:
    """Return a decision that shortens a result by what it is; ``None`` if it can only be cut."""
    marker = marker_of(SHORTENED, len(block.text), reference)
    room = min(limits.chars, len(block.text)) - len(marker)
    found = fit(block.shortened, room, limits.tokens, limits.encoding, marker)
    return None if found is None else ("shortened", "", found[0], found[1].size)


def beside(limits: Limits, media: Media) -> Limits:
    """Return the limits that are left for a text next to media."""
    lines = f"\n{media.beside}" if media.beside else ""
    chars, tokens, encoding, _ = limits
    if chars != NO_LIMIT:
        chars = max(chars - len(lines) - media.url_chars, 0)
    if tokens != NO_LIMIT:
        tokens = max(tokens - count_tokens(lines, encoding) - media.url_tokens, 0)
    return Limits(chars, tokens, encoding)


class Total:
    """The limit on all results together, in characters or tokens."""

    def __init__(self, blocks: Sequence[Block], policy: Policy) -> None:
        in_tokens = policy.max_tool_context_tokens is not None
        limit = policy.max_tool_context_tokens if in_tokens else policy.max_tool_context_chars
        self._policy = policy
        self._encoding = policy.encoding if in_tokens else None
        self._limit = limit
        self._left = 0
        """The room that is left; negative if the results are over the limit."""
        self._room = 0 if limit is None else limit - target_of(limit)
        """The room that a clearing leaves."""
        self.count_again(blocks)

    def count_again(self, blocks: Sequence[Block]) -> None:
        """Count all results again, with their replacements."""
        if self._limit is not None and self._limit != NO_LIMIT:
            self._left = self._limit - sum([block.size_in(self._encoding) for block in blocks])

    @property
    def over(self) -> int:
        """The size of the results beyond the limit."""
        return max(-self._left, 0)

    def clear(self, blocks: Sequence[Block], last: Sequence[Block]) -> None:
        """Shorten the oldest results down to the target, if the limit is exceeded, and then clear the oldest ones.
        Those of the last turn are cut, if necessary.
        """
        if not self.over:
            return
        spared = {id(block) for block in last}
        old = [block for block in blocks if id(block) not in spared]
        in_tokens = self._encoding is not None
        for block in old:
            if self._left >= self._room:
                return
            decision = shorten_old(block, self._policy, in_tokens=in_tokens)
            if decision is not None:
                self._shrink(block, decision)
        for block in old:
            if self._left >= self._room:
                return
            self._shrink(block, CLEARED)
        for block in last:
            if self.over:
                room = max(block.size_in(self._encoding) - self.over, 0)
                self._shrink(block, cut_to(block, self._limits(room)) or CLEARED)

    def _shrink(self, block: Block, decision: Decision) -> None:
        """Replace a result."""
        size = block.size_in(self._encoding)
        block.decide(decision)
        self._left += size - block.size_in(self._encoding)

    def _limits(self, room: int) -> Limits:
        encoding = self._policy.encoding
        if self._encoding is None:
            return Limits(room, NO_LIMIT, encoding)
        return Limits(NO_LIMIT, room, encoding)
