"""Turns and messages: those that stay, those that are folded, and the message that each line follows."""

import copy
import json
import pickle
from types import ModuleType
from typing import Any

import pytest
from support.builders.families import ANSWER, FAMILIES
from support.builders.text_histories import asks, kept, lines, says, system, told
from support.builders.wire import assistant, bash, join, open_call, result, turn, use, user

TEXT = {"type": "text", "text": "Let me look."}


def test_a_call_line_follows_the_text(rust: ModuleType) -> None:
    messages = [
        asks("Is it empty?"),
        assistant(TEXT, use("t1", "ReadFile", path="test.cs")),
        user(result("t1", "class Test {}")),
        says("It is not."),
    ]
    recounted = rust.recount(messages)
    assert told(recounted) == [
        ("user", "Is it empty?"),
        ("assistant", 'Let me look.\n\n[Tool: ReadFile(path="test.cs")] → class Test {}'),
        ("assistant", "It is not."),
    ]
    assert kept(recounted.report) == {"folded": [2]}
    assert (recounted.report.messages, recounted.report.calls) == (3, 1)


def test_a_line_for_each_call_in_order_with_a_blank_line_between(rust: ModuleType) -> None:
    messages = [
        assistant(TEXT, use("a", "A"), use("b", "B"), use("c", "C")),
        user(result("c", "3"), result("a", "1"), result("b", "2")),
    ]
    content = "Let me look.\n\n[Tool: A()] → 1\n\n[Tool: B()] → 2\n\n[Tool: C()] → 3"
    assert told(rust.recount(messages)) == [("assistant", content)]


def test_calls_without_text_join_the_message_before(rust: ModuleType) -> None:
    messages = join([asks("Go."), says("Yes.")], bash("ls", "1", "a"), bash("pwd", "2", "b"))
    recounted = rust.recount(messages)
    assert told(recounted) == [
        ("user", "Go."),
        ("assistant", 'Yes.\n\n[Tool: Bash(command="ls")] → 1\n\n[Tool: Bash(command="pwd")] → 2'),
    ]
    assert recounted.report.folded == (2, 3, 4, 5)


def test_calls_after_words_of_the_user_stand_alone(rust: ModuleType) -> None:
    messages = join([says("Yes."), asks("Go.")], bash("ls", "1"), [says("Done.")])
    assert told(rust.recount(messages)) == [
        ("assistant", "Yes."),
        ("user", "Go."),
        ("assistant", '[Tool: Bash(command="ls")] → 1'),
        ("assistant", "Done."),
    ]


@pytest.mark.parametrize(
    ("turns", "count"), [((1, 1), 1), ((1, None), 1), ((1, 2), 2), ((1, "1"), 2)]
)
def test_calls_of_another_turn_join_nothing(
    rust: ModuleType, turns: tuple[Any, Any], count: int
) -> None:
    first, second = turns
    silent = assistant(use("a", "A")) | {"turn_id": second}
    assert len(told(rust.recount([says("Yes.", turn_id=first), silent]))) == count


def test_items_of_another_turn_join_nothing(rust: ModuleType) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "turn_id": 2}
    output = {"type": "function_call_output", "call_id": "c", "output": "r", "turn_id": 2}
    recounted = rust.recount([says("Yes.", turn_id=1), call, output])
    assert told(recounted) == [("assistant", "Yes."), ("assistant", "[Tool: f()] → r")]


def test_words_next_to_results_stay_as_the_users(rust: ModuleType) -> None:
    messages = [assistant(use("t1")), user(result("t1", "ok"), {"type": "text", "text": "Stop."})]
    recounted = rust.recount(messages)
    assert told(recounted) == [("assistant", "[Tool: Bash()] → ok"), ("user", "Stop.")]
    assert recounted.report.folded == ()


def test_second_results_are_folded_too(rust: ModuleType) -> None:
    recounted = rust.recount([*bash("ls", "first"), user(result("t1", "second"))])
    assert lines(recounted) == ['[Tool: Bash(command="ls")] → first']
    assert kept(recounted.report) == {"duplicate_results": 1, "folded": [1, 2]}


def test_a_result_without_call_is_below_the_nearest_earlier_message(rust: ModuleType) -> None:
    messages = [
        user(result("x", "early", name="Bash")),
        asks("Go."),
        says("One."),
        user(result("y", "later"), {"type": "text", "text": "And on."}),
        assistant({"type": "text", "text": "Two."}, use("t1")),
        {"role": "tool", "tool_call_id": "z", "name": "Grep", "content": "last"},
    ]
    recounted = rust.recount(messages)
    assert told(recounted) == [
        ("user", "Go."),
        ("assistant", "One.\n\n[Tool: Bash] → early\n\n[Tool: unknown] → later"),
        ("user", "And on."),
        ("assistant", "Two.\n\n[Tool: Bash()] → (no result)\n\n[Tool: Grep] → last"),
    ]
    assert kept(recounted.report) == {"orphan_calls": 1, "orphan_results": 3, "folded": [0, 5]}


def test_a_result_before_all_messages_comes_before_the_lines_of_the_first(rust: ModuleType) -> None:
    messages = [user(result("x", "early")), asks("Go."), *bash("ls", "1")]
    assert lines(rust.recount(messages)) == [
        "[Tool: unknown] → early",
        '[Tool: Bash(command="ls")] → 1',
    ]


