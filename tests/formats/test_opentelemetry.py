"""OpenTelemetry's ``gen_ai.input.messages``: typed parts, ``tool_call`` and ``tool_call_response`` among them."""

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


def text(content: str) -> JsonObject:
    return {"type": "text", "content": content}


def call(call_id: str | None, name: str, arguments: Any = None) -> JsonObject:
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def response(call_id: str | None, answer: Any) -> JsonObject:
    return {"type": "tool_call_response", "id": call_id, "response": answer}


def said(role: str, *parts: Any, **more: Any) -> JsonObject:
    return {"role": role, "parts": list(parts), **more}


READ = call("call_1", "read_file", {"path": "a.py"})
RESULT = response("call_1", "print(1)")
CONVERSATION = [
    said("system", text("Be kind.")),
    said("user", text("What is in a.py?")),
    said("assistant", {"type": "reasoning", "content": "A secret thought."}, text("I look."), READ),
    said("tool", RESULT),
    said("assistant", text("It prints."), finish_reason="stop"),
]


def test_a_conversation(api: ModuleType, rust: ModuleType) -> None:
    check_pairs(api, CONVERSATION, (READ, RESULT))
    assert shown(api, CONVERSATION) == [("Files Read", "a.py", [("python", "print(1)\n")])]
    assert rust.inspect(CONVERSATION).shape == "opentelemetry"
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": CONVERSATION}
    check_inputs(api, CONVERSATION, attributes)


def test_the_dialogue_has_no_thinking(api: ModuleType) -> None:
    assert api.dialogue(CONVERSATION) == turns(
        (USER, "What is in a.py?"), (ASSISTANT, "I look."), (ASSISTANT, "It prints.")
    )


@pytest.mark.parametrize("arguments", [{"path": "a.py"}, '{"path": "a.py"}'])
def test_arguments_as_an_object_and_as_text(api: ModuleType, arguments: Any) -> None:
    assert (
        only_block(api, said("assistant", call("c", "read_file", arguments))).dedup_key
        == "read:a.py"
    )


@for_each("arguments", [None, "", "not json", [1], 7])
def test_arguments_that_are_no_object(api: ModuleType, arguments: Any) -> None:
    assert only_block(api, said("assistant", call("c", "read_file", arguments))).dedup_key is None


def test_parallel_calls_in_another_order(api: ModuleType) -> None:
    first, second = call("c1", "f"), call("c2", "f")
    of_second, of_first = response("c2", 2), response("c1", 1)
    messages = [said("assistant", first, second), said("tool", of_second), said("tool", of_first)]
    check_pairs(api, messages, (first, of_first), (second, of_second))


def test_without_ids_order_decides(api: ModuleType) -> None:
    """The id is optional, and a response has no name."""
    calls = [{"type": "tool_call", "name": name} for name in ("f", "g")]
    answers = [{"type": "tool_call_response", "response": name} for name in ("f", "g")]
    messages = [said("assistant", *calls), said("tool", *answers)]
    check_pairs(api, messages, *zip(calls, answers, strict=True))


@for_each(
    ("answer", "shown_as"),
    [
        ("words", "words"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        ([text("one"), text("two")], "one\ntwo"),
        (None, "(no output)"),
        (0, "0"),
        (False, "false"),
        ({"text": "a page", "status": 200}, '{"text":"a page","status":200}'),
    ],
)
def test_the_text_of_a_response(api: ModuleType, answer: Any, shown_as: str) -> None:
    messages = [said("assistant", call("c", "f")), said("tool", response("c", answer))]
    assert shown_text(api, messages) == shown_as


def test_an_older_response_is_a_result(api: ModuleType) -> None:
    answer = {"type": "tool_call_response", "id": "c", "result": "words"}
    assert shown_text(api, [said("assistant", call("c", "f")), said("tool", answer)]) == "words"


def test_a_tool_of_the_server(api: ModuleType) -> None:
    run = {
        "type": "server_tool_call",
        "id": "s1",
        "name": "code_interpreter",
        "server_tool_call": {"type": "code_interpreter", "code": "1 + 1"},
    }
    ran = {
        "type": "server_tool_call_response",
        "id": "s1",
        "server_tool_call_response": {"type": "code_interpreter", "outputs": "2"},
    }
    messages = [said("assistant", run, ran, text("Two."))]
    check_pairs(api, messages, (run, ran))
    assert only_block(api, *messages).tool_name == "code_interpreter"
    assert '"outputs":"2"' in shown_text(api, messages)
    check_inputs(api, messages, {"gen_ai.input.messages": messages})


def test_the_last_read_and_the_last_run_count(api: ModuleType) -> None:
    again = [
        said("assistant", call("c2", "Read", {"file_path": "a.py"})),
        said("tool", response("c2", "print(2)")),
    ]
    assert shown_text(api, [*CONVERSATION, *again]) == "print(2)"
    runs = [
        said("assistant", call("c3", "bash", {"command": "ls"})),
        said("tool", response("c3", "old")),
        said("assistant", call("c4", "bash", {"command": "ls"})),
        said("tool", response("c4", "new")),
    ]
    assert headings(api, runs) == ["ls (latest of 2 runs)"]
    assert shown_text(api, runs) == "new"


def test_orphans_and_second_results(rust: ModuleType) -> None:
    messages = [
        said("assistant", call("c1", "f"), call("c2", "f")),
        said("tool", response("c1", 1), response("c1", 2), response("gone", 3)),
    ]
    survey = rust.inspect(messages)
    assert (survey.orphan_calls, survey.orphan_results, survey.duplicate_results) == (1, 1, 1)


@for_each(
    "part",
    [
        READ | {"type": "generic"},
        {"type": "blob", "modality": "image", "content": "aGk="},
        {"type": "file", "modality": "image", "file_id": "f1"},
        {"type": "uri", "modality": "image", "uri": "https://example.org/a.png"},
        {"type": "reasoning", "content": "Hm."},
        text("Hello."),
    ],
    ids=lambda part: part["type"],
)
def test_other_parts_are_no_calls(api: ModuleType, rust: ModuleType, part: JsonObject) -> None:
    assert blocks(api, [said("assistant", part)]) == []
    assert rust.inspect([said("assistant", part)]).shape == "opentelemetry"


@for_each("part", [None, 7, "text", [], {}, {"type": None}, {"type": ["tool_call"]}])
def test_parts_that_say_nothing(api: ModuleType, part: Any) -> None:
    check_pairs(api, [said("assistant", part, READ), said("tool", RESULT)], (READ, RESULT))
