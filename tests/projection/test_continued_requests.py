"""A request that continues what a server holds is not repaired: a call may be there, and its result here."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies.histories import histories

from toolcarry import ProjectPolicy
from toolcarry._data import read_table

REPAIR = ProjectPolicy(repair=True)
KEYS = {"anthropic": "messages", "openai": "messages", "responses": "input", "gemini": "contents", "bedrock": "messages"}  # fmt: skip
PATHS = [tuple(path) for path in read_table("documents")["continued_paths"]]
ASK = {"role": "user", "content": "Go."}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "a coin"}
CALL = {"type": "function_call", "call_id": "c1", "name": "dig", "arguments": "{}"}


def members_at(path: tuple[str, ...], value: Any = "id_1") -> dict[str, Any]:
    """The members of a request that have a value at this path."""
    for key in reversed(path):
        value = {key: value}
    return dict(value)


def projected(api: ModuleType, key: str, messages: list[Any], policy: ProjectPolicy, **members: Any) -> Any:  # fmt: skip
    return api.project_body(json.dumps({**members, key: messages}).encode(), policy=policy)


@pytest.mark.parametrize("provider", KEYS)
@given(data=st.data())
def test_no_message_is_repaired(api: ModuleType, provider: str, data: st.DataObject) -> None:
    messages, path = data.draw(histories(provider)), data.draw(st.sampled_from(PATHS))
    given_body = json.dumps({**members_at(path), KEYS[provider]: messages}).encode()
    found = api.project_body(given_body, policy=REPAIR)
    assert found.report.mends == ()
    assert found.report.not_repaired.startswith(f"continued by {'.'.join(path)}")
    after, before = json.loads(found.body), json.loads(given_body)
    assert len(after[KEYS[provider]]) == len(messages)
    assert [*after] == [*before]


@pytest.mark.parametrize("path", PATHS)
def test_a_result_of_a_stored_call_stays(api: ModuleType, path: tuple[str, ...]) -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "a coin"}
    for key, message in (("messages", {"role": "user", "content": [result]}), ("input", OUTPUT)):
        body = json.dumps({**members_at(path), key: [message]}).encode()
        assert api.project_body(body, policy=REPAIR).body is body


@pytest.mark.parametrize("path", PATHS)
def test_null_continues_nothing(api: ModuleType, path: tuple[str, ...]) -> None:
    found = projected(api, "input", [ASK, OUTPUT], REPAIR, **members_at(path, None))
    assert [mend.kind for mend in found.report.mends] == ["orphan_result"]
    assert found.report.not_repaired == ""


def test_a_thread_that_begins_is_repaired(api: ModuleType) -> None:
    """The messages are whole, as are those next to a container, which holds files."""
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}  # fmt: skip
    for members in ({"thread": {"type": "create"}}, {"container": "container_1"}):
        found = projected(api, "messages", [ASK, call], REPAIR, **members)
        assert [mend.kind for mend in found.report.mends] == ["missing_result"]


def test_limits_hold_and_no_turn_is_dropped(api: ModuleType) -> None:
    """Only the server knows which messages precede, so that no turn can be taken out between others."""
    uses = [
        message
        for number in range(4)
        for message in (
            {"role": "assistant", "content": [{"type": "tool_use", "id": f"t{number}", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": "word " * 400}]},
        )
    ]  # fmt: skip
    thread = {"type": "continue", "previous_message_id": "msg_1"}
    found = projected(api, "messages", uses, ProjectPolicy(max_request_tokens=10), thread=thread)
    assert len(json.loads(found.body)["messages"]) == len(uses)
    assert {each.reason for each in found.report.replacements} == {"cleared"}
    assert found.report.over_request > 0


@pytest.mark.parametrize("message", [OUTPUT, CALL])
def test_a_referenced_item_may_be_the_other_half(api: ModuleType, message: dict[str, Any]) -> None:
    """The exchange with the reference is left alone, and another one is repaired."""
    reference = {"type": "item_reference", "id": "fc_1"}
    messages = [ASK, CALL | {"call_id": "c0"}, ASK, reference, message]
    found = api.project(messages, policy=REPAIR)
    assert [mend.kind for mend in found.report.mends] == ["missing_result"]
    assert found.messages[-3:] == messages[-3:]
    assert found.report.not_repaired == "item_reference in message 3"
    assert api.project(found.messages, policy=REPAIR).messages == found.messages


@pytest.mark.parametrize("item_id", ["msg_1", "rs_1"])
def test_a_referenced_message_or_thought_hides_no_call(api: ModuleType, item_id: str) -> None:
    found = api.project([ASK, {"type": "item_reference", "id": item_id}, CALL], policy=REPAIR)
    assert [mend.kind for mend in found.report.mends] == ["missing_result"]
    assert found.report.not_repaired == ""
