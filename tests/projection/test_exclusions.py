"""Results that repair removes: no marker replaces them, and they are not counted among those that stay."""

from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.oracles.repairs import ASK, chat, kinds, repair

LONG = "a line of text\n" * 30
READ = '{"file_path":"/a.py"}'


def item(call_id: str, kind: str = "function_call_output", content: str = LONG) -> list[Any]:
    """A read of Responses', and what answers it."""
    call = {"type": "function_call", "call_id": call_id, "name": "Read", "arguments": READ}
    return [call, {"type": kind, "call_id": call_id, "output": content}]


def test_a_result_of_another_kind_supersedes_nothing(api: ModuleType) -> None:
    """It is taken out: else the model would see neither."""
    older, newer = item("c1"), item("c2", "custom_tool_call_output")
    found = repair(api, [*older, *newer], "responses")
    assert found.messages[:2] == older
    assert kinds(found) == ["missing_result", "duplicate_result"]
    assert found.report.replacements == ()


def test_the_newest_that_stays_supersedes(api: ModuleType) -> None:
    lost = item("c3", "custom_tool_call_output")
    found = repair(api, [*item("c1"), *item("c2"), *lost], "responses")
    assert found.messages[1]["output"] == "[toolcarry: superseded by call c2; whole: c1]"
    assert found.messages[3]["output"] == LONG
    assert [done.reference for done in found.report.replacements] == ["c1"]


def test_a_failure_is_superseded_as_by_a_call_without_result(api: ModuleType) -> None:
    """Its own result is one that is made up."""
    failed = wire.bash("ls", LONG, "t1")
    failed[1]["content"][0]["is_error"] = True
    lost = wire.bash("ls", LONG, "t2")
    lost[1]["content"][0]["type"] = "web_search_tool_result"
    found = repair(api, [ASK, *failed, *lost])
    text = found.messages[2]["content"][0]["content"]
    assert text == "[toolcarry: superseded by call t2; whole: t1]"


@pytest.mark.parametrize("has_previous", [False, True])
def test_it_stays_so_with_decisions(api: ModuleType, has_previous: bool) -> None:
    messages = [*item("c1"), *item("c2", "custom_tool_call_output")]
    policy = api.ProjectPolicy(repair=True, clear_at_least_tokens=0)
    previous = api.project(messages[:2], policy=policy).decisions if has_previous else None
    found = api.project(messages, policy=policy, previous=previous)
    again = api.project([*messages, ASK], policy=policy, previous=found.decisions)
    assert found.messages[:2] == again.messages[:2] == messages[:2]


def test_the_call_of_a_message_of_chats_that_is_not_among_its_calls(api: ModuleType) -> None:
    older = [chat(("t1", "Read")), {"role": "tool", "tool_call_id": "t1", "content": LONG}]
    older[0]["tool_calls"][0]["function"]["arguments"] = READ
    use = wire.use("t2", "Read", file_path="/a.py")
    answer = {"role": "tool", "tool_call_id": "t2", "content": LONG}
    newer = [{"role": "assistant", "content": [use], "tool_calls": chat(("t3", "f"))["tool_calls"]}]
    found = repair(api, [ASK, *older, *newer, answer], "openai")
    assert found.messages[1:3] == older
    assert "orphan_result" in kinds(found)


def test_only_remaining_results_are_counted(api: ModuleType) -> None:
    """A removed result leaves no marker and no text."""
    lost = wire.user(wire.result("t9", LONG * 2), ASK["content"][0])
    messages = [lost, *wire.bash("ls", LONG, "t1")]
    report = repair(api, messages).report
    assert (report.orphan_results, report.chars_before) == (1, 3 * len(LONG))
    assert report.chars_after == len(LONG)
    found = api.project(messages, policy=api.ProjectPolicy(repair=True, max_result_chars=100))
    assert [done.reference for done in found.report.replacements] == ["t1"]
    assert found.report.chars_after == len(found.messages[2]["content"][0]["content"])


@pytest.mark.parametrize("unit", ["chars", "tokens"])
def test_a_total_that_the_remaining_results_meet(api: ModuleType, unit: str) -> None:
    lost = wire.user(wire.result("t9", "x" * 30), ASK["content"][0])
    messages = [lost, *wire.bash("ls", "yes", "t1")]
    limit: dict[str, Any] = {f"max_all_results_{unit}": 3}
    assert api.project(messages, policy=api.ProjectPolicy(**limit)).report.over_budget > 0
    assert (
        api.project(messages, policy=api.ProjectPolicy(repair=True, **limit)).report.over_budget
        == 0
    )
    dropped = [*wire.bash("pwd", "x" * 30, "t8"), *messages[1:]]
    fitting = api.ProjectPolicy(max_request_tokens=30, **limit)
    assert api.project(dropped, policy=fitting).report.over_budget == 0
