"""Messages of the role ``function``, which is refused after a call in ``tool_calls``."""

from types import ModuleType
from typing import Any

from support.builders.handovers import FILLER
from support.oracles.repairs import ASK, answer, chat, kinds, repair

from toolcarry import ProjectPolicy

OLD = {"role": "function", "name": "f", "content": "x"}
NEW = {"role": "tool", "tool_call_id": "t1", "name": "f", "content": "x"}
CALL = chat(("t1", "f"))


def test_an_answer_of_the_old_role_is_one_of_todays(api: ModuleType) -> None:
    """Its content becomes the result of the call: nothing is lost or made up."""
    found = repair(api, [ASK, CALL, {**OLD, "tool_call_id": "t1"}], "openai")
    assert found.messages == [ASK, CALL, NEW]
    assert [(mend.kind, mend.position, mend.call_id) for mend in found.report.mends] == [
        ("renamed_role", 2, "t1")
    ]


def test_one_without_id_is_paired_by_its_name_and_order(api: ModuleType) -> None:
    calls = chat(("t1", "f"), ("t2", "g"), ("t3", "f"))
    olds = [OLD, {**OLD, "content": "y"}, {**OLD, "name": "g", "content": "z"}]
    found = repair(api, [ASK, calls, *olds], "openai")
    said = [(message["tool_call_id"], message["content"]) for message in found.messages[2:]]
    assert said == [("t1", "x"), ("t3", "y"), ("t2", "z")]
    assert set(kinds(found)) == {"renamed_id", "renamed_role"}


def test_one_that_comes_late_is_put_after_its_call(api: ModuleType) -> None:
    found = repair(api, [ASK, CALL, ASK, {**OLD, "tool_call_id": "t1"}], "openai")
    assert found.messages == [ASK, CALL, NEW, ASK]
    assert kinds(found) == ["renamed_role", "moved_result"]


def test_a_second_one_is_taken_out(api: ModuleType) -> None:
    named = {**OLD, "tool_call_id": "t1"}
    found = repair(api, [ASK, CALL, named, named], "openai")
    assert found.messages == [ASK, CALL, NEW]
    assert kinds(found) == ["renamed_role", "duplicate_result"]
    found = repair(api, [ASK, CALL, answer("t1"), named], "openai")
    assert found.messages == [ASK, CALL, answer("t1")]
    assert kinds(found) == ["duplicate_result"]


def test_a_content_that_the_new_role_may_not_have(api: ModuleType) -> None:
    for old in ({**OLD, "content": None}, {"role": "function", "name": "f"}):
        found = repair(api, [ASK, CALL, {**old, "tool_call_id": "t1"}], "openai")
        assert found.messages[2] == {**NEW, "content": ""}


def test_ollama_pairs_by_order(api: ModuleType) -> None:
    asked: dict[str, Any] = {"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}
    asked["tool_calls"][0]["function"]["arguments"] = {}
    found = repair(api, [ASK, asked, OLD], "ollama")
    assert found.messages == [ASK, asked, {**OLD, "role": "tool"}]
    assert kinds(found) == ["renamed_role"]


def test_one_that_names_another_tool_than_its_call_names_that(api: ModuleType) -> None:
    """Without an id it would be paired by its name the next time."""
    given = {"function": {"name": "g", "arguments": {}}}
    use = {"type": "tool_use", "name": "f", "input": {}}
    asked = {"role": "assistant", "content": [use], "tool_calls": [given, given]}
    found = repair(api, [ASK, asked, OLD], "ollama")
    assert found.messages[2] == {"role": "tool", "name": "g", "content": "x"}
    assert {"renamed_role", "renamed_tool"} <= set(kinds(found))


def test_an_overlong_result_is_still_cut(api: ModuleType) -> None:
    messages = [ASK, CALL, {**OLD, "tool_call_id": "t1", "content": FILLER[:700]}]
    policy = ProjectPolicy(repair=True, max_result_chars=100)
    found = api.project(messages, policy=policy)
    assert found.messages[2]["role"] == "tool"
    assert len(found.messages[2]["content"]) <= 100
    assert [done.reason for done in found.report.replacements] == ["cut"]
    assert api.project(found.messages, policy=policy).messages == found.messages


def test_one_of_a_call_that_came_before_stays(api: ModuleType) -> None:
    before = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "f", "arguments": "{}"},
    }
    found = repair(api, [ASK, before, OLD, CALL, answer("t1")], "openai")
    assert found.messages == [ASK, before, OLD, CALL, answer("t1")]
