"""A change of what was sent has to pay at the prices of the model that the request names."""

import json
from typing import Any

import pytest
from support.builders.pipelines import ME
from support.economy import session_of
from support.goldens.inputs import workload

from toolcarry import ProjectPolicy
from toolcarry.integrations.projections import Projections, at_prices_of
from toolcarry.types import PriceModel

CUT = ProjectPolicy(max_result_tokens=2_000)


def rewritten(model: str, policy: ProjectPolicy = CUT) -> int:
    """Return the tokens that a session writes into the cache again, because what was sent before was changed."""
    projections = Projections(policy, 10_000, 60.0)
    session: Any = session_of(list(workload(66).given))
    found = 0
    for end, _ in session.requests:
        body = json.dumps({"model": model, "messages": session.messages[:end]}).encode()
        found += projections.project(body, ME, None).counts.get("tokens_rewritten", 0)
    return found


def test_the_model_of_the_request_names_the_prices() -> None:
    by_prices = ProjectPolicy(max_result_tokens=2_000, prices="gpt-5")
    assert rewritten("gpt-5") == rewritten("claude-sonnet-4-5", by_prices)
    assert rewritten("gpt-5") > rewritten("a-model-without-a-price")


BODY = b"{}"
HOUR = b'{"system": [{"cache_control": {"type": "ephemeral", "ttl": "1h"}}]}'


@pytest.mark.parametrize(
    ("given", "body", "model", "prices", "window"),
    [
        ({}, BODY, "claude-sonnet-4-5", "claude", 200_000),
        ({}, HOUR, "claude-sonnet-4-5", "claude-1h", 200_000),
        ({}, HOUR, "gpt-5", "gpt-5", 272_000),
        ({}, BODY, "a-model-without-a-price", None, None),
        ({}, BODY, None, None, None),
        ({"prices": "none"}, BODY, "gpt-5", "none", 272_000),
        ({"max_result_chars": 900}, BODY, "gpt-5", "gpt-5", None),
        ({"references": False}, BODY, "gpt-5", "gpt-5", None),
        ({"max_result_tokens": "auto"}, BODY, "gpt-4o", "gpt-4o", 128_000),
        ({"max_result_tokens": "auto", "window_tokens": 9}, BODY, "gpt-4o", "gpt-4o", 9),
    ],
)
def test_what_the_policy_names_comes_first(
    given: dict[str, Any], body: bytes, model: str | None, prices: str | None, window: int | None
) -> None:
    found = at_prices_of(ProjectPolicy(**given), body, model, {})
    name = found.prices.name if isinstance(found.prices, PriceModel) else found.prices
    assert (name, found.window_tokens) == (prices, window)


def test_a_policy_with_a_model_stays() -> None:
    policy = ProjectPolicy(model="claude-sonnet-4-5")
    assert at_prices_of(policy, BODY, "gpt-5", {}) is policy
