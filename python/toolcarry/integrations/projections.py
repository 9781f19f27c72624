"""Projections of the requests of conversations, each with the decisions of the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from toolcarry._input.request_fields import RequestFields, read_fields
from toolcarry._util.evictions import Evictions
from toolcarry.api.projection import project_body
from toolcarry.integrations.identity import RequestIdentity, opening
from toolcarry.integrations.lines import NEW, KnownLines, Line, LineKey
from toolcarry.integrations.refetches import put_away, refetched
from toolcarry.metrics import BYTES_PER_TOKEN
from toolcarry.redact.logs import get_logger
from toolcarry.types.policy import Policy
from toolcarry.types.values import Decisions

__all__ = ["Forwarded", "Projection", "Projections"]

logger = get_logger("toolcarry.integrations")


class Projection(NamedTuple):
    """A projected body, why it was not, and what is to be counted."""

    body: bytes
    untouched: str = ""
    evicted: int = 0
    counts: Mapping[str, int] = MappingProxyType({})
    tokens: int | None = None
    """The tokens of the whole request, if the policy limits them."""


class Forwarded(NamedTuple):
    """A request before its projection, as it went on, and what was counted of it."""

    body: bytes
    sent: bytes
    counts: Mapping[str, int]


class Projections:
    """Projects requests by a policy, and keeps the decisions about ``max_decisions`` results, each for ``ttl`` seconds."""

    def __init__(self, policy: Policy, max_decisions: int, ttl: float) -> None:
        self.policy = policy
        self.known = KnownLines(max_decisions, ttl)
        self._evictions = Evictions(logger, "projections of conversations", "max_decisions")

    def project(
        self, body: bytes, identity: RequestIdentity | None, fields: RequestFields | None
    ) -> Projection:
        """Return the projection of a body; ``fields`` are the members that were read of it."""
        start = NEW
        key: LineKey | None = None
        messages: Sequence[Any] = ()
        if identity is not None:
            fields = fields or read_fields(body)
            key, messages = line_of(identity, fields), fields.messages
        if key is not None:
            start = self.known.start_of(key, messages)
        made = project_body(body, policy=self.policy, previous=start.known.decisions)
        if made.body is body and (reason := made.report.untouched):
            return Projection(body, reason_of(reason))
        is_kept = key is not None and identity is not None and not identity.is_side_request
        if key is None or not is_kept:
            return Projection(made.body, tokens=made.report.tokens_after)
        report = made.report
        again = refetched(start.known.put_away, messages[start.shared :])
        new = made_newly(made.decisions, start.known.decisions)
        line = Line(
            decisions=made.decisions,
            missing=report.orphan_calls,
            put_away=(start.known.put_away - again) | put_away(report, new, messages),
        )
        evicted = self.known.keep(key, messages, start, line)
        self._evictions.add(evicted)
        counts = {
            "tokens_saved": max(len(body) - len(made.body), 0) // BYTES_PER_TOKEN,
            "tokens_rewritten": report.cache_break_tokens,
            "projection_cuts": len(new),
            "tool_result_missing": max(report.orphan_calls - start.known.missing, 0),
            "tool_refetches": len(again),
        }
        counted = {name: number for name, number in counts.items() if number}
        return Projection(made.body, "", evicted, counted, report.tokens_after)


def line_of(identity: RequestIdentity, fields: RequestFields) -> LineKey | None:
    """Return the key of the decisions about a request; ``None`` if it doesn't hold its conversation's beginning."""
    start = opening(fields)
    return (identity.tenant, identity.conversation, start) if start else None


def made_newly(now: Decisions, before: Decisions | None) -> frozenset[str]:
    """The references of the results that are replaced now, and were not before, or not so far."""
    made, dropped = ({}, frozenset[str]()) if before is None else (before.made, before.dropped)
    changed = (name for name, decision in now.made.items() if made.get(name) != decision)
    return frozenset(changed) | (now.dropped - dropped)


def reason_of(untouched: str) -> str:
    """Why a body was left as it is, as one of a few words to count under."""
    for start in ("compressed", "not JSON", "nested too deep", "no messages"):
        if untouched.startswith(start):
            return start.replace(" ", "_")
    return "odd_messages"
