"""The units of a budget, and the limits on one text.

The tokens of a text are not the sum of those of its parts. But both encodings split after a line feed that is followed
by neither white space nor a slash, whatever is on either side. Every part of a context that is measured by itself
begins and ends so, and the sum of the parts is exactly the count of the whole.
"""

from __future__ import annotations

from typing import NamedTuple

from toolcarry.fallback.tokens.count import count_tokens
from toolcarry.fallback.tokens.truncate import cut_tokens
from toolcarry.model.text.truncate import cut
from toolcarry.types.policy import DEFAULT_CONTEXT_CHARS, NO_LIMIT, CarryPolicy
from toolcarry.types.values import CutSide, EncodingName


class Measure(NamedTuple):
    """The unit of a total: tokens of an encoding, or characters (``None``)."""

    encoding: EncodingName | None

    def size(self, text: str) -> int:
        return len(text) if self.encoding is None else count_tokens(text, self.encoding)


class Limits(NamedTuple):
    """The limits on one text, and the kinds of texts that are shortened by what they are where they are over them."""

    chars: int
    tokens: int
    encoding: EncodingName
    kinds: tuple[str, ...] = ()

    def of(self, measure: Measure) -> int:
        """Return the limit in the unit of a measure."""
        return self.chars if measure.encoding is None else self.tokens

    def by_rule(self, chars: int | None) -> Limits:
        """Return these limits with the limit of a rule in place of the policy's, if the rule has one."""
        return self if chars is None else self._replace(chars=chars)

    def within(self, room: int, measure: Measure) -> Limits:
        """Return limits that also fit into the rest of a total."""
        if measure.encoding is None:
            return self._replace(chars=max(min(self.chars, room), 0))
        return self._replace(tokens=max(min(self.tokens, room), 0))

    def cut(self, text: str, side: CutSide) -> tuple[int, int]:
        """Return the end of the head that stays, and the beginning of the tail; both are the end if nothing is cut.

        The text is cut by characters first, then the rest by tokens.
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


def limits_of(policy: CarryPolicy) -> tuple[Measure, int, Limits]:
    """Return the unit of a policy's total, the total, and the limits on one result. No limit is a share any more."""
    limits = result_limits(policy)
    if policy.max_tokens is not None:
        return Measure(policy.encoding), int(policy.max_tokens), limits
    total = policy.max_chars
    return Measure(None), DEFAULT_CONTEXT_CHARS if total is None else total, limits


def result_limits(policy: CarryPolicy) -> Limits:
    """Return the limits on one result. A context has lines of its own choice."""
    chars, tokens = policy.max_result_chars, policy.max_result_tokens
    return Limits(
        NO_LIMIT if chars is None else chars,
        NO_LIMIT if tokens is None else int(tokens),
        policy.encoding,
        tuple([kind for kind in policy.content_kinds if kind != "lines"]),
    )
