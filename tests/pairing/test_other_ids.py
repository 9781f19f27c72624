"""A call of Responses has two ids, its own and its item's; a result may name it by the other one."""

from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies.requests import requests

from toolcarry import ProjectPolicy

ASK = {"role": "user", "content": "Go."}


def item(call_id: str, item_id: str) -> dict[str, Any]:
    return {"type": "function_call", "id": item_id, "call_id": call_id, "name": "dig", "arguments": "{}"}  # fmt: skip


def output(call_id: str, text: str = "a coin") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def chat(call_id: str, other: str) -> dict[str, Any]:
    call = {"id": call_id, "call_id": other, "type": "function", "function": {"name": "dig", "arguments": "{}"}}  # fmt: skip
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def pairs(api: ModuleType, messages: list[Any]) -> list[tuple[bool, bool]]:
    blocks = api.extract_tool_blocks(messages)
    return [(block.tool_use is not None, block.tool_result is not None) for block in blocks]


@given(messages=requests("responses"), data=st.data())
def test_results_under_the_ids_of_items(
    api: ModuleType, messages: list[Any], data: st.DataObject
) -> None:
    names: dict[str, str] = {}
    for number, each in enumerate(messages):
        if each.get("type") == "function_call":
            names[each["call_id"]] = each["id"] = f"fc_{number}"
    chosen = data.draw(st.sets(st.sampled_from(sorted(names)))) if names else set()
    renamed = [
        each | {"call_id": names[each["call_id"]]}
        if each.get("type") == "function_call_output" and each["call_id"] in chosen
        else each
        for each in messages
    ]
    assert api.carry(renamed).text == api.carry(messages).text
    assert pairs(api, renamed) == pairs(api, messages)


def test_chat_has_both_ids(api: ModuleType) -> None:
    for named in ("fc_1", "call_1"):
        answer = {"role": "tool", "tool_call_id": named, "content": "a coin"}
        assert pairs(api, [ASK, chat("fc_1", "call_1"), answer]) == [(True, True)]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([item("c1", "x"), item("x", "fc_2"), output("x"), output("c1")], [(True, True), (True, True)]),
        ([item("c1", "x"), item("c2", "x"), output("x")], [(True, False), (True, False), (False, True)]),
        ([output("fc_1"), item("c1", "fc_1")], [(False, True), (True, False)]),
        ([item("c1", "fc_1"), output("c1"), output("fc_1", "again")], [(True, True)]),
    ],
    ids=["the id of a call comes first", "two calls", "before the call", "a second result"],
)  # fmt: skip
def test_only_a_certain_call_is_taken(
    api: ModuleType, messages: list[Any], expected: list[tuple[bool, bool]]
) -> None:
    assert pairs(api, [ASK, *messages]) == expected


def test_a_repair_writes_the_id_of_the_call(rust: ModuleType) -> None:
    for call, answer in (
        (item("call_1", "fc_1"), output("fc_1")),
        (chat("fc_1", "call_1"), {"role": "tool", "tool_call_id": "call_1", "content": "a coin"}),
    ):
        found = rust.project([ASK, call, answer], policy=ProjectPolicy(repair=True))
        named = {"call_id": "call_1"} if "call_id" in answer else {"tool_call_id": "fc_1"}
        assert found.messages == [ASK, call, answer | named]
        assert [mend.kind for mend in found.report.mends] == ["renamed_id"]
