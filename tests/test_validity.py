"""The judge of requests: what it lets pass and what it refuses, rule by rule."""

from typing import Any

import pytest
from validity import PROVIDERS, problems
from validity_cases import CASES

RULES = [
    pytest.param(provider, good, broken, said, id=f"{provider}: {rule}")
    for provider, cases in CASES.items()
    for rule, good, broken, said in cases
]

each_provider = pytest.mark.parametrize("provider", PROVIDERS)


@pytest.mark.parametrize(("provider", "good", "broken", "said"), RULES)
def test_a_rule(provider: str, good: list[Any], broken: list[Any], said: str) -> None:
    assert problems(provider, good) == []
    assert said in "\n".join(problems(provider, broken))


@each_provider
def test_no_messages_are_no_problem(provider: str) -> None:
    assert problems(provider, []) == []
