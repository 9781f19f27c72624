"""Gemini: parts of ``contents`` that hold ``functionCall`` or ``functionResponse``, often without ids."""

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


def call(name: str, call_id: str | None = None, **args: Any) -> JsonObject:
    named = {} if call_id is None else {"id": call_id}
    return {"functionCall": {"name": name, "args": args, **named}}


def response(name: str, answer: Any, call_id: str | None = None) -> JsonObject:
    named = {} if call_id is None else {"id": call_id}
    return {"functionResponse": {"name": name, "response": answer, **named}}


def model(*parts: JsonObject) -> JsonObject:
    return {"role": "model", "parts": list(parts)}


def user(*parts: JsonObject) -> JsonObject:
    return {"role": "user", "parts": list(parts)}


READ = call("read_file", path="a.py") | {"thoughtSignature": "QUJD"}
RESULT = response("read_file", {"output": "print(1)"})
CONVERSATION = [
    user({"text": "What is in a.py?"}),
    model({"text": "A secret thought.", "thought": True}, {"text": "I look."}, READ),
    user(RESULT),
    model({"text": "It prints."}),
]


def test_a_conversation(api: ModuleType, rust: ModuleType) -> None:
    check_pairs(api, CONVERSATION, (READ, RESULT))
    assert shown(api, CONVERSATION) == [("Files Read", "a.py", [("python", "print(1)\n")])]
    assert rust.inspect(CONVERSATION).shape == "gemini"
    check_inputs(api, CONVERSATION, {"contents": CONVERSATION, "generationConfig": {}})


def test_the_dialogue_has_no_thinking(api: ModuleType) -> None:
    assert api.dialogue(CONVERSATION) == turns(
        (USER, "What is in a.py?"), (ASSISTANT, "I look."), (ASSISTANT, "It prints.")
    )


def test_parallel_calls_of_one_name_without_ids(api: ModuleType) -> None:
    calls = [call("f", path=path) for path in "abc"]
    answers = [response("f", {"result": path}) for path in "abc"]
    pairs = list(zip(calls, answers, strict=True))
    check_pairs(api, [model(*calls), user(*answers)], *pairs)
    check_pairs(api, [model(*calls), *(user(answer) for answer in answers)], *pairs)
    check_inputs(api, [model(*calls), user(*answers)])


def test_without_ids_the_name_decides(api: ModuleType) -> None:
    f, g = call("f"), call("g")
    of_g, of_f = response("g", {"result": "g"}), response("f", {"result": "f"})
    check_pairs(api, [model(f, g), user(of_g, of_f)], (f, of_f), (g, of_g))


def test_without_ids_a_turn_keeps_its_own(api: ModuleType) -> None:
    first, second, answer = call("f", a=1), call("f", a=2), response("f", {"result": "2"})
    messages = [model(first), user({"text": "Stop."}), model(second), user(answer)]
    more = [*messages, model(third := call("f", a=3)), user(last := response("f", {"result": "3"}))]
    found = blocks(api, more)
    assert found[-1].tool_use is third
    assert found[-1].tool_result is last
    assert [block.tool_result for block in found].count(None) == 1


def test_ids_decide_before_order(api: ModuleType) -> None:
    first, second = call("f", "c1"), call("f", "c2")
    of_second, of_first = response("f", {"result": 2}, "c2"), response("f", {"result": 1}, "c1")
    messages = [model(first, second), user(of_second, of_first)]
    check_pairs(api, messages, (first, of_first), (second, of_second))


def test_an_old_response_has_the_role_function(api: ModuleType, rust: ModuleType) -> None:
    messages = [model(READ), {"role": "function", "parts": [RESULT]}]
    check_pairs(api, messages, (READ, RESULT))
    assert rust.inspect(messages).shape == "gemini"
    check_inputs(api, messages, {"contents": messages})


def test_names_as_python_writes_them(api: ModuleType) -> None:
    run = {"function_call": {"name": "read_file", "args": {"path": "a.py"}, "id": None}}
    answer = {"function_response": {"name": "read_file", "response": {"result": "x"}, "id": None}}
    check_pairs(api, [model(run), user(answer)], (run, answer))
    assert only_block(api, model(run)).dedup_key == "read:a.py"
    assert shown_text(api, [model(run), user(answer)]) == "x"


