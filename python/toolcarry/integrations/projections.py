"""Projections of a conversation's requests, each with the decisions of the one before."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

from toolcarry import _backend
from toolcarry._util.evictions import Evictions
from toolcarry.api.projection import project_body
from toolcarry.integrations.costs import charged, is_certainly_cold
from toolcarry.integrations.identity import RequestIdentity, opening
from toolcarry.integrations.lines import NEW, KnownLines, LineKey, LineState, SentParts
from toolcarry.integrations.refetches import put_away, refetched
from toolcarry.metrics import BYTES_PER_TOKEN
from toolcarry.redact.logs import get_logger
from toolcarry.switch.request_fields import RequestFields, read_fields
from toolcarry.types.destinations import Destination
from toolcarry.types.models import window_of
from toolcarry.types.policy import ProjectPolicy
from toolcarry.types.prices import PriceModel, price_of, set_price
from toolcarry.types.values import Decisions

__all__ = ["Forwarded", "Projection", "Projections"]

logger = get_logger("toolcarry.integrations")

HOUR: Final = 3_600
HOUR_MARK: Final = re.compile(rb'"ttl"\s*:\s*"1h"')


class Projection(NamedTuple):
    """A projected body or the reason why there is none, and the figures to count."""

    body: bytes
    untouched: str = ""
    evicted: int = 0
    counts: Mapping[str, int] = MappingProxyType({})
    tokens: int | None = None
    """The tokens of the whole request, if the policy limits them."""
    names: Mapping[str, str] = MappingProxyType({})
    """The client's names of tools, by those that took their place."""


class Forwarded(NamedTuple):
    """A request before and after its projection, and its figures."""

    body: bytes
    sent: bytes
    counts: Mapping[str, int]


class Projections:
    """Projects requests by a policy, and keeps the decisions about ``max_decisions`` results, each for ``ttl`` seconds.

    ``destinations`` are those of the backends that have another one than the policy. Without a model or a price model in the
    policy, a change has to pay at the prices of the model that a request names, those in ``prices`` first. Raises
    ``BackendError`` on the fallback.
    """

    def __init__(
        self,
        policy: ProjectPolicy,
        max_decisions: int,
        ttl: float,
        destinations: Mapping[str, str | Destination] = MappingProxyType({}),
        prices: Mapping[str, PriceModel] = MappingProxyType({}),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        _backend.require("project")
        self.policy = policy
        self._policies = {
            backend: replace(policy, destination=destination)
            for backend, destination in destinations.items()
        }
        self._prices = prices
        self._clock = clock
        self.known = KnownLines(max_decisions, ttl)
        self._evictions = Evictions(logger, "projections of conversations", "max_decisions")

    def project(
        self,
        body: bytes,
        identity: RequestIdentity | None,
        fields: RequestFields | None,
        backend: str = "",
    ) -> Projection:
        """Return the projection of a body for a backend; ``fields`` are the members that were read of it."""
        fields = fields or read_fields(body)
        messages, model, now = fields.messages, fields.model, self._clock()
        policy = self._policies.get(backend, self.policy)
        policy = at_prices_of(policy, body, model, self._prices)
        price = policy.price_model
        key = None if identity is None else line_of(identity, fields)
        is_side_request = identity is not None and identity.is_side_request
        start = NEW if key is None else self.known.start_of(key, messages)
        idle = now - start.known.sent_at
        previous = start.known.decisions
        if previous is not None and is_certainly_cold(start.known, price, model, idle):
            previous = previous.when_cold()
        made = project_body(body, policy=policy, previous=previous)
        report = made.report
        if made.body is body and report.untouched:
            return Projection(body, reason_of(report.untouched))
        sent, costs = SentParts(), dict[str, int]()
        if price is not None and not is_side_request:
            sent, costs = charged(price, model, made.body, body, messages, start, idle)
        if key is None or is_side_request:
            return Projection(made.body, counts=costs, tokens=report.tokens_after, names=made.names)
        again = refetched(start.known.put_away, messages[start.shared :])
        new = made_newly(made.decisions, start.known.decisions)
        line = LineState(
            decisions=made.decisions,
            missing=report.orphan_calls,
            put_away=(start.known.put_away - again) | put_away(report, new, messages),
            sent=sent,
            sent_at=now,
            model=model,
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
        counted = {name: number for name, number in {**counts, **costs}.items() if number}
        return Projection(made.body, "", evicted, counted, report.tokens_after, made.names)


def at_prices_of(
    policy: ProjectPolicy, body: bytes, model: object, own: Mapping[str, PriceModel]
) -> ProjectPolicy:
    """Return a policy with the price model and the window of a model, unless the policy names them or they are not known.

    ``own`` are the price models that are set.
    """
    if policy.model is not None or not isinstance(model, str):
        return policy
    found = policy.prices
    if found is None:
        lifetime = HOUR if asks_for_an_hour(body) else None
        found = set_price(model, own) or price_of(model, lifetime=lifetime)
    window = policy.window_tokens
    if window is None and policy.is_limited_by_place:
        window = window_of(model)
    if (found, window) == (policy.prices, policy.window_tokens):
        return policy
    return replace(policy, prices=found, window_tokens=window)


def asks_for_an_hour(body: bytes) -> bool:
    """Return true if a body may ask Anthropic's cache for the lifetime that costs more. A text that looks like it is
    harmless: a change then has to pay at the higher price.

    >>> asks_for_an_hour(b'{"cache_control": {"type": "ephemeral", "ttl": "1h"}}')
    True
    """
    return HOUR_MARK.search(body) is not None


def line_of(identity: RequestIdentity, fields: RequestFields) -> LineKey | None:
    """Return the key of the decisions about a request; ``None`` if the request lacks the beginning of its
    conversation."""
    start = opening(fields)
    return (identity.tenant, identity.conversation, start) if start else None


def made_newly(now: Decisions, before: Decisions | None) -> frozenset[str]:
    """Return the references of the results that are newly replaced, or shortened further than before."""
    made, dropped = ({}, frozenset[str]()) if before is None else (before.made, before.dropped)
    changed = (name for name, decision in now.made.items() if made.get(name) != decision)
    return frozenset(changed) | (now.dropped - dropped)


def reason_of(untouched: str) -> str:
    """Return the reason for an unchanged body, as one of a few names for counters."""
    for start in ("compressed", "not JSON", "nested too deep", "no messages", "not projected"):
        if untouched.startswith(start):
            return start.replace(" ", "_")
    return "odd_messages"
