"""Cline: Anthropic's blocks with additional ids, times and models."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.oracles.format_checks import (
    ASSISTANT,
    USER,
    JsonObject,
    blocks,
    check_inputs,
    check_pairs,
    headings,
    only_block,
    shown,
    shown_text,
    turns,
)


def message(number: int, role: str, *content: Any, **more: Any) -> JsonObject:
    return {"id": f"m{number}", "role": role, "content": list(content), "ts": 1_700_000_000, **more}


def text(value: str) -> JsonObject:
    return {"type": "text", "text": value}


def use(call_id: str, name: str, **given: Any) -> JsonObject:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str, name: str, content: Any, **more: Any) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": call_id, "name": name, "content": content, **more}


READ = use("toolu_1", "read_file", path="a.py")
RESULT = result("toolu_1", "read_file", "print(1)")
CONVERSATION = [
    message(1, "user", text("What is in a.py?"), {"type": "file", "path": "b.py", "content": "x"}),
    message(
        2, "assistant", text("I look."), READ, modelInfo={"id": "m"}, metrics={"inputTokens": 1}
    ),
    message(3, "user", RESULT),
    message(
        4, "assistant", {"type": "thinking", "thinking": "A secret thought."}, text("It prints.")
    ),
]


def test_a_conversation(api: ModuleType, rust: ModuleType) -> None:
    check_pairs(api, CONVERSATION, (READ, RESULT))
    assert shown(api, CONVERSATION) == [("Files Read", "a.py", [("python", "print(1)\n")])]
    assert rust.inspect(CONVERSATION).shape == "anthropic"
    session = {
        "version": 1,
        "sessionId": "s",
        "messages": CONVERSATION,
        "system_prompt": "Be kind.",
    }
    check_inputs(api, CONVERSATION, session)


def test_the_dialogue_has_no_thinking(api: ModuleType) -> None:
    assert api.dialogue(CONVERSATION) == turns(
        (USER, "What is in a.py?"), (ASSISTANT, "I look."), (ASSISTANT, "It prints.")
    )


def test_results_as_rows(api: ModuleType) -> None:
    """Tools that take several files or commands answer with a row for each."""
    rows = [
        {"query": "a.py:1-2", "result": "1 | x", "success": True},
        {"query": "b.py", "result": "y"},
    ]
    messages = [
        message(1, "assistant", use("t1", "read_files", files=[{"path": "a.py"}])),
        message(2, "user", result("t1", "read_files", rows)),
    ]
    assert shown_text(api, messages) == (
        '{"query":"a.py:1-2","result":"1 | x","success":true}\n{"query":"b.py","result":"y"}'
    )
    check_inputs(api, messages, {"messages": messages})


def test_a_result_without_call_says_its_name(api: ModuleType) -> None:
    block = only_block(api, message(1, "user", result("gone", "editor", "Edited.")))
    assert (block.tool_use, block.tool_name) == (None, "editor")


@pytest.mark.parametrize("is_error", [True, False])
def test_errors(api: ModuleType, is_error: bool) -> None:
    answer = result("toolu_1", "read_file", "No such file.", is_error=is_error)
    messages = [message(1, "assistant", READ), message(2, "user", answer)]
    assert only_block(api, *messages).is_error is is_error


def test_parallel_calls_in_another_order(api: ModuleType) -> None:
    first, second = use("t1", "execute_command", command="ls"), use("t2", "editor", path="a")
    of_second, of_first = result("t2", "editor", "done"), result("t1", "execute_command", "a.py")
    messages = [message(1, "assistant", first, second), message(2, "user", of_second, of_first)]
    check_pairs(api, messages, (first, of_first), (second, of_second))


def test_without_ids_the_name_decides(api: ModuleType) -> None:
    f, g = use("", "f"), use("", "g")
    of_g, of_f = result("", "g", "1"), result("", "f", "2")
    messages = [message(1, "assistant", f, g), message(2, "user", of_g, of_f)]
    check_pairs(api, messages, (f, of_f), (g, of_g))


def test_the_last_read_and_the_last_run_count(api: ModuleType) -> None:
    def run(number: int, name: str, content: str, **given: Any) -> list[JsonObject]:
        return [
            message(number, "assistant", use(f"t{number}", name, **given)),
            message(number + 1, "user", result(f"t{number}", name, content)),
        ]

    reads = [*run(1, "read_file", "old", path="a.py"), *run(3, "read_file", "new", path="a.py")]
    assert shown_text(api, reads) == "new"
    commands = [
        *run(1, "execute_command", "old", command="npm test"),
        *run(3, "execute_command", "new", command="npm test"),
    ]
    assert headings(api, commands) == ["npm test (latest of 2 runs)"]


def test_calls_written_as_text_are_text(api: ModuleType) -> None:
    """Models without tool calls wrote calls as XML; those are text, not calls."""
    xml = "<execute_command><command>ls</command></execute_command>"
    messages = [message(1, "assistant", text(xml)), message(2, "user", text("[execute_command] a"))]
    assert blocks(api, messages) == []
    assert api.dialogue(messages) == turns((ASSISTANT, xml), (USER, "[execute_command] a"))


def test_a_recorded_stream_holds_no_messages(api: ModuleType, rust: ModuleType) -> None:
    chunk = {"choices": [{"delta": {"tool_calls": [{"id": "c", "function": {"name": "f"}}]}}]}
    record = {
        "scope": "https://api.example.org",
        "method": "POST",
        "path": "/api/v1/chat/completions",
        "status": 200,
        "response": [f"data: {json.dumps(chunk)}"],
    }
    body = json.dumps([record, record]).encode()
    survey = rust.inspect(body)
    assert (survey.shape, survey.calls, survey.results) == ("unknown", 0, 0)
    assert api.carry(body).text == api.dialogue(body) == ""
