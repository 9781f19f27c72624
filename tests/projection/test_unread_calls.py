"""A result is only removed if its call is nowhere: a message of the model with its id may hold a call of unknown form."""

from types import ModuleType
from typing import Any

import pytest

from toolcarry import ProjectPolicy

REPAIR = ProjectPolicy(repair=True)
ASK = {"role": "user", "content": "Count the hens."}
SAID = {"role": "assistant", "content": "Forty."}
ANSWER = {"role": "tool", "content": "forty", "tool_call_id": "c1"}
LOBE = {"id": "c1", "identifier": "barn", "apiName": "count", "arguments": "{}", "type": "builtin"}


def result(call_id: str) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "forty"}
    return {"role": "user", "content": [block]}


CALLERS: list[dict[str, Any]] = [
    {"role": "assistant", "content": "", "tools": [LOBE]},
    {"role": "assistant", "content": "", "metadata": {"run": [{"toolCallId": "c1", "args": {}}]}},
    {"role": "assistant", "content": [{"type": "text", "text": "I count.", "uses": {"callID": "c1"}}]},
]  # fmt: skip


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("answer", [ANSWER, result("c1")])
def test_a_result_stays_with_a_call_that_no_reader_knows(
    api: ModuleType, caller: dict[str, Any], answer: dict[str, Any]
) -> None:
    messages = [ASK, caller, answer, SAID]
    found = api.project(messages, policy=REPAIR)
    assert found.messages == messages
    assert found.report.not_repaired == "unread in message 1"


@pytest.mark.parametrize(
    "other",
    [
        {"role": "assistant", "content": "c1"},
        {"role": "assistant", "content": "", "tools": [LOBE | {"id": "c2"}]},
        {"role": "assistant", "content": "", "note": "c1"},
        {"role": "user", "content": "Again.", "id": "c1"},
    ],
)
def test_a_result_of_no_call_is_removed(api: ModuleType, other: dict[str, Any]) -> None:
    found = api.project([ASK, other, ANSWER, SAID], policy=REPAIR)
    assert found.messages == [ASK, other, SAID]
    assert found.report.not_repaired == ""


def test_a_call_does_not_precede_its_result_by_being_after_it(api: ModuleType) -> None:
    found = api.project([ASK, ANSWER, CALLERS[0], SAID], policy=REPAIR)
    assert ANSWER not in found.messages
