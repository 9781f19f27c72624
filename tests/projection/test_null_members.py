"""A member that is null counts as absent: SDK objects have all members of their type."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies.histories import histories
from support.strategies.null_members import with_null_members, without_null_members

from toolcarry import ProjectPolicy

KEYS = {"anthropic": "messages", "openai": "messages", "ollama": "messages", "responses": "input", "gemini": "contents", "bedrock": "messages"}  # fmt: skip
REPAIR = ProjectPolicy(repair=True)
POLICIES = (REPAIR, ProjectPolicy(repair=True, max_result_chars=20))


@pytest.mark.parametrize("provider", KEYS)
@given(data=st.data())
def test_null_members_change_no_repair(api: ModuleType, provider: str, data: st.DataObject) -> None:
    messages = data.draw(histories(provider))
    nulls = data.draw(with_null_members(messages))
    policy = data.draw(st.sampled_from(POLICIES))
    plain, found = api.project(messages, policy=policy), api.project(nulls, policy=policy)
    assert found.report.mends == plain.report.mends
    assert found.report.replacements == plain.report.replacements
    assert without_null_members(found.messages) == without_null_members(plain.messages)
    body = json.dumps({KEYS[provider]: nulls}).encode()
    in_bytes = api.project_body(body, policy=policy)
    plain_body = api.project_body(json.dumps({KEYS[provider]: messages}).encode(), policy=policy)
    assert in_bytes.report.mends == plain_body.report.mends


GEMINI_RESULT = {"functionResponse": {"name": "f", "response": {"result": "a coin"}}}
BEDROCK_RESULT = {"toolResult": {"toolUseId": "b1", "content": [{"text": "a coin"}]}}


@pytest.mark.parametrize("role", ["user", "model"])
@pytest.mark.parametrize("more", [{"text": "Go."}, {"fromTheFuture": 1}])
def test_a_part_that_holds_more_than_a_lost_result_stays(
    api: ModuleType, role: str, more: dict[str, Any]
) -> None:
    messages = [{"role": "user", "parts": [{"text": "Hi."}]}, {"role": role, "parts": [{**GEMINI_RESULT, **more}]}]  # fmt: skip
    found = api.project(messages, policy=REPAIR)
    assert found.messages == [messages[0], {"role": role, "parts": [more]}]
    assert [mend.kind for mend in found.report.mends] == ["orphan_result"]
    bedrock = [{"role": "user", "content": [{**BEDROCK_RESULT, **more}]}]
    assert api.project(bedrock, policy=REPAIR).messages == [{"role": "user", "content": [more]}]


def test_a_blank_text_with_more_next_to_it_stays(api: ModuleType) -> None:
    said = {"role": "user", "content": [{"text": " ", "cachePoint": {"type": "default"}}, {"text": "Go."}]}  # fmt: skip
    found = api.project([said], policy=ProjectPolicy(repair=True, destination="bedrock"))
    assert found.messages == [said]
