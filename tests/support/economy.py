"""The simulation of benches/economy, for tests: sessions, replayed request by request, and their bills."""

import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from toolcarry import ProjectPolicy
from toolcarry.types import PriceModel, price_models

FOLDER = Path(__file__).parents[2] / "benches" / "economy"
PRICES = list(price_models().values())
FRAME = 10_000
"""The tokens of the system prompt and tools of a coding agent."""
SLACK = 1e-9


class Modules(NamedTuple):
    """The modules of the benchmark."""

    session_requests: ModuleType
    cache_bill: ModuleType
    needed_text: ModuleType
    request_policies: ModuleType


@cache
def modules() -> Modules:
    """Return the modules of the benchmark."""
    before = list(sys.path)
    sys.path.insert(0, str(FOLDER))
    try:
        return Modules(*map(import_module, Modules._fields))
    finally:
        sys.path[:] = before


def sessions(path: Path) -> list[Any]:
    """Return the sessions in a file or a folder."""
    return list(modules().session_requests.sessions_in(path))


def session_of(messages: list[Any]) -> Any:
    """Return the session of messages in Anthropic's format, without times."""
    return modules().session_requests.session_of("", messages, {})


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
    bill = modules().cache_bill.Bill(price, price.least_of())
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
        pieces = modules().cache_bill.Pieces(frame)
        for price in PRICES:
            pairs = list(zip(costs(sent, price, pieces), costs(plain, price, pieces), strict=True))
            above = [number for number, (own, other) in enumerate(pairs) if own > other * (1 + SLACK)]  # fmt: skip
            if above:
                found.append((price.name, frame, above[0], max(own / other for own, other in pairs[1:])))  # fmt: skip
    return found


def needed(found: list[Any], policy: Any) -> tuple[int, int]:
    """Return how many words and lines later calls quote from results alone in what a policy sent, and of all."""
    held = all_needed = 0
    measure = modules().needed_text
    for session in found:
        texts = measure.Texts()
        needs = measure.needs_of(session, texts)
        for each, (_, sent) in zip(needs, policy(session), strict=True):
            held, all_needed = held + measure.held(each, sent, texts), all_needed + len(each)
    return held, all_needed
