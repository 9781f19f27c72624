"""Calls of the Responses API other than function calls, each answered by an item type of its own."""

import json
from types import ModuleType

import pytest
from support.oracles.repairs import REPAIR, kinds, repair


@pytest.mark.parametrize(
    "kind",
    [
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
    ],
)
def test_a_call_of_each_kind_is_answered_by_an_item_of_its_own(api: ModuleType, kind: str) -> None:
    call = {"type": kind, "call_id": "c1", "name": "f", "arguments": "{}"}
    found = repair(api, [call, {"role": "user", "content": "?"}], "responses")
    assert found.messages[1]["type"] == f"{kind}_output"
    assert found.report.not_repaired == ""


def test_a_list_of_tools_is_not_made_up(api: ModuleType) -> None:
    """The model would believe that there are no other tools."""
    call = {"type": "tool_search_call", "call_id": "s1", "arguments": {"query": "q"}}
    asked, user = {**call, "execution": "client"}, {"role": "user", "content": "?"}
    answer = {"type": "tool_search_output", "call_id": "s1", "tools": [], "execution": "client"}
    other = {"type": "function_call_output", "call_id": "s1", "output": "x"}
    for items in ([asked, user], [asked, other, user], [asked, answer, asked, user]):
        found = api.project(items, policy=REPAIR)
        assert found.messages == items
        assert (found.report.not_repaired, found.report.mends) == ("tool_search_call", ())
        body = json.dumps({"input": items}).encode()
        assert api.project_body(body, policy=REPAIR).report.not_repaired == "tool_search_call"
    own = {**call, "call_id": None, "execution": "server"}
    for items in ([asked, answer, user], [own, user]):
        assert api.project(items, policy=REPAIR).report.not_repaired == ""


def test_a_list_of_tools_answers_no_other_call(api: ModuleType) -> None:
    """Repair used to add a result for the call, which the next projection took for a second answer."""
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    listed = {"type": "tool_search_output", "call_id": "c1", "tools": [{"name": "f"}]}
    user = {"role": "user", "content": "?"}
    for lists in ([listed], [listed, listed]):
        found = repair(api, [call, user, *lists], "responses")
        types = [item.get("type") for item in found.messages]
        assert types == ["function_call", "function_call_output", None]
        assert kinds(found) == ["missing_result", *["duplicate_result"] * len(lists)]
        assert api.project(found.messages, policy=REPAIR).report.mends == ()
    del call["call_id"], listed["call_id"]
    assert (
        listed in api.project([call, user, {**listed, "id": "o1"}, listed], policy=REPAIR).messages
    )
    assert api.project([listed, user], policy=REPAIR).messages == [listed, user]


def test_a_screenshot_is_not_made_up(api: ModuleType) -> None:
    """The model would believe it, so the call stays open, and is reported."""
    screen = {"type": "computer_screenshot", "image_url": "data:image/png;base64,aGk="}
    call = {"type": "computer_call", "call_id": "c1", "action": {"type": "screenshot"}}
    output = {"type": "computer_call_output", "call_id": "c1", "output": screen}
    user = {"role": "user", "content": "?"}
    found = api.project([call, user], policy=REPAIR)
    assert found.messages == [call, user]
    assert (found.report.not_repaired, found.report.mends) == ("computer_call", ())
    body = json.dumps({"input": [call, user]}).encode()
    assert api.project_body(body, policy=REPAIR).report.not_repaired == "computer_call"
    found = repair(api, [call, output, call, output, output, user], "responses")
    assert found.messages[2:] == [
        {**call, "call_id": "c1_2"},
        {**output, "call_id": "c1_2"},
        user,
    ]
    assert kinds(found) == ["renamed_id", "duplicate_result"]
    assert found.report.not_repaired == ""
