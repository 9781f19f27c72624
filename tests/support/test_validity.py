"""The judge of requests: what it lets pass and what it refuses, rule by rule and on generated requests."""

import copy
import json
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from support.examples import IS_LONG
from support.providers.cases import CASES
from support.providers.validity import PROVIDERS, problems
from support.rows import for_each
from support.strategies.damages import DAMAGES, damages_of
from support.strategies.requests import broken_requests, damaged_requests, requests

RULES = [
    pytest.param(provider, good, broken, said, id=f"{provider}: {rule}")
    for provider, cases in CASES.items()
    for rule, good, broken, said in cases
]
REFUSALS = [(provider, kind) for provider in PROVIDERS for kind in damages_of(provider)]
ANY_EXAMPLE = settings(phases=[Phase.generate])

each_provider = pytest.mark.parametrize("provider", PROVIDERS)


@for_each(("provider", "good", "broken", "said"), RULES)
def test_a_rule(provider: str, good: list[Any], broken: list[Any], said: str) -> None:
    assert problems(provider, good) == []
    assert said in "\n".join(problems(provider, broken))


@each_provider
def test_no_messages_are_no_problem(provider: str) -> None:
    assert problems(provider, []) == []


@each_provider
@given(data=st.data())
def test_generated_requests_are_valid(provider: str, data: st.DataObject) -> None:
    messages = data.draw(requests(provider))
    assert json.loads(json.dumps(messages)) == messages
    assert problems(provider, messages) == []


@pytest.mark.parametrize(("provider", "kind"), REFUSALS)
@settings(max_examples=30 if IS_LONG else 4)
@given(data=st.data())
def test_each_damage_alone_is_refused(provider: str, kind: str, data: st.DataObject) -> None:
    assert problems(provider, data.draw(damaged_requests(provider, [kind])))


@each_provider
@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damage_is_refused_by_those_who_are_named(provider: str, kind: str) -> None:
    """A provider that is not named accepts the request, so the table of damages is exact."""
    if provider not in DAMAGES[kind].providers:
        damaged = damaged_requests(provider, [kind])
        find(damaged, lambda messages: not problems(provider, messages), settings=ANY_EXAMPLE)


@each_provider
@given(data=st.data())
def test_broken_requests_are_refused(provider: str, data: st.DataObject) -> None:
    messages = data.draw(broken_requests(provider))
    before = copy.deepcopy(messages)
    assert problems(provider, messages)
    assert messages == before
