"""Repaired requests are requests by the providers' own SDKs: their types judge them, and not our rules alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.oracles.repairs import REPAIR
from support.oracles.sdk_types import MAKERS, Check
from support.sdk import sdk
from support.strategies.requests import broken_requests, requests

from toolcarry import project

pytestmark = pytest.mark.sdk


@pytest.fixture(scope="module", params=list(MAKERS))
def judge(request: pytest.FixtureRequest) -> tuple[str, Check]:
    return request.param, MAKERS[request.param]()


@examples(500)
@given(data=st.data())
def test_generated_requests_have_the_types(judge: tuple[str, Check], data: st.DataObject) -> None:
    """Otherwise the next test would say nothing about the repair."""
    provider, check = judge
    check(data.draw(requests(provider)))


@examples(1000)
@given(data=st.data())
def test_repaired_requests_have_the_types(judge: tuple[str, Check], data: st.DataObject) -> None:
    provider, check = judge
    check(project(data.draw(broken_requests(provider)), policy=REPAIR).messages)


def test_the_models_of_a_sdk_stay() -> None:
    """They have all members of their type, most of which are None."""
    types = sdk("google.genai.types")
    call = types.FunctionCall(name="f", args={"path": None})
    answer = types.Part.from_function_response(name="f", response={"result": "a coin"})
    messages = [
        types.Content(role="user", parts=[types.Part(text="Go.")]),
        types.Content(role="model", parts=[types.Part(function_call=call)]),
        types.Content(role="user", parts=[answer]),
    ]
    found = project(messages, policy=REPAIR)
    assert found.report.mends == ()
    assert all(new is old for new, old in zip(found.messages, messages, strict=True))
    repaired = project(messages[:2], policy=REPAIR)
    assert [mend.kind for mend in repaired.report.mends] == ["missing_result"]
    for message in repaired.messages:
        types.Content.model_validate(message)
