"""LangChain's ``messages_to_dict``: ``{"type": "ai", "data": {...}}``."""

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
from support.rows import for_each


def message(kind: str, content: Any, **more: Any) -> JsonObject:
    data = {"content": content, "additional_kwargs": {}, "response_metadata": {}, "type": kind}
    return {"type": kind, "data": data | more}


def call(call_id: str | None, name: str, **args: Any) -> JsonObject:
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


def ai(content: Any, *calls: JsonObject, **more: Any) -> JsonObject:
    return message("ai", content, tool_calls=list(calls), invalid_tool_calls=[], **more)


def tool(call_id: str | None, content: Any, **more: Any) -> JsonObject:
    return message("tool", content, tool_call_id=call_id, artifact=None, **more)


READ = call("call_1", "read_file", path="a.py")
RESULT = tool("call_1", "print(1)", name="read_file", status="success")
CONVERSATION = [
    message("system", "Be kind."),
    message("human", "What is in a.py?"),
    ai(
        [
            {"type": "thinking", "thinking": "A secret thought."},
            {"type": "text", "text": "I look."},
        ],
        READ,
    ),
    RESULT,
    ai("It prints.", usage_metadata={"input_tokens": 1}),
]


def test_a_conversation(api: ModuleType, rust: ModuleType) -> None:
    check_pairs(api, CONVERSATION, (READ, RESULT))
    assert shown(api, CONVERSATION) == [("Files Read", "a.py", [("python", "print(1)\n")])]
    assert rust.inspect(CONVERSATION).shape == "langchain"
    check_inputs(api, CONVERSATION, {"messages": CONVERSATION})


def test_the_dialogue_has_no_thinking(api: ModuleType) -> None:
    assert api.dialogue(CONVERSATION) == turns(
        (USER, "What is in a.py?"), (ASSISTANT, "I look."), (ASSISTANT, "It prints.")
    )


@pytest.mark.parametrize(
    ("status", "is_error"), [("error", True), ("success", False), (None, False)]
)
def test_the_status_tells_errors(api: ModuleType, status: Any, is_error: bool) -> None:
    answer = tool("c", "x", status=status)
    assert only_block(api, ai("", call("c", "f")), answer).is_error is is_error


def test_parallel_calls_in_another_order(api: ModuleType) -> None:
    first, second = call("c1", "f"), call("c2", "f")
    of_second, of_first = tool("c2", "2"), tool("c1", "1")
    check_pairs(
        api, [ai("", first, second), of_second, of_first], (first, of_first), (second, of_second)
    )


def test_without_ids_name_and_order_decide(api: ModuleType) -> None:
    calls = [call(None, "f", a=1), call(None, "g"), call(None, "f", a=2)]
    of_g, first, last = (
        tool(None, "g", name="g"),
        tool(None, "1", name="f"),
        tool(None, "2", name="f"),
    )
    messages = [ai("", *calls), of_g, first, last]
    check_pairs(api, messages, (calls[0], first), (calls[1], of_g), (calls[2], last))


def test_a_call_with_arguments_that_are_no_json(api: ModuleType) -> None:
    bad = {"name": "f", "args": '{"a": ', "id": "c", "error": "e", "type": "invalid_tool_call"}
    answer = tool("c", "Mend the arguments.", status="error")
    messages = [ai("") | {}, answer]
    messages[0]["data"]["invalid_tool_calls"] = [bad]
    check_pairs(api, messages, (bad, answer))
    check_inputs(api, messages)


def test_the_provider_call_is_the_same_call(api: ModuleType) -> None:
    """The provider's raw call, in ``additional_kwargs`` (OpenAI) or in the content (Anthropic), repeats ``tool_calls``."""
    function = {"name": "read_file", "arguments": json.dumps({"path": "a.py"})}
    raw = {"tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
    block = {"type": "tool_use", "id": "call_1", "name": "read_file", "input": {"path": "a.py"}}
    for said in (ai("", READ, additional_kwargs=raw), ai([block], READ)):
        check_pairs(api, [said, RESULT], (READ, RESULT))


def test_an_older_message_has_only_the_provider_call(api: ModuleType) -> None:
    function = {"name": "read_file", "arguments": json.dumps({"path": "a.py"})}
    raw = {"id": "call_1", "type": "function", "function": function}
    said = message("ai", "", additional_kwargs={"tool_calls": [raw]})
    check_pairs(api, [said, RESULT], (raw, RESULT))
    assert shown_text(api, [said, RESULT]) == "print(1)"
    legacy = message("ai", "", additional_kwargs={"function_call": function})
    answer = message("function", "print(1)", name="read_file")
    check_pairs(api, [legacy, answer], (function, answer))
    check_inputs(api, [legacy, answer])


def test_an_older_call_has_no_type(api: ModuleType) -> None:
    untyped = {key: value for key, value in READ.items() if key != "type"}
    messages = [ai("", untyped), RESULT]
    check_pairs(api, messages, (untyped, RESULT))
    assert headings(api, messages) == ["a.py"]
    check_inputs(api, messages)


def test_a_streamed_message(api: ModuleType) -> None:
    said = message("AIMessageChunk", "I look.", tool_calls=[READ], tool_call_chunks=[{"name": "x"}])
    check_pairs(api, [said, RESULT], (READ, RESULT))
    assert api.dialogue([said]) == turns((ASSISTANT, "I look."))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("one", "one"),
        (["one", {"type": "text", "text": "two"}], "one\ntwo"),
        ([{"type": "json", "json": {"a": 1}}], '{"type":"json","json":{"a":1}}'),
        ("", "(no output)"),
    ],
)
def test_the_text_of_a_result(api: ModuleType, content: Any, text: str) -> None:
    assert shown_text(api, [ai("", call("c", "f")), tool("c", content)]) == text


def test_an_artifact_is_not_for_the_model(api: ModuleType) -> None:
    answer = tool("c", "two rows")
    answer["data"]["artifact"] = {"rows": ["A secret row."]}
    assert shown_text(api, [ai("", call("c", "f")), answer]) == "two rows"


def test_the_last_read_and_the_last_run_count(api: ModuleType) -> None:
    again = [ai("", call("c2", "Read", file_path="a.py")), tool("c2", "print(2)")]
    assert shown_text(api, [*CONVERSATION, *again]) == "print(2)"
    runs = [
        ai("", call("c3", "terminal", command="ls")),
        tool("c3", "old"),
        ai("", call("c4", "terminal", command="ls")),
        tool("c4", "new"),
    ]
    assert headings(api, runs) == ["ls (latest of 2 runs)"]
    assert shown_text(api, runs) == "new"


def test_orphans_and_second_results(rust: ModuleType) -> None:
    messages = [
        ai("", call("c1", "f"), call("c2", "f")),
        tool("c1", "1"),
        tool("c1", "2"),
        tool("x", "3"),
    ]
    survey = rust.inspect(messages)
    assert (survey.orphan_calls, survey.orphan_results, survey.duplicate_results) == (1, 1, 1)


@for_each("data", [None, "text", 7, [], {}, {"tool_calls": "none"}])
def test_a_message_without_calls(api: ModuleType, data: Any) -> None:
    assert blocks(api, [{"type": "ai", "data": data}, {"type": "human", "data": data}]) == []
