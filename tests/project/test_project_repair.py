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


def words(messages: list[Any]) -> list[str]:
    """What the user says, in its order."""
    said: list[str] = []
    for message in messages:
        parts = message.get("content", message.get("parts"))
        if message.get("role") != "user":
            continue
        if isinstance(parts, str):
            said.append(parts)
        else:
            said += [part["text"] for part in parts or () if isinstance(part.get("text"), str)]
    return said


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data())
def test_what_is_valid_is_not_mended(api: ModuleType, provider: str, data: st.DataObject) -> None:
    messages = data.draw(requests(provider))
    projected = api.project(messages, policy=REPAIR)
    assert projected.report.mends == ()
    assert problems(provider, projected.messages) == []


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data(), limit=st.integers(0, 300))
def test_what_does_not_fit_goes_in_whole_loops(
    api: ModuleType, provider: str, data: st.DataObject, limit: int
) -> None:
    messages = data.draw(requests(provider))
    projected = api.project(messages, policy=Policy(max_request_tokens=limit, clear_at_least=0))
    assert problems(provider, projected.messages) == []
    assert words(projected.messages) == words(messages)


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
