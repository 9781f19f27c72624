"""What a budget counts, and what may stay of one text.

Tokens of a text are not the sum of those of its parts. But where a line feed is followed by what is neither white
space nor a slash, both encodings split, whatever stands on either side: every part of a context that is measured by
itself ends and begins so, and the sum of the parts is the count of the whole, exactly.
"""

from __future__ import annotations

from typing import NamedTuple

from toolcarry._pure.text.truncate import cut
from toolcarry._pure.tokens.count import count_tokens
from toolcarry._pure.tokens.truncate import cut_tokens
from toolcarry.policy import DEFAULT_CONTEXT_CHARS, NO_LIMIT, Policy
from toolcarry.types import CutSide, EncodingName


class Measure(NamedTuple):
    """What a total counts: tokens of an encoding, or characters (``None``)."""

    encoding: EncodingName | None

    def size(self, text: str) -> int:
        return len(text) if self.encoding is None else count_tokens(text, self.encoding)


class Limits(NamedTuple):
    """How much of one text may stay."""

    chars: int
    tokens: int
    encoding: EncodingName

    def of(self, measure: Measure) -> int:
        """The limit in a measure."""
        return self.chars if measure.encoding is None else self.tokens

    def by_rule(self, chars: int | None) -> Limits:
        """With the limit of a rule in place of the policy's, where there is one."""
        return self if chars is None else self._replace(chars=chars)

    def within(self, room: int, measure: Measure) -> Limits:
        """No more than fits into what is left of a total."""
        if measure.encoding is None:
            return self._replace(chars=max(min(self.chars, room), 0))
        return self._replace(tokens=max(min(self.tokens, room), 0))

    def cut(self, text: str, side: CutSide) -> tuple[int, int]:
        """Where the head that stays ends, and where the tail begins; both at the end where nothing is cut.

        By characters first; what stays of that is cut by tokens.
        """
        head, tail = cut(text, self.chars, side)
        if self.tokens == NO_LIMIT:
            return head, tail
        if head == tail:
            return cut_tokens(text, self.tokens, side, self.encoding)
        first = 0 if side == "tail" else self.tokens // 2 if side == "ends" else self.tokens
        rest = text[tail:]
        head, _ = cut_tokens(text[:head], first, "head", self.encoding)
        before, behind = cut_tokens(rest, self.tokens - first, "tail", self.encoding)
        return head, tail + (0 if before == behind else behind)


def limits_of(policy: Policy) -> tuple[Measure, int, Limits]:
    """What the total of a policy counts, how much it is, and the limits on one result."""
    limits = result_limits(policy)
    if policy.max_tool_context_tokens is not None:
        return Measure(policy.encoding), policy.max_tool_context_tokens, limits
    total = policy.max_tool_context_chars
    return Measure(None), DEFAULT_CONTEXT_CHARS if total is None else total, limits


def result_limits(policy: Policy) -> Limits:
    """The limits on one result."""
    chars, tokens = policy.max_tool_result_chars, policy.max_tool_result_tokens
    return Limits(
        NO_LIMIT if chars is None else chars,
        NO_LIMIT if tokens is None else tokens,
        policy.encoding,
    )
