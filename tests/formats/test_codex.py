"""Codex rollouts: the ``response_item`` records of a JSONL file."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.oracles.format_checks import (
    ASSISTANT,
    USER,
    JsonObject,
    as_lines,
    blocks,
    check_inputs,
    check_pairs,
    headings,
    only_block,
    shown,
    shown_text,
    turns,
)
from support.rows import for_each


def record(kind: str, **payload: Any) -> JsonObject:
    return {"timestamp": "2025-10-01T10:00:00.000Z", "type": kind, "payload": payload}


def item(kind: str, **payload: Any) -> JsonObject:
    return record("response_item", type=kind, **payload)


def message(role: str, kind: str, text: str) -> JsonObject:
    return item("message", role=role, content=[{"type": kind, "text": text}])


def shell(command: str, call_id: str) -> JsonObject:
    arguments = json.dumps({"command": ["bash", "-lc", command], "workdir": "/repo"})
    return item("function_call", name="shell", arguments=arguments, call_id=call_id)


def packed(text: str, exit_code: int = 0) -> str:
    """An output as Codex writes it."""
    metadata = {"exit_code": exit_code, "duration_seconds": 0.1}
    return json.dumps({"output": text, "metadata": metadata})


def output(call_id: str, text: str, kind: str = "function_call_output") -> JsonObject:
    return item(kind, call_id=call_id, output=text)


def payloads(*records: JsonObject) -> tuple[Any, ...]:
    return tuple(found["payload"] for found in records)


RUN, RAN = shell("cargo test", "call_1"), output("call_1", packed("1 passed"))
CONVERSATION = [
    record(
        "session_meta", id="s1", cwd="/repo", originator="codex_cli_rs", instructions="Be kind."
    ),
    record("turn_context", cwd="/repo", model="gpt-5-codex"),
    message("developer", "input_text", "<permissions>all</permissions>"),
    message("user", "input_text", "Run the tests."),
    record("event_msg", type="user_message", message="Run the tests."),
    record("event_msg", type="agent_reasoning", text="A secret thought."),
    item("reasoning", summary=[{"type": "summary_text", "text": "A secret thought."}]),
    RUN,
    record("event_msg", type="exec_command_begin", call_id="call_1", command=["cargo", "test"]),
    record(
        "event_msg",
        type="exec_command_end",
        call_id="call_1",
        aggregated_output="1 passed",
        exit_code=0,
    ),
    RAN,
    record("event_msg", type="agent_message", message="They pass."),
    message("assistant", "output_text", "They pass."),
    record("compacted", message="A summary."),
]


def test_a_conversation(api: ModuleType, rust: ModuleType) -> None:
    check_pairs(api, CONVERSATION, payloads(RUN, RAN))
    assert shown(api, CONVERSATION) == [("Commands Executed", "cargo test", [("", "1 passed\n")])]
    survey = rust.inspect(CONVERSATION)
    assert (survey.shape, survey.results, survey.duplicate_results) == ("codex", 1, 0)
    check_inputs(api, CONVERSATION)


def test_the_dialogue_comes_from_the_items(api: ModuleType) -> None:
    said = turns((USER, "Run the tests."), (ASSISTANT, "They pass."), ("SUMMARY", "A summary."))
    assert api.dialogue(CONVERSATION) == said


@pytest.mark.parametrize("kind", ["event_msg", "turn_context", "compacted", "session_meta"])
def test_only_response_items_are_calls_and_results(api: ModuleType, kind: str) -> None:
    records = [RUN, record(kind, **RUN["payload"]), record(kind, **RAN["payload"])]
    (block,) = blocks(api, records)
    assert block.tool_result is None


@pytest.mark.parametrize("exit_code", [0, 1, 101, -9])
def test_the_exit_code_marks_failures(api: ModuleType, exit_code: int) -> None:
    records = [RUN, output("call_1", packed("told", exit_code))]
    assert only_block(api, *records).is_error is (exit_code != 0)
    assert shown_text(api, records) == "told"


def test_an_output_as_text(api: ModuleType) -> None:
    """Newer versions write no JSON."""
    text = "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nhi"
    assert shown_text(api, [RUN, output("call_1", text)]) == text


def test_an_output_as_parts(api: ModuleType) -> None:
    parts = [{"type": "input_text", "text": "one"}, {"type": "input_text", "text": "two"}]
    records = [RUN, item("function_call_output", call_id="call_1", output=parts)]
    assert shown_text(api, records) == "one\ntwo"


def local_shell(command: str, call_id: str) -> JsonObject:
    action = {"type": "exec", "command": ["bash", "-lc", command], "timeout_ms": 1_000}
    return item("local_shell_call", call_id=call_id, status="completed", action=action)


def test_a_local_shell_call_that_is_run_twice(api: ModuleType) -> None:
    first, second = local_shell("git status", "c1"), local_shell("git status", "c2")
    old, new = output("c1", packed("old")), output("c2", packed("new"))
    records = [first, old, second, new]
    check_pairs(api, records, payloads(first, old), payloads(second, new))
    assert blocks(api, records)[0].tool_name == "local_shell"
    assert headings(api, records) == ["git status (latest of 2 runs)"]
    assert shown_text(api, records) == "new"
    assert api.carry(records).report.superseded == {"later_run": 1}


def test_a_failed_run_leaves_the_last_success_next_to_it(api: ModuleType) -> None:
    records = [RUN, RAN, shell("cargo test", "c2"), output("c2", packed("1 failed", 101))]
    assert [text for _, _, ((_, text),) in shown(api, records)] == ["1 passed\n", "1 failed\n"]


def test_a_patch_is_free_text(api: ModuleType) -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n*** End Patch"
    call = item("custom_tool_call", call_id="c", name="apply_patch", input=patch)
    done = output("c", packed("Success."), "custom_tool_call_output")
    check_pairs(api, [call, done], payloads(call, done))
    ((_, heading, ((_, text),)),) = shown(api, [call, done])
    assert heading.startswith("apply_patch(input=")
    assert "Update File: a.py" in heading
    assert text == "Success.\n"
    check_inputs(api, [call, done])


def test_a_search_without_id_is_a_separate_block(api: ModuleType) -> None:
    search = item("web_search_call", status="completed", action={"type": "search", "query": "q"})
    records = [RUN, search, RAN, search]
    check_pairs(
        api, records, payloads(RUN, RAN), payloads(search, search), payloads(search, search)
    )
    assert blocks(api, records)[1].tool_name == "web_search"
    check_inputs(api, records)


def test_parallel_calls(api: ModuleType) -> None:
    first, second = shell("ls", "c1"), shell("pwd", "c2")
    of_second, of_first = output("c2", "/repo"), output("c1", "a.py")
    records = [first, second, of_second, of_first]
    check_pairs(api, records, payloads(first, of_first), payloads(second, of_second))


def test_orphans(rust: ModuleType) -> None:
    survey = rust.inspect([RUN, output("gone", "x")])
    assert (survey.orphan_calls, survey.orphan_results) == (1, 1)


def test_a_flat_rollout(api: ModuleType) -> None:
    """Older files hold the items themselves after a line about the session."""
    header = {"id": "s1", "timestamp": "2025-05-01T10:00:00Z", "instructions": None}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]}
    records = [header, {"record_type": "state"}, said, RUN["payload"], RAN["payload"]]
    check_pairs(api, records, payloads(RUN, RAN))
    assert api.dialogue(records) == turns((USER, "Go."))
    check_inputs(api, records)


@for_each("payload", [None, "text", 7, [], {}, {"type": 7}, {"type": "function_call"}])
def test_a_record_with_a_strange_payload(api: ModuleType, payload: Any) -> None:
    strange = {"timestamp": "t", "type": "response_item", "payload": payload}
    found = [block for block in blocks(api, [RUN, RAN, strange]) if block.call_id == "call_1"]
    assert [(block.tool_use, block.tool_result) for block in found] == [payloads(RUN, RAN)]


def test_a_broken_line_is_skipped(rust: ModuleType) -> None:
    survey = rust.inspect(as_lines([RUN]) + b'{"type": "response_it\n' + as_lines([RAN]))
    assert (survey.calls, survey.results, survey.skipped_lines) == (1, 1, (2,))
