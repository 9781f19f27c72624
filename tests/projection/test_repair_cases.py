"""Broken requests that users of other systems reported; each case is named after its fault."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.oracles.repairs import ASK, INTERRUPTED, answer, chat, kinds, repair


def test_01_interrupted_parallel_calls(api: ModuleType) -> None:
    messages = [
        ASK,
        wire.assistant(wire.use("t1"), wire.use("t2")),
        wire.user(wire.result("t2", "real")),
        ASK,
    ]
    found = repair(api, messages)
    assert found.messages[2]["content"] == [INTERRUPTED, wire.result("t2", "real")]
    assert kinds(found) == ["missing_result"]


def test_02_a_result_whose_call_was_dropped(api: ModuleType) -> None:
    found = repair(api, [ASK, wire.user(wire.result("t1")), *wire.bash("ls", "x", "t2")])
    assert found.messages == [ASK, *wire.bash("ls", "x", "t2")]
    assert kinds(found) == ["orphan_result", "empty_message"]


def test_03_a_tail_that_begins_with_a_result(api: ModuleType) -> None:
    words = {"type": "text", "text": "And now?"}
    tail = [wire.user(wire.result("t1"), words), *wire.bash("ls", "x", "t2")]
    found = repair(api, tail)
    assert found.messages == [wire.user(words), *tail[1:]]
    assert kinds(found) == ["orphan_result"]


def test_04_a_call_that_is_open_at_the_end(api: ModuleType) -> None:
    found = repair(api, [ASK, wire.assistant(wire.use("t1"))])
    assert found.messages[2] == wire.user(INTERRUPTED)


def test_05_trimming_left_tool_messages_alone(api: ModuleType) -> None:
    messages = [
        answer("c1"),
        chat(("c2", "f"), ("c3", "g")),
        answer("c3"),
        answer("c2"),
        {"role": "user", "content": "?"},
    ]
    found = repair(api, messages, "openai")
    assert found.messages[0]["role"] == "user"
    assert found.messages[1:] == messages[1:]


def test_06_the_last_messages_begin_with_results(api: ModuleType) -> None:
    user = {"role": "user", "content": "?"}
    found = repair(api, [answer("c1"), answer("c2"), user], "openai")
    assert found.messages == [user]
    assert [(mend.kind, mend.position, mend.call_id) for mend in found.report.mends] == [
        ("orphan_result", 0, "c1"),
        ("orphan_result", 1, "c2"),
    ]


def test_07_parallel_results_in_messages_of_their_own(api: ModuleType) -> None:
    messages = [
        ASK,
        wire.assistant(wire.use("t1")),
        wire.assistant(wire.use("t2")),
        wire.user(wire.result("t1")),
        wire.user(wire.result("t2")),
    ]
    assert repair(api, messages).messages == messages  # one turn each, for the provider


def test_08_a_writer_that_dropped_a_line(api: ModuleType) -> None:
    messages = [
        ASK,
        wire.assistant(wire.use("t1"), wire.use("t2")),
        wire.user(wire.result("t3", "what the lost call gave")),
        ASK,
    ]
    before = json.dumps(messages)
    found = repair(api, messages)
    assert kinds(found) == ["orphan_result", "missing_result", "missing_result"]
    assert (found.report.orphan_calls, found.report.orphan_results) == (2, 1)
    assert api.resolve(messages, "t3") == "what the lost call gave"  # it is in what was given
    assert json.dumps(messages) == before


def test_09_an_orphan_deep_in_the_history(api: ModuleType) -> None:
    messages = [ASK, wire.assistant(wire.use("t1")), ASK]
    for number in range(2, 30):
        messages += wire.bash("ls", "x", f"t{number}")
    found = repair(api, messages)
    assert found.messages[2]["content"] == [INTERRUPTED, ASK["content"][0]]
    assert found.messages[3:] == messages[3:]


def test_10_ids_that_repeat(api: ModuleType) -> None:
    messages = [
        ASK,
        *wire.bash("ls", "a", "call_0"),
        *wire.bash("pwd", "b", "call_0"),
        *wire.bash("id", "c", "call_0_1"),
    ]
    found = repair(api, messages)
    ids = [message["content"][0]["id"] for message in found.messages[1::2]]
    assert ids == ["call_0", "call_0_2", "call_0_1"]
    assert [(mend.call_id, mend.detail) for mend in found.report.mends] == [("call_0", "call_0_2")]
    assert api.resolve(messages, "call_0#2") == "b"


def test_10_chat_repeats_ids_in_later_turns(api: ModuleType) -> None:
    messages = [chat(("call_0", "f")), answer("call_0"), chat(("call_0", "f")), answer("call_0")]
    assert repair(api, messages, "openai").messages == messages


def test_11_a_call_given_in_two_ways(api: ModuleType) -> None:
    doubled = chat(("c1", "f"), content=[{"type": "text", "text": "I look."}, wire.use("c1", "f")])
    found = repair(api, [{"role": "user", "content": "?"}, doubled, answer("c1")], "openai")
    assert found.messages[1]["content"] == [{"type": "text", "text": "I look."}]
    assert kinds(found) == ["doubled_call"]


@pytest.mark.parametrize("is_answered", [False, True])
def test_11_a_call_given_in_two_ways_under_two_names(api: ModuleType, is_answered: bool) -> None:
    """Its result is named as the call is that stays."""
    call = {"id": "t1", "function": {"name": "look", "arguments": {}}}
    said = {"role": "assistant", "content": [wire.use("t1", "seek")], "tool_calls": [call]}
    result = {"role": "tool", "tool_name": "seek", "tool_call_id": "t1", "content": "x"}
    messages = [{"role": "user", "content": "?"}, said, *[result][: int(is_answered)]]
    found = repair(api, messages, "ollama")
    assert found.messages[1]["tool_calls"] == [call]
    assert [message["tool_name"] for message in found.messages[2:]] == ["look"]


@pytest.mark.parametrize("bad", ["", "my tool!", "é", "a.b"])
def test_12_ids_that_are_refused(api: ModuleType, bad: str) -> None:
    found = repair(api, [ASK, *wire.bash("ls", "x", bad)])
    assert kinds(found) == ["renamed_id"]
    assert found.report.mends[0].call_id == bad


def test_12_ids_that_are_too_long(api: ModuleType) -> None:
    long = "call_" + "x" * 80
    found = repair(api, [chat((long, "f")), answer(long)], "openai")
    assert found.messages[0]["tool_calls"][0]["id"] == found.messages[1]["tool_call_id"]


def test_13_calls_without_ids(api: ModuleType) -> None:
    def call(name: str) -> dict[str, Any]:
        return {"functionCall": {"name": name, "args": {}}}

    def response(name: str, text: str) -> dict[str, Any]:
        return {"functionResponse": {"name": name, "response": {"output": text}}}

    contents = [
        {"role": "user", "parts": [{"text": "?"}]},
        {"role": "model", "parts": [call("f"), call("g"), call("f")]},
        {"role": "user", "parts": [response("g", "1"), {"text": "and"}, response("f", "2")]},
    ]
    found = repair(api, contents, "gemini")
    parts = found.messages[2]["parts"]
    assert parts[:2] == [response("f", "2"), response("g", "1")]
    assert parts[2]["functionResponse"]["name"] == "f"
    assert parts[3] == {"text": "and"}


def test_14_results_in_another_order(api: ModuleType) -> None:
    messages = [
        {"role": "user", "content": "?"},
        chat(("c1", "f"), ("c2", "g"), ("c3", "f")),
        answer("c3", "3"),
        answer("c1", "1"),
        answer("c2", "2"),
    ]
    assert repair(api, messages, "openai").messages == messages
    blocks = api.extract_tool_blocks(messages)
    named = [(block.call_id, (block.tool_result or {})["content"]) for block in blocks]
    assert named == [("c1", "1"), ("c2", "2"), ("c3", "3")]


def test_15_text_before_the_results(api: ModuleType) -> None:
    text = {"type": "text", "text": "Look."}
    found = repair(api, [ASK, wire.assistant(wire.use("t1")), wire.user(text, wire.result("t1"))])
    assert found.messages[2]["content"] == [wire.result("t1"), text]


def test_16_parts_next_to_a_result_survive(api: ModuleType) -> None:
    image = {"type": "image", "source": {"type": "url", "url": "https://e.org/a.png"}}
    messages = [
        ASK,
        wire.assistant(wire.use("t1")),
        wire.user(image, wire.result("t9"), wire.result("t1")),
    ]
    assert repair(api, messages).messages[2]["content"] == [wire.result("t1"), image]


def test_17_a_call_that_the_provider_answers_itself(api: ModuleType) -> None:
    own = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    answer = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    messages = [
        ASK,
        wire.assistant(own, answer, {"type": "text", "text": "Found."}, wire.use("t1")),
        wire.user(wire.result("t1")),
    ]
    assert repair(api, messages).messages == messages
    unanswered = [*messages[:2], ASK]
    found = repair(api, unanswered)
    assert found.messages[1] is unanswered[1]
    assert kinds(found) == ["missing_result"]


def test_18_a_late_result_next_to_the_one_that_was_made_up(api: ModuleType) -> None:
    made_up = wire.result("t1", "[Tool use interrupted: no result]", is_error=True)
    messages = [
        ASK,
        wire.assistant(wire.use("t1")),
        wire.user(made_up),
        *wire.bash("ls", "x", "t2"),
    ]
    messages.append(wire.user(wire.result("t1", "late, but real"), ASK["content"][0]))
    found = repair(api, messages)
    assert found.messages[2] == wire.user(wire.result("t1", "late, but real"))
    assert found.messages[-1] == wire.user(ASK["content"][0])


def test_19_two_results_for_one_call(api: ModuleType) -> None:
    messages = [
        ASK,
        wire.assistant(wire.use("t1")),
        wire.user(wire.result("t1", "a"), wire.result("t1", "b")),
    ]
    found = repair(api, messages)
    assert found.messages[2] == wire.user(wire.result("t1", "a"))
    assert kinds(found) == ["duplicate_result"]


def test_20_a_result_before_its_call(api: ModuleType) -> None:
    messages = [ASK, wire.user(wire.result("t1")), wire.assistant(wire.use("t1")), ASK]
    found = repair(api, messages)
    assert found.messages[-1]["content"] == [wire.result("t1"), ASK["content"][0]]


def test_21_thinking_stays_as_it_is(api: ModuleType) -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    messages = [ASK, wire.assistant(thought, wire.use("t1")), ASK]
    found = repair(api, messages)
    assert found.messages[1] is messages[1]
    trailing = [ASK, *wire.bash("ls", "x", "t1"), wire.assistant(thought)]
    assert repair(api, trailing).messages == trailing[:-1]


def test_22_reasoning_stays_with_its_call(api: ModuleType) -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    made = {
        "type": "function_call_output",
        "call_id": "c1",
        "output": "[Tool use interrupted: no result]",
    }
    user = {"role": "user", "content": "?"}
    found = repair(api, [user, reasoning, call, user], "responses")
    assert found.messages == [user, reasoning, call, made, user]
    assert repair(api, [user, reasoning], "responses").messages == [user]


@pytest.mark.parametrize("blank", ["", " \n"])
def test_23_blank_texts(api: ModuleType, blank: str) -> None:
    text = {"type": "text", "text": blank}
    result = wire.result("t1", [text, {"type": "text", "text": "x"}])
    messages = [
        ASK,
        wire.assistant(text, wire.use("t1")),
        wire.user(result, text),
        wire.user(text),
        ASK,
    ]
    found = repair(api, messages)
    assert found.messages == [
        ASK,
        wire.assistant(wire.use("t1")),
        wire.user(wire.result("t1", [{"type": "text", "text": "x"}])),
        ASK,
    ]
    assert (
        repair(
            api, [ASK, wire.assistant(wire.use("t1")), wire.user(wire.result("t1", ""))]
        ).report.mends
        == ()
    )