@for_each(
    ("answer", "text"),
    [
        ({"output": "print(1)"}, "print(1)"),
        ({"result": "print(1)"}, "print(1)"),
        ({"return_value": "Mexico"}, '{"return_value":"Mexico"}'),
        ({"result": [1, {"a": None}]}, '1\n{"a":null}'),
        ({"output": "x", "lines": 3}, '{"output":"x","lines":3}'),
        ({"output": None}, '{"output":null}'),
        ({"result": False}, "false"),
        ({}, "{}"),
        ({"text": "a page", "status": 200}, '{"text":"a page","status":200}'),
        ({"type": "row", "data": "words"}, '{"type":"row","data":"words"}'),
    ],
)
def test_the_text_of_a_response(api: ModuleType, answer: Any, text: str) -> None:
    """The object that a function returned: the value of a single known key, or the whole object."""
    assert shown_text(api, [model(call("f")), user(response("f", answer))]) == text


@for_each(
    ("answer", "is_error"),
    [
        ({"error": "no such file"}, True),
        ({"error": {"code": 404}}, True),
        ({"error": "no such file", "output": "partly"}, True),
        ({"error": None, "output": "x"}, False),
        ({"output": "error"}, False),
    ],
)
def test_errors(api: ModuleType, answer: Any, is_error: bool) -> None:
    block = only_block(api, model(call("f")), user(response("f", answer)))
    assert block.is_error is is_error


def test_an_error_with_media_next_to_it(api: ModuleType) -> None:
    answer = response("f", {"error": "timed out"})
    media = {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}
    answer["functionResponse"]["parts"] = [media]
    assert only_block(api, model(call("f")), user(answer)).is_error


@pytest.mark.parametrize("outcome", ["OUTCOME_OK", "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED"])
def test_code_that_ran_on_the_server(api: ModuleType, outcome: str) -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
    ran = {"codeExecutionResult": {"outcome": outcome, "output": "1"}}
    messages = [model({"text": "I count."}, code, ran, {"text": "One."})]
    check_pairs(api, messages, (code, ran))
    block = only_block(api, *messages)
    assert (block.tool_name, block.is_error) == ("code_execution", outcome != "OUTCOME_OK")
    assert shown_text(api, messages) == "1"
    assert api.dialogue(messages) == turns((ASSISTANT, "I count.\nOne."))
    check_inputs(api, messages, {"contents": messages})


def test_code_twice_in_one_message(api: ModuleType) -> None:
    codes = [{"executableCode": {"code": number}} for number in "12"]
    runs = [{"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": number}} for number in "12"]
    pairs = list(zip(codes, runs, strict=True))
    check_pairs(api, [model(*(part for pair in pairs for part in pair))], *pairs)


def test_a_tool_of_the_server(api: ModuleType) -> None:
    run = {"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["q"]}}}
    answer = {"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"a": 1}}}
    messages = [model(run, answer)]
    check_pairs(api, messages, (run, answer))
    assert only_block(api, *messages).tool_name == "GOOGLE_SEARCH_WEB"
    assert shown_text(api, messages) == '{"a":1}'


def test_the_last_read_and_the_last_run_count(api: ModuleType) -> None:
    def run(name: str, answer: str, **args: Any) -> list[JsonObject]:
        return [model(call(name, **args)), user(response(name, {"output": answer}))]

    reads = [*run("read_file", "old", path="a.py"), *run("read_file", "new", path="a.py")]
    assert shown_text(api, reads) == "new"
    runs = [
        *run("run_shell_command", "old", command="ls"),
        *run("run_shell_command", "new", command="ls"),
    ]
    assert headings(api, runs) == ["ls (latest of 2 runs)"]
    assert shown_text(api, runs) == "new"


def test_orphans(rust: ModuleType) -> None:
    survey = rust.inspect([user(response("f", {"output": "x"})), model(call("g"))])
    assert (survey.orphan_calls, survey.orphan_results) == (1, 1)
    assert sorted(survey.tools) == ["f", "g"]


@for_each(
    "part",
    [{}, {"functionCall": None}, {"functionCall": "f"}, {"functionResponse": []}, {"text": None}],
)
def test_parts_that_say_nothing(api: ModuleType, part: JsonObject) -> None:
    assert blocks(api, [model(part), user(part)]) == []


def test_a_call_without_anything(api: ModuleType) -> None:
    block = only_block(api, model({"functionCall": {}}))
    assert (block.tool_name, block.call_id) == ("unknown", "")


def test_parts_of_the_model_context_protocol(api: ModuleType) -> None:
    """Clients put them between Gemini's own. A part with any other type is of another format."""
    link = {"type": "resource_link", "uri": "https://example.org/a.png", "name": "a"}
    check_pairs(api, [model({"text": "Look."}, link, READ), user(RESULT, link)], (READ, RESULT))
    assert api.carry([user({"text": "Look."}, link)]).report.unread.count == 0
    assert api.carry([user({"type": "text", "text": "Look."}, link)]).report.unread.count == 1
