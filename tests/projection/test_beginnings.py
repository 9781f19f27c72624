"""A window of a conversation that begins with the model, where a provider refuses that."""

from types import ModuleType
from typing import Any

import pytest
from support.oracles.repairs import kinds
from support.providers.validity import problems

from toolcarry import ProjectPolicy

REPAIR = ProjectPolicy(repair=True)
BEDROCK: list[Any] = [
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "find", "input": {}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "two"}]}}]},
]  # fmt: skip
GEMINI: list[Any] = [
    {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {"result": 2}}}]},
]
TEXT = "[Earlier messages are not here]"


@pytest.mark.parametrize(("provider", "window"), [("bedrock", BEDROCK), ("gemini", GEMINI)])
def test_a_user_message_is_put_before_the_window(
    api: ModuleType, provider: str, window: list[Any]
) -> None:
    found = api.project(window, policy=REPAIR)
    key = "parts" if provider == "gemini" else "content"
    assert found.messages == [{"role": "user", key: [{"text": TEXT}]}, *window]
    assert [(mend.kind, mend.position) for mend in found.report.mends] == [("missing_user", 0)]
    assert problems(provider, found.messages) == []
    assert api.project(found.messages, policy=REPAIR).report.mends == ()


@pytest.mark.parametrize("window", [BEDROCK, GEMINI])
def test_a_growing_window_keeps_its_beginning(api: ModuleType, window: list[Any]) -> None:
    first = api.project(window, policy=REPAIR)
    grown = [*window, *window[:1], *window[1:]]
    second = api.project(grown, policy=REPAIR, previous=first.decisions)
    assert second.messages[: len(first.messages)] == first.messages


def test_providers_that_take_it(api: ModuleType) -> None:
    use = {"type": "tool_use", "id": "a", "name": "find", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "two"}
    call = {"id": "a", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    item = {"type": "function_call", "call_id": "a", "name": "find", "arguments": "{}"}
    windows: list[list[Any]] = [
        [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}],
        [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "a", "content": "two"}],
        [item, {"type": "function_call_output", "call_id": "a", "output": "two"}],
    ]  # fmt: skip
    for window in windows:
        assert api.project(window, policy=REPAIR).messages == window


def test_nothing_is_put_before_an_unread_message(api: ModuleType) -> None:
    strange = {"role": "assistant", "content": [{"mysteryUse": {"id": "m"}}]}
    found = api.project([strange, *BEDROCK], policy=REPAIR)
    assert "missing_user" not in kinds(found)
    assert "unread in message 0" in found.report.not_repaired
