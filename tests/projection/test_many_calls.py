"""More calls in a message than the provider takes: the later ones move to a message after it."""

from types import ModuleType
from typing import Any

import pytest

from toolcarry import ProjectPolicy, check

ASK = {"role": "user", "content": "Count."}
POLICY = ProjectPolicy(repair=True, destination="openai-chat")


def called(count: int, *, is_answered: bool = True) -> list[dict[str, Any]]:
    function = {"name": "count", "arguments": "{}"}
    calls = [{"id": f"c{n}", "type": "function", "function": function} for n in range(count)]
    answers = [{"role": "tool", "tool_call_id": call["id"], "content": "1"} for call in calls]
    said = {"role": "assistant", "content": "I count.", "tool_calls": calls}
    return [ASK, said, *(answers if is_answered else ())]


@pytest.mark.parametrize(("count", "sizes"), [(128, [128]), (130, [128, 2]), (300, [128, 128, 44])])
def test_calls_move_with_their_results(api: ModuleType, count: int, sizes: list[int]) -> None:
    messages = called(count)
    found = api.project(messages, policy=POLICY)
    callers = [message for message in found.messages if "tool_calls" in message]
    assert [len(message["tool_calls"]) for message in callers] == sizes
    assert [message["content"] for message in callers] == ["I count."] + [""] * (len(sizes) - 1)
    asked: list[str] = []
    for message in found.messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == asked.pop(0)
        else:
            assert not asked
            asked = [call["id"] for call in message.get("tool_calls", ())]
    kinds = [mend.kind for mend in found.report.mends]
    assert kinds == ["split_calls"] * (len(sizes) > 1)
    assert [problem.rule for problem in check(messages, destination="openai-chat")] == kinds
    assert api.project(found.messages, policy=POLICY).messages == found.messages


def test_open_calls_move_as_well(api: ModuleType) -> None:
    found = api.project(called(130, is_answered=False), policy=POLICY)
    assert [message["role"] for message in found.messages].count("assistant") == 2
    assert api.project(found.messages, policy=POLICY).messages == found.messages
