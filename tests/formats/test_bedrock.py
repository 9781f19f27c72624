"""Bedrock Converse: blocks of the content that hold ``toolUse`` or ``toolResult``."""

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


def use(call_id: str, name: str = "bash", **given: Any) -> JsonObject:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": given}}


def result(call_id: str, *content: JsonObject, **more: Any) -> JsonObject:
    return {"toolResult": {"toolUseId": call_id, "content": list(content), **more}}


def text(value: str) -> JsonObject:
    return {"text": value}


def assistant(*content: JsonObject) -> JsonObject:
    return {"role": "assistant", "content": list(content)}


def user(*content: JsonObject) -> JsonObject:
    return {"role": "user", "content": list(content)}


READ = use("tooluse_1", "read_file", path="a.py")
RESULT = result("tooluse_1", text("print(1)"), status="success")
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "A secret thought.", "signature": "x"}}}
CONVERSATION = [
    user(text("What is in a.py?"), {"cachePoint": {"type": "default"}}),
    assistant(THOUGHT, text("I look."), READ),
    user(RESULT),
    assistant(text("It prints.")),
]


def test_a_conversation(api: ModuleType, rust: ModuleType) -> None:
    check_pairs(api, CONVERSATION, (READ, RESULT))
    assert shown(api, CONVERSATION) == [("Files Read", "a.py", [("python", "print(1)\n")])]
    assert rust.inspect(CONVERSATION).shape == "bedrock"
    request = {"system": [text("Be kind.")], "messages": CONVERSATION, "inferenceConfig": {}}
    check_inputs(api, CONVERSATION, request)


def test_the_dialogue_has_no_thinking(api: ModuleType) -> None:
    assert api.dialogue(CONVERSATION) == turns(
        (USER, "What is in a.py?"), (ASSISTANT, "I look."), (ASSISTANT, "It prints.")
    )


@pytest.mark.parametrize(
    ("more", "is_error"),
    [
        ({"status": "error"}, True),
        ({"status": "success"}, False),
        ({}, False),
        ({"status": 1}, False),
    ],
)
def test_the_status_tells_errors(api: ModuleType, more: JsonObject, is_error: bool) -> None:
    messages = [assistant(use("t1")), user(result("t1", text("x"), **more))]
    assert only_block(api, *messages).is_error is is_error


@for_each(
    ("content", "shown_as"),
    [
        ([text("one"), text("two")], "one\ntwo"),
        ([{"json": {"a": [1, None]}}], '{"a":[1,null]}'),
        ([{"json": {"text": "a page", "status": 200}}], '{"text":"a page","status":200}'),
        ([], "(no output)"),
        ([{"document": {"name": "d", "format": "txt", "source": {"text": "words"}}}], "words"),
        (
            [{"document": {"name": "d", "format": "txt", "source": {"content": [text("words")]}}}],
            "words",
        ),
    ],
)
def test_the_text_of_a_result(api: ModuleType, content: list[JsonObject], shown_as: str) -> None:
    messages = [assistant(use("t1", "f")), user(result("t1", *content))]
    assert shown_text(api, messages) == shown_as


def test_a_search_result_is_not_lost(api: ModuleType) -> None:
    found = {"searchResult": {"source": "https://x.org", "title": "X", "content": [text("words")]}}
    messages = [assistant(use("t1", "f")), user(result("t1", found))]
    assert "words" in shown_text(api, messages)
    assert "https://x.org" in shown_text(api, messages)


def test_parallel_calls_in_another_order(api: ModuleType) -> None:
    first, second = use("t1", command="ls"), use("t2", command="pwd")
    of_second, of_first = result("t2", text("/")), result("t1", text("a.py"))
    messages = [assistant(first, second), user(of_second, of_first, text("Go on."))]
    check_pairs(api, messages, (first, of_first), (second, of_second))


def test_without_ids_order_decides(api: ModuleType) -> None:
    calls: list[JsonObject] = [{"toolUse": {"name": name, "input": {}}} for name in ("f", "g")]
    answers = [{"toolResult": {"content": [text(name)]}} for name in ("f", "g")]
    messages = [assistant(*calls), user(*answers)]
    check_pairs(api, messages, *zip(calls, answers, strict=True))


def test_a_tool_of_the_server(api: ModuleType) -> None:
    """Nova's code interpreter: call and result are both in the assistant message, with a type on each."""
    run = use("t1", "nova_code_interpreter", snippet="1 + 1")
    run["toolUse"]["type"] = "server_tool_use"
    ran = result("t1", {"json": {"stdOut": "2", "exitCode": 0}}, status="success")
    ran["toolResult"]["type"] = "nova_code_interpreter_result"
    final, done = use("t2", "final_result"), result("t2", text("Done."))
    messages = [assistant(run, ran, final), user(done, text("Now double it."))]
    check_pairs(api, messages, (run, ran), (final, done))
    assert shown(api, messages)[0].fences == [("", '{"stdOut":"2","exitCode":0}\n')]
    check_inputs(api, messages, {"messages": messages})


def test_a_file_that_is_read_twice(api: ModuleType) -> None:
    again = use("t2", "Read", file_path="a.py")
    messages = [
        assistant(use("t1", "Read", file_path="a.py")),
        user(result("t1", text("old"))),
        assistant(again),
        user(result("t2", text("new"))),
    ]
    assert shown_text(api, messages) == "new"
    assert api.carry(messages).report.superseded == {"later_read": 1}


def test_a_run_that_failed_at_last(api: ModuleType) -> None:
    messages = [
        assistant(use("t1", command="make")),
        user(result("t1", text("fine"))),
        assistant(use("t2", command="make")),
        user(result("t2", text("broken"), status="error")),
    ]
    assert headings(api, messages) == ["make", "make (latest of 2 runs; failed)"]


def test_orphans_and_second_results(rust: ModuleType) -> None:
    messages = [
        assistant(use("t1"), use("t2")),
        user(result("t1", text("1")), result("t1", text("again")), result("gone", text("x"))),
    ]
    survey = rust.inspect(messages)
    assert (survey.calls, survey.results) == (2, 3)
    assert (survey.orphan_calls, survey.orphan_results, survey.duplicate_results) == (1, 1, 1)


@for_each("block", [{}, {"toolUse": None}, {"toolUse": "x"}, {"toolResult": []}, 7])
def test_blocks_that_say_nothing(api: ModuleType, block: Any) -> None:
    assert blocks(api, [assistant(block), user(block)]) == []
