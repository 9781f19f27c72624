"""The simulation of benches/economy, for tests: sessions, replayed request by request, and their bills."""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from toolcarry import ProjectPolicy
from toolcarry.types import PriceModel, price_models

FOLDER = Path(__file__).parents[2] / "benches" / "economy"
PRICES = list(price_models().values())
FRAME = 10_000
"""The tokens of the system prompt and tools of a coding agent."""
SLACK = 1e-9


@cache
def modules() -> tuple[ModuleType, ModuleType]:
    """Return the modules with the sessions, and with the bill."""
    sys.path.insert(0, str(FOLDER))
    try:
        import cache_bill
        import session_requests
    finally:
        sys.path.remove(str(FOLDER))
    return session_requests, cache_bill


def sessions(path: Path) -> list[Any]:
    """Return the sessions in a file or a folder."""
    return list(modules()[0].sessions_in(path))


def session_of(messages: list[Any]) -> Any:
    """Return the session of messages in Anthropic's format, without times."""
    return modules()[0].session_of("", messages, {})


def replay(api: ModuleType, session: Any, policy: ProjectPolicy | None) -> Iterator[tuple[float, Any]]:  # fmt: skip
    """Yield the time of each request and its projection, or the messages without a policy."""
    previous = None
    for end, clock in session.requests:
        if policy is None:
            yield clock, session.messages[:end]
            continue
        found = api.project(session.messages[:end], policy=policy, previous=previous)
        previous = found.decisions
        yield clock, found


def costs(requests: list[tuple[float, list[Any]]], price: PriceModel, pieces: Any) -> list[float]:
    """Return the cumulative cost after each request."""
    bill = modules()[1].Bill(price, price.least_of())
    found = [0.0]
    for clock, messages in requests:
        found.append(found[-1] + bill.charge(pieces.of(messages), clock).units)
    return found


def dearer(
    api: ModuleType, session: Any, policy: ProjectPolicy, frames: tuple[int, ...] = (FRAME,)
) -> list[tuple[str, int, int, float]]:
    """Return the price models, frames and requests after which a session was dearer than without a projection, the
    first of each, with the greatest share that it reached."""
    plain = list(replay(api, session, None))
    sent = [(clock, found.messages) for clock, found in replay(api, session, policy)]
    found = []
    for frame in frames:
        pieces = modules()[1].Pieces(frame)
        for price in PRICES:
            pairs = list(zip(costs(sent, price, pieces), costs(plain, price, pieces), strict=True))
            above = [number for number, (own, other) in enumerate(pairs) if own > other * (1 + SLACK)]  # fmt: skip
            if above:
                found.append((price.name, frame, above[0], max(own / other for own, other in pairs[1:])))  # fmt: skip
    return found
