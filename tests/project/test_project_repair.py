"""Every repaired projection is valid for its provider, by rules that know nothing of how it was repaired."""

from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies_requests import broken_requests, requests
from validity import PROVIDERS, problems

from toolcarry import Policy

REPAIR = Policy(repair=True)


def project_both(api: ModuleType, messages: list[Any], policy: Policy) -> Any:
    return api.project(messages, policy=policy)


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data())
def test_what_is_valid_is_not_mended(api: ModuleType, provider: str, data: st.DataObject) -> None:
    messages = data.draw(requests(provider))
    projected = api.project(messages, policy=REPAIR)
    assert projected.report.mends == ()
    assert problems(provider, projected.messages) == []


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data())
def test_what_is_broken_is_mended(api: ModuleType, provider: str, data: st.DataObject) -> None:
    messages = data.draw(broken_requests(provider))
    projected = api.project(messages, policy=REPAIR)
    assert problems(provider, projected.messages) == [], projected.report.mends
    assert projected.report.mends
    again = api.project(projected.messages, policy=REPAIR)
    assert again.messages == projected.messages
    assert again.report.mends == ()
