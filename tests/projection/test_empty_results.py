"""Results without content, where a provider refuses them."""

from types import ModuleType
from typing import Any

import pytest
from support.providers.validity import problems

from toolcarry import ProjectPolicy

REPAIR = ProjectPolicy(repair=True)
NO_OUTPUT = "(no output)"
EMPTY: list[Any] = [[], [{"text": ""}], [{"text": "\n"}, {"text": "\t "}], None]


def bedrock(**held: Any) -> list[Any]:
    call = {"toolUse": {"toolUseId": "q1", "name": "query", "input": {}}}
    return [
        {"role": "user", "content": [{"text": "Any rows?"}]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "q1", **held}}]},
    ]


@pytest.mark.parametrize("content", EMPTY)
def test_bedrock(api: ModuleType, content: Any) -> None:
    found = api.project(bedrock(content=content, status="success"), policy=REPAIR)
    result = found.messages[2]["content"][0]["toolResult"]
    assert result == {"toolUseId": "q1", "content": [{"text": NO_OUTPUT}], "status": "success"}
    assert ("empty_result", 2, "q1") in [
        (mend.kind, mend.position, mend.call_id) for mend in found.report.mends
    ]
    assert problems("bedrock", found.messages) == []
    assert api.project(found.messages, policy=REPAIR).report.mends == ()


def test_bedrock_without_the_member(api: ModuleType) -> None:
    found = api.project(bedrock(), policy=REPAIR)
    assert found.messages[2]["content"][0]["toolResult"]["content"] == [{"text": NO_OUTPUT}]


@pytest.mark.parametrize("part", [{"json": {}}, {"text": "0"}])
def test_content_that_says_something_stays(api: ModuleType, part: Any) -> None:
    messages = bedrock(content=[part])
    assert api.project(messages, policy=REPAIR).messages == messages


def test_chat_takes_an_empty_text_but_not_null(api: ModuleType) -> None:
    call = {"id": "q1", "type": "function", "function": {"name": "query", "arguments": "{}"}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    for held in ({"content": None}, {}):
        answer = {"role": "tool", "tool_call_id": "q1", **held}
        found = api.project([said, answer], policy=REPAIR)
        assert found.messages[1] == {**answer, "content": NO_OUTPUT}
        assert [mend.kind for mend in found.report.mends] == ["empty_result"]
    messages = [said, {"role": "tool", "tool_call_id": "q1", "content": ""}]
    assert api.project(messages, policy=REPAIR).messages == messages


def test_a_total_counts_the_text(api: ModuleType) -> None:
    policy = ProjectPolicy(repair=True, max_all_results_chars=5)
    found = api.project(bedrock(content=[]), policy=policy)
    assert found.report.over_budget == len(NO_OUTPUT) - 5
    assert api.project(found.messages, policy=policy).messages == found.messages
