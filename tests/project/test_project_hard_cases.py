"""What users of other systems ran into, as requests to be mended; each case is named after what went wrong there."""

import json
from types import ModuleType
from typing import Any

import pytest
import wire
from validity import problems

from toolcarry import Policy

REPAIR = Policy(repair=True)
ASK = wire.user({"type": "text", "text": "Go on."})
INTERRUPTED = wire.result("t1", "[Tool use interrupted: no result]", is_error=True)


def repair(api: ModuleType, messages: list[Any], provider: str = "anthropic") -> Any:
    """The projection, which is valid and stays as it is, through both doors."""
    projected = api.project(messages, policy=REPAIR)
    assert problems(provider, projected.messages) == []
    assert api.project(projected.messages, policy=REPAIR).messages == projected.messages
    key = {"responses": "input", "gemini": "contents"}.get(provider, "messages")
    body = json.dumps({key: messages}).encode()
    by_bytes = api.project_body(body, policy=REPAIR)
    assert json.loads(by_bytes.body)[key] == projected.messages
    assert by_bytes.report.mends == projected.report.mends
    return projected


def kinds(projected: Any) -> list[str]:
    return [mend.kind for mend in projected.report.mends]


def chat(*calls: tuple[str, str], content: Any = None) -> dict[str, Any]:
    made = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for call_id, name in calls
    ]
    return {"role": "assistant", "content": content, "tool_calls": made}


def answer(call_id: str, content: str = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def test_01_interrupted_parallel_calls(api: ModuleType) -> None:
    messages = [
        ASK,
        wire.assistant(wire.use("t1"), wire.use("t2")),
        wire.user(wire.result("t2", "real")),
        ASK,
    ]
    found = repair(api, messages)
    assert found.messages[2]["content"] == [wire.result("t2", "real"), INTERRUPTED]
    assert kinds(found) == ["missing_result"]


def test_02_a_result_whose_call_was_dropped(api: ModuleType) -> None:
    found = repair(api, [ASK, wire.user(wire.result("t1")), *wire.bash("ls", "x", "t2")])
    assert found.messages == [ASK, *wire.bash("ls", "x", "t2")]
    assert kinds(found) == ["orphan_result", "empty_message"]


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
    assert found.messages == messages[1:]


def test_07_parallel_results_in_messages_of_their_own(api: ModuleType) -> None:
    messages = [
        ASK,
        wire.assistant(wire.use("t1")),
        wire.assistant(wire.use("t2")),
        wire.user(wire.result("t1")),
        wire.user(wire.result("t2")),
    ]
    assert repair(api, messages).messages == messages  # one turn each, for the provider


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
    assert parts[:2] == [response("g", "1"), response("f", "2")]
    assert parts[2]["functionResponse"]["name"] == "f"
    assert parts[3] == {"text": "and"}


def test_15_text_before_the_results(api: ModuleType) -> None:
    text = {"type": "text", "text": "Look."}
    found = repair(api, [ASK, wire.assistant(wire.use("t1")), wire.user(text, wire.result("t1"))])
    assert found.messages[2]["content"] == [wire.result("t1"), text]


def test_16_what_stands_beside_a_result_survives(api: ModuleType) -> None:
    image = {"type": "image", "source": {"type": "url", "url": "https://e.org/a.png"}}
    messages = [
        ASK,
        wire.assistant(wire.use("t1")),
        wire.user(image, wire.result("t9"), wire.result("t1")),
    ]
    assert repair(api, messages).messages[2]["content"] == [wire.result("t1"), image]


def test_18_a_late_result_beside_the_one_that_was_made_up(api: ModuleType) -> None:
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
    assert found.messages[-1]["content"] == [INTERRUPTED, ASK["content"][0]]


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


def test_bedrock_wants_roles_to_alternate(api: ModuleType) -> None:
    ask = {"role": "user", "content": [{"text": "?"}]}
    call = {
        "role": "assistant",
        "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}],
    }
    lost = {"role": "user", "content": [{"toolResult": {"toolUseId": "t9", "content": []}}]}
    found = repair(api, [ask, lost, ask, call], "bedrock")
    assert [message["role"] for message in found.messages] == ["user", "assistant", "user"]
    assert found.messages[0]["content"] == [{"text": "?"}, {"text": "?"}]


def test_shapes_that_do_not_go_together_are_left_and_told(api: ModuleType) -> None:
    messages = [ASK, wire.assistant(wire.use("t1")), chat(("c1", "f"))]
    found = api.project(messages, policy=REPAIR)
    assert found.messages == messages
    assert found.report.not_repaired == "anthropic, openai-chat"


def test_what_is_no_providers_is_no_request(api: ModuleType) -> None:
    records = [
        {"type": "assistant", "uuid": "u1", "message": wire.assistant(wire.use("t1"))},
        {"type": "user", "uuid": "u2", "parentUuid": "u1", "message": wire.user("Go on.")},
    ]
    call = wire.assistant(wire.use("t0"))
    step = {"step_id": 1, "source": "agent"}
    tool = {"role": "tool", "content": [{"type": "tool_result"}, {}]}
    for messages in (records, [call, {"uuid": "u1"}], [call, step], [tool]):
        found = api.project(messages, policy=REPAIR)
        assert found.messages == messages
        assert found.report.not_repaired
