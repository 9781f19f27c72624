"""Fit the whole request into a model's window: first clear arguments that hold nothing new, then shorten the oldest
results, then clear them, then remove the oldest tool loops as wholes.

User messages are never changed, nor is the last turn, except for its results, which are cut after everything else is
gone. The count includes the texts of the messages and thoughts, a fixed number for each image, and a few tokens per
message for the protocol; for a body also everything else in it, such as the system prompt and the tools.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._input.objects import JsonObject
from toolcarry._pure.content import result_text
from toolcarry._pure.context.limits import Limits
from toolcarry._pure.projection.blocks import CLEARED, PARTIAL, Block
from toolcarry._pure.projection.decide import cut_to, open_inputs, shorten_old, target_of
from toolcarry._pure.tokens.count import count_tokens
from toolcarry._pure.tokens.messages import MEDIA_TOKENS, count_media, tokens_of
from toolcarry.types.policy import NO_LIMIT, Policy
from toolcarry.types.values import Decision, EncodingName

MESSAGE_TOKENS = 4
"""The tokens of the protocol around a message."""


class Request:
    """The tokens of a request, and the removals that make it fit."""

    def __init__(
        self,
        messages: Sequence[Any],
        blocks: Sequence[Block],
        turns: Sequence[Sequence[Block]],
        frame: int,
        policy: Policy,
        guard: frozenset[int] = frozenset(),
    ) -> None:
        """Results in the messages of ``guard`` may be shortened, but their turns are not dropped."""
        encoding = policy.encoding
        self._messages = messages
        self._policy = policy
        self._encoding: EncodingName = encoding
        self._frame = frame
        self._guard = guard
        self._sizes = [request_tokens(message, encoding) for message in messages]
        self.before = frame + sum(self._sizes)
        self.tokens = self.before + sum([self._growth(block) for block in blocks])
        limit = policy.max_request_tokens  # a share was made a number before
        self.limit = limit if isinstance(limit, int) else NO_LIMIT
        self._target = target_of(self.limit)
        self._clears_inputs = policy.clear_tool_inputs not in (False, ())
        self._has_taken = False
        for turn in turns:
            if turn[0].is_dropped:
                self._forget(turn)

    def count_again(self, messages: Sequence[Any]) -> None:
        """Count the new messages, after their repair."""
        sizes = [request_tokens(message, self._encoding) for message in messages]
        self.tokens = self._frame + sum(sizes)

    @property
    def over(self) -> int:
        """The number of tokens over the limit."""
        return max(self.tokens - self.limit, 0)

    def fit(self, turns: Sequence[Sequence[Block]]) -> bool:
        """Remove as much as necessary, and return true if anything was removed."""
        self._has_taken = False
        if self.over:
            older = [turn for turn in turns[:-1] if not turn[0].is_dropped]
            self._clear(older)
            if self.over:
                self._drop_oldest(older)
            for block in (block for turn in turns[-1:] for block in turn):
                if self.over:
                    room = max(block.size_in(self._encoding) - self.over, 0)
                    limits = Limits(NO_LIMIT, room, self._encoding)
                    self._shrink(block, cut_to(block, limits))
        return self._has_taken

    def _is_guarded(self, block: Block) -> bool:
        return block.entry.position in self._guard or block.entry.result_position in self._guard

    def _clear(self, turns: Sequence[Sequence[Block]]) -> None:
        """Clear the oldest arguments that hold nothing new, shorten the oldest results, and then clear them, down to
        the target.
        """
        blocks = [block for turn in turns for block in turn]
        for block, each in open_inputs(blocks) if self._clears_inputs else ():
            if self.tokens <= self._target:
                return
            before = self._growth(block)
            self._has_taken |= each.clear(self._encoding)
            self.tokens += self._growth(block) - before
        for block in blocks:
            if self.tokens <= self._target:
                return
            self._shrink(block, shorten_old(block, self._policy))
        for block in blocks:
            if self.tokens <= self._target:
                return
            self._shrink(block, CLEARED)

    def _drop_oldest(self, turns: Sequence[Sequence[Block]]) -> None:
        """Drop the oldest turns down to the target, except those with results that stay."""
        for turn in turns:
            if self.tokens <= self._target:
                return
            if not any(block.is_kept or self._is_guarded(block) for block in turn):
                self._drop(turn)

    def _shrink(self, block: Block, decision: Decision | None) -> None:
        before = self._growth(block)
        self._has_taken |= block.decide(decision)
        self.tokens += self._growth(block) - before

    def _growth(self, block: Block) -> int:
        """Return how many more tokens a call and its result have by the decisions; mostly fewer."""
        cleared, arguments = block.cleared, block.arguments
        own = arguments.growth(cleared, self._encoding) if arguments is not None and cleared else 0
        if block.decision is None:
            return own
        content = block.entry.content
        media = 0 if block.decision[0] in PARTIAL else count_media(content, 0)
        old = count_tokens(result_text(content), self._encoding) + MEDIA_TOKENS * media
        return own + count_tokens(block.new, self._encoding) - old

    def _drop(self, turn: Sequence[Block]) -> None:
        """Drop a tool loop as a whole."""
        self._forget(turn)
        self._has_taken = True
        for block in turn:
            block.drop()

    def _forget(self, turn: Sequence[Block]) -> None:
        """Remove a loop, with its decisions, from the count."""
        for position in {block.entry.position for block in turn}:
            self.tokens -= self._sizes[position]
        for block in turn:
            self.tokens -= self._growth(block)
            if block.entry.result is None or block.entry.result_position == block.entry.position:
                continue
            content = block.entry.content
            self.tokens -= count_tokens(result_text(content), self._encoding)
            self.tokens -= MEDIA_TOKENS * count_media(content, 0)


def request_tokens(message: JsonObject, encoding: EncodingName) -> int:
    """Return the tokens of a message in a model's window."""
    return MESSAGE_TOKENS + tokens_of(message, encoding)
