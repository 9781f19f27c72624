"""Every repaired projection is valid for its provider, by rules that know nothing of how it was repaired."""

from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import wire
from support.oracles.repairs import ASK, REPAIR, chat, repair
from support.providers.validity import PROVIDERS, problems
from support.strategies.requests import broken_requests, requests

from toolcarry import ProjectPolicy


def words(messages: list[Any]) -> list[str]:
    """Return the texts of the user, in order."""
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
def test_valid_requests_are_not_repaired(
    api: ModuleType, provider: str, data: st.DataObject
) -> None:
    messages = data.draw(requests(provider))
    projected = api.project(messages, policy=REPAIR)
    assert projected.report.mends == ()
    assert problems(provider, projected.messages) == []


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data(), limit=st.integers(0, 300))
def test_whole_loops_are_dropped_to_fit(
    api: ModuleType, provider: str, data: st.DataObject, limit: int
) -> None:
    messages = data.draw(requests(provider))
    projected = api.project(
        messages, policy=ProjectPolicy(max_request_tokens=limit, clear_at_least_tokens=0)
    )
    assert problems(provider, projected.messages) == []
    assert words(projected.messages) == words(messages)


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data())
def test_broken_requests_are_repaired(api: ModuleType, provider: str, data: st.DataObject) -> None:
    messages = data.draw(broken_requests(provider))
    projected = api.project(messages, policy=REPAIR)
    assert problems(provider, projected.messages) == [], projected.report.mends
    # A marker mends, too: a failure that is superseded shows no image any more.
    assert projected.report.mends or projected.report.replacements
    again = api.project(projected.messages, policy=REPAIR)
    assert again.messages == projected.messages
    assert again.report.mends == ()


def test_bedrock_wants_roles_to_alternate(api: ModuleType) -> None:
    ask = {"role": "user", "content": [{"text": "?"}]}
    call = {
        "role": "assistant",
        "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}],
    }
    lost = {"role": "user", "content": [{"toolResult": {"toolUseId": "t9", "content": []}}]}
    found = repair(api, [ask, lost, ask, call], "bedrock")
    assert [message["role"] for message in found.messages] == ["user", "assistant", "user"]
    assert found.messages[0]["content"] == [{"text": "?"}, {"text": "?"}]


def test_mixed_formats_are_left_alone_and_reported(api: ModuleType) -> None:
    messages = [ASK, wire.assistant(wire.use("t1")), chat(("c1", "f"))]
    found = api.project(messages, policy=REPAIR)
    assert found.messages == messages
    assert found.report.not_repaired == "anthropic, openai-chat"


def test_messages_of_no_provider_are_not_repaired(api: ModuleType) -> None:
    records = [
        {"type": "assistant", "uuid": "u1", "message": wire.assistant(wire.use("t1"))},
        {"type": "user", "uuid": "u2", "parentUuid": "u1", "message": wire.user("Go on.")},
    ]
    call = wire.assistant(wire.use("t0"))
    step = {"step_id": 1, "source": "agent"}
    tool = {"role": "tool", "content": [{"type": "tool_result"}, {}]}
    for messages in (records, [call, {"uuid": "u1"}], [call, step], [tool]):
        found = api.project(messages, policy=REPAIR)
        assert found.messages == messages
        assert found.report.not_repaired


def test_bare_texts_are_bedrocks(api: ModuleType) -> None:
    found = repair(api, [{"role": "user", "content": [{"text": "?"}, {"text": " "}]}], "bedrock")
    assert found.messages == [{"role": "user", "content": [{"text": "?"}]}]


def test_evidence_of_two_providers_is_reported(api: ModuleType) -> None:
    thought = {"reasoningContent": {"reasoningText": {"text": "Hm."}}}
    lost = {"role": "user", "content": [wire.result("t1"), thought]}
    found = api.project([lost], policy=REPAIR)
    assert found.messages == [lost]
    assert found.report.not_repaired == "anthropic, bedrock"


def test_reasoning_is_evidence_of_responses(api: ModuleType) -> None:
    """Else a lost result of Chat's would go first, and with the next projection the thought that nothing follows."""
    thought = {"type": "reasoning", "id": "r1", "summary": []}
    lost = {"role": "tool", "tool_call_id": "c9", "content": "lost"}
    found = api.project([ASK, thought, lost], policy=REPAIR)
    assert found.messages == [ASK, thought, lost]
    assert found.report.not_repaired == "openai-chat, openai-responses"


def test_results_of_another_provider_may_become_markers(api: ModuleType) -> None:
    """Then the next projection can mend what this one could not."""
    part = {"text": "word " * 100, "reasoningContent": {}}  # a thought of Bedrock's, but for a key
    result = {"role": "tool", "tool_call_id": "c1", "content": [part]}
    lost = {"role": "tool", "tool_call_id": "c9", "content": "lost"}
    policy = ProjectPolicy(repair=True, max_result_chars=None, max_all_results_chars=100)
    once = api.project([ASK, chat(("c1", "f")), result, lost], policy=policy)
    assert once.report.not_repaired == "bedrock, openai-chat"
    assert once.report.mends == ()
    assert [each.reference for each in once.report.replacements] == ["c1"]
    twice = api.project(once.messages, policy=policy)
    assert twice.report.not_repaired == ""
    assert [mend.call_id for mend in twice.report.mends] == ["c9"]
