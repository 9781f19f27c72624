"""Results that say that another one will follow: the last one counts."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.rows import for_each

CALL = {"role": "model", "parts": [{"functionCall": {"id": "f1", "name": "export", "args": {}}}]}


def answer(response: Any, **more: Any) -> dict[str, Any]:
    given = {"id": "f1", "name": "export", "response": response, **more}
    return {"role": "user", "parts": [{"functionResponse": given}]}


def only_text(api: ModuleType, messages: list[dict[str, Any]]) -> tuple[str, int]:
    """Return the text of the block's result, and the number of duplicates."""
    (block,) = api.extract_tool_blocks(messages)
    in_bytes = api.extract_tool_blocks(json.dumps({"contents": messages}).encode())
    assert [each.tool_result for each in in_bytes] == [block.tool_result]
    carried = api.carry(messages)
    assert carried.report.duplicate_results == len(block.notes.second_results)
    return json.dumps(block.tool_result), carried.report.duplicate_results


@for_each("status", ["pending", "in progress", "IN_PROGRESS", "running", "Queued"])
def test_a_later_result_replaces_a_pending_one(api: ModuleType, status: str) -> None:
    first = answer({"status": status, "ticket": 7})
    last = answer({"status": "done", "file": "x.csv"})
    text, duplicates = only_text(api, [CALL, first, last])
    assert "x.csv" in text
    assert duplicates == 1


def test_of_pending_results_the_last_counts(api: ModuleType) -> None:
    steps = [answer({"status": "pending", "step": step}) for step in range(3)]
    text, duplicates = only_text(api, [CALL, *steps])
    assert '"step": 2' in text
    assert duplicates == 2


def test_a_generator_of_results(api: ModuleType) -> None:
    steps = [answer({"page": page}, willContinue=True) for page in range(3)]
    assert '"page": 2' in only_text(api, [CALL, *steps])[0]
    ended = [CALL, *steps, answer({}, willContinue=False, scheduling="SILENT")]
    assert '"page": 2' in only_text(api, ended)[0]
    last = [CALL, *steps, answer({"page": "end"}, willContinue=False)]
    assert '"page": "end"' in only_text(api, last)[0]


@for_each("status", ["done", "approved", "error", "", "pending approval of nobody"])
def test_a_final_result_stays(api: ModuleType, status: str) -> None:
    text, duplicates = only_text(api, [CALL, answer({"status": status}), answer({"late": 1})])
    assert "late" not in text
    assert duplicates == 1


def test_a_stand_in_replaces_nothing(api: ModuleType) -> None:
    made_up = answer({"output": "[Tool use interrupted: no result]"})
    text, _ = only_text(api, [CALL, answer({"status": "pending"}), made_up])
    assert "pending" in text


@pytest.mark.parametrize(
    "content", ['{"status": "pending"}', [{"type": "text", "text": '{"status":"pending"}'}]]
)
def test_other_formats(api: ModuleType, content: Any) -> None:
    calls = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    messages = [
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "content": content},
        {"role": "assistant", "content": "Waiting."},
        {"role": "tool", "tool_call_id": "a", "content": "approved"},
    ]
    (block,) = api.extract_tool_blocks(messages)
    assert block.tool_result == messages[-1]
    call = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
    first = {
        "type": "function_call_output",
        "call_id": "a",
        "output": "..",
        "status": "in_progress",
    }
    last = {"type": "function_call_output", "call_id": "a", "output": "approved"}
    (block,) = api.extract_tool_blocks([call, first, last])
    assert block.tool_result == last


def test_repair_keeps_the_final_result(rust: ModuleType) -> None:
    messages = [CALL, answer({"status": "pending"}), answer({"status": "done", "file": "x.csv"})]
    repaired = rust.project(messages, policy=rust.ProjectPolicy(repair=True))
    assert "x.csv" in json.dumps(repaired.messages)
    assert "pending" not in json.dumps(repaired.messages)
    assert [mend.kind for mend in repaired.report.mends].count("duplicate_result") == 1
