"""OpenAI Responses: items of the list ``input``, calls and results named by their type."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.oracles.format_checks import (
    ASSISTANT,
    USER,
    JsonObject,
    check_inputs,
    check_pairs,
    headings,
    only_block,
    shown,
    shown_text,
    turns,
)
from support.rows import for_each


def call(call_id: str | None, name: str = "f", arguments: str = "{}", **more: Any) -> JsonObject:
    named = {} if call_id is None else {"call_id": call_id}
    return {"type": "function_call", "name": name, "arguments": arguments, **named, **more}


def output(call_id: str | None, content: Any = "ok", **more: Any) -> JsonObject:
    named = {} if call_id is None else {"call_id": call_id}
    return {"type": "function_call_output", "output": content, **named, **more}


READ = call("call_1", "read_file", '{"path": "a.py"}', id="fc_1", status="completed")
RESULT = output("call_1", "print(1)")
CONVERSATION = [
    {"role": "user", "content": "What is in a.py?"},
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "A secret thought."}],
        "encrypted_content": "Z0FB",
    },
    READ,
    RESULT,
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "It prints.", "annotations": []}],
    },
]


def test_a_conversation(api: ModuleType, rust: ModuleType) -> None:
    check_pairs(api, CONVERSATION, (READ, RESULT))
    assert shown(api, CONVERSATION) == [("Files Read", "a.py", [("python", "print(1)\n")])]
    assert rust.inspect(CONVERSATION).shape == "openai-responses"
    check_inputs(api, CONVERSATION, {"model": "m", "input": CONVERSATION, "tools": []})


def test_the_dialogue_has_no_thinking(api: ModuleType) -> None:
    said = turns((USER, "What is in a.py?"), (ASSISTANT, "It prints."))
    assert api.dialogue(CONVERSATION) == said


def test_call_id_comes_before_id(api: ModuleType) -> None:
    first, second = call("call_1", id="call_2"), call("call_2", id="call_1")
    of_second, of_first = output("call_2", id="call_1"), output("call_1", id="call_2")
    messages = [first, second, of_second, of_first]
    check_pairs(api, messages, (first, of_first), (second, of_second))


def test_an_output_may_name_its_call_as_its_id(api: ModuleType) -> None:
    """``local_shell_call_output`` has no ``call_id`` in the SDK: its ``id`` is that of the call."""
    run = local_shell("ls", "call_1")
    answer = {"type": "local_shell_call_output", "id": "call_1", "output": "a.py"}
    check_pairs(api, [run, answer], (run, answer))


def test_without_ids_order_decides(api: ModuleType) -> None:
    first, second, third = call(None, "f"), call(None, "g"), call(None, "f")
    answers = [output(None, "1"), output(None, "2"), output(None, "3")]
    messages = [first, second, *answers[:2], third, answers[2]]
    check_pairs(api, messages, *zip((first, second, third), answers, strict=True))


@pytest.mark.parametrize("empty", ["", None])
def test_an_empty_id_is_not_one(api: ModuleType, empty: Any) -> None:
    calls = [call(None, "f") | {"call_id": empty}, call(None, "g") | {"call_id": empty}]
    answers = [output(None, "1") | {"call_id": empty}, output(None, "2") | {"call_id": empty}]
    check_pairs(api, calls + answers, *zip(calls, answers, strict=True))


def local_shell(command: str, call_id: str) -> JsonObject:
    action = {"type": "exec", "command": ["bash", "-lc", command], "env": {}}
    return {
        "type": "local_shell_call",
        "id": f"lsh_{call_id}",
        "call_id": call_id,
        "action": action,
        "status": "completed",
    }


BUILT_IN: dict[str, JsonObject] = {
    "web_search": {"type": "web_search_call", "action": {"type": "search", "query": "q"}},
    "file_search": {"type": "file_search_call", "queries": ["q"], "results": None},
    "code_interpreter": {"type": "code_interpreter_call", "code": "1 + 1", "outputs": None},
    "image_generation": {"type": "image_generation_call", "result": "QUJD"},
    "local_shell": local_shell("ls", "call_1"),
    "shell": {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}},
    "computer": {"type": "computer_call", "call_id": "c", "action": {"type": "screenshot"}},
    "apply_patch": {"type": "apply_patch_call", "call_id": "c", "operation": {"path": "a.py"}},
    "tool_search": {"type": "tool_search_call", "call_id": "c", "arguments": {"query": "q"}},
    "ask": {"type": "mcp_call", "id": "mcp_1", "name": "ask", "server_label": "s"},
}


@for_each("name", BUILT_IN)
def test_names_of_built_in_calls(api: ModuleType, name: str) -> None:
    assert only_block(api, BUILT_IN[name]).tool_name == name


@pytest.mark.parametrize("kind", ["reasoning", "item_reference", "mcp_list_tools", "compaction"])
def test_items_that_are_no_calls(api: ModuleType, kind: str) -> None:
    item = {"type": kind, "id": "x_1", "call_id": "call_1", "tools": []}
    check_pairs(api, [READ, item, RESULT], (READ, RESULT))


def test_a_custom_call_is_given_free_text(api: ModuleType) -> None:
    run = {"type": "custom_tool_call", "call_id": "c", "name": "grep", "input": "fn main"}
    answer = {"type": "custom_tool_call_output", "call_id": "c", "output": "a.rs:1"}
    assert shown(api, [run, answer]) == [
        ("Other Tools", 'grep(input="fn main")', [("", "a.rs:1\n")])
    ]
    check_pairs(api, [run, answer], (run, answer))
    check_inputs(api, [run, answer], {"input": [run, answer]})


def test_free_text_that_looks_like_json_stays_text(api: ModuleType) -> None:
    run = {"type": "custom_tool_call", "call_id": "c", "name": "Read", "input": '{"path": "a"}'}
    assert only_block(api, run).dedup_key is None


def test_arguments_as_an_object(api: ModuleType) -> None:
    item = call("c", "read_file") | {"arguments": {"path": "a.py"}}
    assert only_block(api, item).dedup_key == "read:a.py"


def test_arguments_that_are_no_json(api: ModuleType) -> None:
    item = call("c", "read_file", '{"path": "a.')
    assert only_block(api, item).dedup_key is None


@for_each(
    ("item", "text"),
    [
        (BUILT_IN["ask"] | {"arguments": '{"q": "x"}', "output": "an answer"}, "an answer"),
        (
            BUILT_IN["file_search"] | {"results": [{"file_id": "f", "text": "found"}]},
            '{"file_id":"f","text":"found"}',
        ),
        (
            BUILT_IN["code_interpreter"]
            | {"outputs": [{"type": "image", "url": "https://x.org/a"}]},
            "[image: https://x.org/a]",
        ),
        (BUILT_IN["image_generation"], "[image: 3 bytes]"),
        (BUILT_IN["web_search"], "(no output)"),
    ],
    ids=lambda item: item["type"] if isinstance(item, dict) else "",
)
def test_a_server_side_item_is_call_and_result(
    api: ModuleType, item: JsonObject, text: str
) -> None:
    check_pairs(api, [item], (item, item))
    assert shown_text(api, [item]) == text
    assert not only_block(api, item).is_error


def test_the_logs_of_code_are_text(api: ModuleType) -> None:
    logs = {"type": "logs", "logs": "one\ntwo"}
    assert shown_text(api, [BUILT_IN["code_interpreter"] | {"outputs": [logs]}]) == "one\ntwo"


@pytest.mark.parametrize(
    "item",
    [
        BUILT_IN["ask"] | {"error": "no such tool", "output": None},
        BUILT_IN["web_search"] | {"status": "failed"},
        BUILT_IN["code_interpreter"] | {"status": "incomplete"},
    ],
)
def test_a_server_side_item_may_fail(api: ModuleType, item: JsonObject) -> None:
    assert only_block(api, item).is_error


def test_a_failed_patch_is_an_error(api: ModuleType) -> None:
    """An ``apply_patch_call_output`` reports success or failure in its status: ``completed`` or ``failed``."""
    kind = "apply_patch_call_output"
    for status, is_error in (("failed", True), ("completed", False)):
        answer = {"type": kind, "call_id": "c", "status": status, "output": "no such file"}
        assert only_block(api, BUILT_IN["apply_patch"], answer).is_error is is_error


def test_server_items_without_ids_keep_their_results(api: ModuleType) -> None:
    search, code = BUILT_IN["web_search"], BUILT_IN["code_interpreter"]
    check_pairs(api, [search, code, search], (search, search), (code, code), (search, search))


def test_a_server_side_item_takes_no_other_call(api: ModuleType) -> None:
    run, search, answer = call(None, "f"), BUILT_IN["web_search"], output(None, "of f")
    check_pairs(api, [run, search, answer], (run, answer), (search, search))


def test_tools_that_a_search_found_are_not_lost(api: ModuleType) -> None:
    tools = [{"type": "function", "name": "get_weather"}]
    answer = {"type": "tool_search_output", "call_id": "c", "tools": tools}
    assert "get_weather" in shown_text(api, [BUILT_IN["tool_search"], answer])


def test_a_shell_result_is_its_output(api: ModuleType) -> None:
    printed = [{"stdout": "a.py", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
    answer = {"type": "shell_call_output", "call_id": "c", "output": printed}
    check_pairs(api, [BUILT_IN["shell"], answer], (BUILT_IN["shell"], answer))
    assert "a.py" in shown_text(api, [BUILT_IN["shell"], answer])


@for_each(
    ("outcome", "is_error"),
    [
        ({"type": "exit", "exit_code": 0}, False),
        ({"type": "exit", "exit_code": 2}, True),
        ({"type": "exit", "exit_code": -(1 << 63)}, False),
        ({"type": "exit", "exit_code": 1 << 70}, False),  # none that a system gives
        ({"type": "exit", "exit_code": True}, False),
        ({"type": "exit"}, False),
        ({"type": "timeout"}, True),
        ("exit", False),
    ],
    ids=str,
)
def test_a_shell_that_failed(api: ModuleType, outcome: Any, is_error: bool) -> None:
    """One of its commands is enough."""
    done = {"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
    printed = [done, {"stdout": "", "stderr": "b", "outcome": outcome}, "x"]
    answer = {"type": "shell_call_output", "call_id": "c", "output": printed}
    for messages in ([BUILT_IN["shell"], answer], json.dumps([BUILT_IN["shell"], answer]).encode()):
        assert [block.is_error for block in api.extract_tool_blocks(messages)] == [is_error]
    other = {**answer, "type": "function_call_output"}  # an answer of any tool
    assert not only_block(api, call("c", "f"), other).is_error


@pytest.mark.parametrize("exit_code", [-(1 << 63), 1 << 33, 1 << 70])
def test_an_exit_code_that_no_system_gives(api: ModuleType, exit_code: int) -> None:
    packed = json.dumps({"output": "boom", "metadata": {"exit_code": exit_code}})
    messages = [local_shell("ls", "c"), output("c", packed)]
    for given in (messages, json.dumps(messages).encode()):
        assert [block.is_error for block in api.extract_tool_blocks(given)] == [False]
        assert packed.replace(" ", "") in api.carry(given).text.replace(" ", "")


@pytest.mark.parametrize("exit_code", [0, 1])
def test_an_output_with_its_exit_code(api: ModuleType, exit_code: int) -> None:
    packed = json.dumps({"output": "boom", "metadata": {"exit_code": exit_code}})
    messages = [local_shell("ls", "c"), output("c", packed)]
    assert only_block(api, *messages).is_error is (exit_code != 0)
    assert shown_text(api, messages) == "boom"


@pytest.mark.parametrize(
    ("text", "is_error"),
    [('{"output": "x"}', False), ('{"metadata": {"exit_code": 1}}', True), ("{bad", False)],
)
def test_an_output_that_only_looks_packed(api: ModuleType, text: str, is_error: bool) -> None:
    """It stays as it is, and an exit code in it counts."""
    messages = [local_shell("ls", "c"), output("c", text)]
    assert only_block(api, *messages).is_error is is_error
    assert shown_text(api, messages) == text


def test_the_last_run_counts(api: ModuleType) -> None:
    first, second = local_shell("git status", "c1"), local_shell("git status", "c2")
    messages = [first, output("c1", "old"), second, output("c2", "new")]
    assert headings(api, messages) == ["git status (latest of 2 runs)"]
    assert shown_text(api, messages) == "new"


def test_the_last_read_counts(api: ModuleType, rust: ModuleType) -> None:
    again = READ | {"call_id": "call_2"}
    messages = [READ, RESULT, again, output("call_2", "print(2)")]
    assert shown_text(api, messages) == "print(2)"
    assert rust.inspect(messages).duplicates == 1


def test_a_second_output_is_kept_aside(api: ModuleType) -> None:
    second = output("call_1", "again")
    block = only_block(api, READ, RESULT, second)
    assert block.tool_result is RESULT
    assert block.notes.second_results == (second,)
