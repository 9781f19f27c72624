"""Programs and searches of Responses that run on the server: a call, and its result as an item of its own."""

import json
from types import ModuleType
from typing import Any

from toolcarry import ProjectPolicy, convert

CALLER = {"type": "program", "caller_id": "p"}
PROGRAM = {
    "type": "program",
    "id": "prog_7",
    "call_id": "p",
    "code": "await tools.rows({})",
    "fingerprint": "f",
}
OUTPUT = {
    "type": "program_output",
    "id": "po_7",
    "call_id": "p",
    "result": "nine rows",
    "status": "completed",
}
ROWS = [
    {"type": "function_call", "call_id": f"r{n}", "name": "rows", "arguments": "{}", "caller": CALLER}
    for n in (1, 2)
]  # fmt: skip
GIVEN = [
    {"type": "function_call_output", "call_id": f"r{n}", "output": str(n), "caller": CALLER}
    for n in (1, 2)
]
ITEMS: list[Any] = [
    {"role": "user", "content": "How many?"},
    PROGRAM, ROWS[0], GIVEN[0], ROWS[1], GIVEN[1], OUTPUT,
    {"role": "user", "content": "And now?"},
]  # fmt: skip
SEARCH: list[Any] = [
    {"role": "user", "content": "Rain?"},
    {"type": "tool_search_call", "id": "a", "call_id": None, "arguments": {"query": "rain"}, "execution": "server"},
    {"type": "tool_search_output", "id": "b", "call_id": None, "tools": [{"name": "rain"}], "execution": "server"},
]  # fmt: skip


def test_a_program_is_a_call_with_its_result(api: ModuleType, rust: ModuleType) -> None:
    blocks = api.extract_tool_blocks(ITEMS)
    assert [block.tool_name for block in blocks] == ["program", "rows", "rows"]
    assert all(block.tool_use and block.tool_result for block in blocks)
    found = api.carry(ITEMS)
    assert "nine rows" in found.text
    assert 'program(code="await tools.rows({})")' in found.text
    body = json.dumps({"input": ITEMS}).encode()
    assert api.carry(body).text == found.text
    assert not rust.inspect(ITEMS).unread


def test_repair_leaves_programs_alone(rust: ModuleType) -> None:
    policy = ProjectPolicy(repair=True, max_result_chars=40, max_all_results_chars=0)
    assert rust.project(ITEMS, policy=policy).messages == ITEMS
    open_call = [*ITEMS[:3], OUTPUT]
    found = rust.project(open_call, policy=ProjectPolicy(repair=True)).messages
    assert [item.get("type") for item in found[1:]] == [
        "program", "function_call", "function_call_output", "program_output",
    ]  # fmt: skip


def test_a_program_is_retold(api: ModuleType, rust: ModuleType) -> None:
    told = "\n".join(str(message) for message in rust.recount(ITEMS).messages)
    assert "nine rows" in told
    assert api.count_tokens(ITEMS) > api.count_tokens([*ITEMS[:6], ITEMS[7]])


def test_a_program_stays_where_it_runs() -> None:
    assert convert(ITEMS, to="responses").messages == ITEMS


def test_a_program_elsewhere_is_an_ordinary_call() -> None:
    found = convert(ITEMS, to="openai")
    calls = [
        call["function"]["name"]
        for message in found.messages
        for call in message.get("tool_calls") or ()
    ]
    assert "program" in calls
    assert "nine rows" in json.dumps(found.messages)
    assert "server_tool" in [loss.kind for loss in found.losses]


def test_a_search_by_the_server_is_one_block(api: ModuleType, rust: ModuleType) -> None:
    (block,) = api.extract_tool_blocks(SEARCH)
    assert (block.tool_use, block.tool_result) == (SEARCH[1], SEARCH[2])
    twice = [*SEARCH, *SEARCH]
    assert [block.tool_result for block in api.extract_tool_blocks(twice)] == [SEARCH[2]] * 2
    assert rust.project(SEARCH, policy=ProjectPolicy(repair=True)).messages == SEARCH
    assert convert(SEARCH, to="responses").messages == SEARCH


def test_code_execution_of_anthropic_stays_around_calls_to_the_client() -> None:
    server = {
        "type": "server_tool_use",
        "id": "s",
        "name": "code_execution",
        "input": {"code": "rows()"},
    }
    use = {
        "type": "tool_use",
        "id": "t",
        "name": "rows",
        "input": {},
        "caller": {"type": "code_execution", "tool_id": "s"},
    }
    ran = {
        "type": "code_execution_tool_result",
        "tool_use_id": "s",
        "content": {"type": "code_execution_result", "stdout": "9"},
    }
    messages = [
        {"role": "user", "content": "How many?"},
        {"role": "assistant", "content": [server, use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "9"}]},
        {"role": "assistant", "content": [ran, {"type": "text", "text": "Nine."}]},
    ]  # fmt: skip
    assert convert(messages, to="anthropic").messages == messages