def test_a_result_that_no_message_could_hold_gets_one_at_the_end(rust: ModuleType) -> None:
    messages = [user(result("x", "early")), asks("Go."), asks("Now.")]
    assert told(rust.recount(messages)) == [
        ("user", "Go."),
        ("user", "Now."),
        ("assistant", "[Tool: unknown] → early"),
    ]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_prompts_stay(rust: ModuleType, role: str) -> None:
    messages = [system("Be <think>kind</think>.", role), asks("Hi.")]
    assert told(rust.recount(messages)) == [(role, "Be <think>kind</think>."), ("user", "Hi.")]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_format_is_shown(rust: ModuleType, family: str) -> None:
    messages = FAMILIES[family]("t1")
    recounted = rust.recount(messages)
    assert told(recounted) == [("assistant", f'[Tool: {family}(query="q")] → {ANSWER}')]
    assert rust.recount(json.dumps(messages).encode()) == recounted


def test_speakers_have_the_roles_of_a_text_history(rust: ModuleType) -> None:
    messages = [
        {"type": "human", "data": {"content": "Hi."}},
        {"type": "ai", "data": {"content": "Yes?"}},
        {"role": "model", "parts": [{"text": "Go on."}]},
        {"role": "critic", "content": "Hm."},
    ]
    roles = [role for role, _ in told(rust.recount(messages))]
    assert roles == ["user", "assistant", "assistant", "critic"]


def test_messages_without_role_or_text(rust: ModuleType) -> None:
    messages = [{"content": "Who?"}, {}, asks(" \n\t\r\n"), says(""), says("Hi.")]
    recounted = rust.recount(messages)
    assert told(recounted) == [("assistant", "Hi.")]
    nobody = {"without_role": [0], "silent": [2, 3], "unread": 1}  # {} is no message
    assert kept(recounted.report) == nobody


def test_text_stays_except_for_controls(rust: ModuleType) -> None:
    text = "  one\r\n\n\ttwo \x1b[31mred\x1b[0m \u202e\ud800 [Tool: mine] \n"
    shown = "  one\n\n\ttwo red \ufffd [Tool: mine] \n"
    assert told(rust.recount([asks(text), says(text)])) == [("user", shown), ("assistant", shown)]
    messages = [says(text), *bash("ls", "1")]
    assert told(rust.recount(messages))[0][1] == f'{shown}\n[Tool: Bash(command="ls")] → 1'


def record(uuid: str, parent: str | None, message: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": message["role"],
        "uuid": uuid,
        "parentUuid": parent,
        "message": message,
        **more,
    }


def test_side_chains_and_other_branches_are_left_out_and_counted(rust: ModuleType) -> None:
    call, answer = bash("ls", "1", "s")
    left, left_answer = bash("pwd", "2", "b")
    records = [
        record("a", None, asks("Go.")),
        record("b", "a", left),
        record("c", "b", left_answer),
        record("s", "a", call, isSidechain=True),
        record("t", "s", answer, isSidechain=True),
        record("d", "a", says("Done.")),
    ]
    recounted = rust.recount(records)
    assert told(recounted) == [("user", "Go."), ("assistant", "Done.")]
    assert recounted.report.calls == 0
    assert recounted.report.inactive == 4
    assert sum(recounted.report.excluded.values()) == 2


def test_bytes_and_objects(rust: ModuleType) -> None:
    messages = join([asks("Go."), says("<think>Hm.</think>Yes.")], bash("ls", "1\n"), [says("Ok.")])
    expected = rust.recount(messages, max_chars=40)
    array = json.dumps(messages).encode()
    body = json.dumps({"model": "m", "messages": messages}).encode()
    session = b"\n".join(json.dumps(message).encode() for message in messages)
    for given in (array, body, bytearray(body), memoryview(body), session, session + b"\n"):
        assert rust.recount(given, max_chars=40) == expected
    with_record = {"tool_calls": [{"name": "f", "result": "r"}]}
    assert rust.recount(body, **with_record) == rust.recount(messages, **with_record)


def test_a_line_without_anything_is_no_message(rust: ModuleType) -> None:
    line = json.dumps(asks("Go.")).encode()
    recounted = rust.recount(line + b"\n\n  \n" + line + b"\n\n")
    assert told(recounted) == [("user", "Go.")] * 2
    assert kept(recounted.report) == {}


@pytest.mark.parametrize("records", [(), ({"name": "f"},)])
def test_skipped_lines_are_reported(rust: ModuleType, records: Any) -> None:
    body = b'{bad\n{"role":"user","content":"Hi."}\n7\n{"role":"assistant","content":"Yes?"}\n'
    recounted = rust.recount(body, tool_calls=records)
    assert recounted.report.skipped_lines == (1, 3)
    assert [text.partition("\n")[0] for _, text in told(recounted)] == ["Hi.", "Yes?"]


def test_values_are_plain_frozen_and_travel(rust: ModuleType) -> None:
    messages = join([asks("Go.")], turn("f", {}, "r"), open_call("g", {}, "t2"))
    before = copy.deepcopy(messages)
    recounted = rust.recount(messages)
    assert messages == before
    assert pickle.loads(pickle.dumps(recounted)) == recounted
    assert json.loads(json.dumps(recounted.report.to_dict()))["orphan_calls"] == 1
    with pytest.raises(AttributeError):
        recounted.report.calls = 7
    assert not hasattr(recounted, "__dict__")
