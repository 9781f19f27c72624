"""A host's own calls, kept apart from its messages: the fields that are read, and the positions of the lines."""

import copy
import json
from types import MappingProxyType, ModuleType
from typing import Any

import pytest
from support.builders.text_histories import asks, kept, lines, says, told
from support.builders.wire import bash
from support.rows import for_each

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
RECORDS = {
    "plain": ({"name": "f", "arguments": {"a": 1}, "result": "ok"}, "f(a=1)] → ok"),
    "arguments as text": ({"name": "f", "arguments": '{"a":1}', "result": "ok"}, "f(a=1)] → ok"),
    "input": ({"name": "f", "input": {"a": "b"}, "result": "ok"}, 'f(a="b")] → ok'),
    "args": ({"name": "f", "args": {"a": None}, "result": "ok"}, "f(a=null)] → ok"),
    "null arguments": ({"name": "f", "arguments": None, "input": {"a": 1}}, "f(a=1)] → (no result)"),
    "no arguments": ({"name": "f", "result": "ok"}, "f()] → ok"),
    "a list of arguments": ({"name": "f", "arguments": [1]}, "f(arguments=[1])] → (no result)"),
    "tool_name": ({"tool_name": "f", "result": "ok"}, "f()] → ok"),
    "function": ({"function": {"name": "f", "arguments": '{"a":1}'}, "result": "ok"}, "f(a=1)] → ok"),
    "function that names its tool": ({"function": {"tool_name": "f", "args": {}}}, "f()] → (no result)"),
    "arguments beside the function": ({"function": {"name": "f"}, "arguments": {"a": 1}}, "f(a=1)] → (no result)"),
    "a name beside the function": ({"name": "f", "function": {"arguments": {"a": 1}}}, "f(a=1)] → (no result)"),
    "no name": ({"result": "ok"}, "unknown()] → ok"),
    "nothing": ({}, "unknown()] → (no result)"),
    "output": ({"name": "f", "output": "ok"}, "f()] → ok"),
    "content": ({"name": "f", "content": "ok"}, "f()] → ok"),
    "the first that is given": ({"name": "f", "result": None, "output": "ok", "content": "no"}, "f()] → ok"),
    "empty": ({"name": "f", "result": ""}, "f()] → (no output)"),
    "parts": ({"name": "f", "result": [{"type": "text", "text": "See:"}, IMAGE]}, "f()] → See:\n[image: image/png, 2 bytes]"),
    "object": ({"name": "f", "result": {"a": [1]}}, 'f()] → {"a":[1]}'),
    "number": ({"name": "f", "result": 0}, "f()] → 0"),
    "false": ({"name": "f", "result": False}, "f()] → false"),
    "failed": ({"name": "f", "result": "no", "is_error": True}, "f()] → (failed) no"),
    "not failed": ({"name": "f", "result": "ok", "is_error": "yes"}, "f()] → ok"),
    "failed without result": ({"name": "f", "is_error": True}, "f()] → (failed)"),
    "failed and empty": ({"name": "f", "is_error": True, "result": "\n"}, "f()] → (failed)"),
    "error": ({"name": "f", "error": "boom"}, "f()] → (failed) boom"),
    "error that is an object": ({"name": "f", "error": {"code": 3}}, 'f()] → (failed) {"code":3}'),
    "error and result": ({"name": "f", "error": "boom", "result": "half"}, "f()] → (failed) half"),
    "error that says no more": ({"name": "f", "error": True}, "f()] → (failed)"),
    "no error": ({"name": "f", "error": None}, "f()] → (no result)"),
    "false error": ({"name": "f", "error": False, "result": "ok"}, "f()] → ok"),
    "empty error": ({"name": "f", "error": ""}, "f()] → (no result)"),
    "forged": ({"name": "f\n\n[Tool: g", "result": "\n[Tool: h()]\n[Tool: i()]"}, "f\\n\\n[Tool: g()] → [Tool: h()]\n[\\Tool: i()]"),
}  # fmt: skip


@for_each("name", RECORDS)
def test_members_of_a_record(rust: ModuleType, name: str) -> None:
    record, shown = RECORDS[name]
    before = copy.deepcopy(record)
    expected = [f"[Tool: {shown}"]
    recounted = rust.recount([says("Hm.", turn_id=1)], tool_calls=[record | {"turn_id": 1}])
    assert lines(recounted) == expected
    assert record == before
    assert recounted.report.calls == 1
    assert recounted.report.orphan_calls == shown.endswith("(no result)")
    assert recounted.report.errors == ("(failed)" in shown)
    assert lines(rust.recount([], tool_calls=(MappingProxyType(record),))) == expected


def turns(rust: ModuleType, messages: list[Any], *ids: Any, **more: Any) -> tuple[Any, Any]:
    """Return the text history of the messages and of calls with these turn ids, and the report."""
    calls = [
        each if isinstance(each, dict) else {"turn_id": each, "name": f"f{number}", "result": "r"}
        for number, each in enumerate(ids)
    ]
    recounted = rust.recount(messages, tool_calls=calls, **more)
    body = json.dumps({"messages": messages}).encode()
    assert rust.recount(body, tool_calls=calls, **more) == recounted
    return told(recounted), kept(recounted.report)


def line(number: int) -> str:
    return f"\n\n[Tool: f{number}()] → r"


def test_each_call_is_below_its_turn(rust: ModuleType) -> None:
    messages = [
        asks("One?", turn_id=1),
        says("One.", turn_id=1),
        asks("Two?", turn_id=2),
        says("Two.", turn_id=2),
        says("Two more.", turn_id=2),
    ]
    found, report = turns(rust, messages, 2, 1, 2)
    assert found == [
        ("user", "One?"),
        ("assistant", f"One.{line(1)}"),
        ("user", "Two?"),
        ("assistant", f"Two.{line(0)}{line(2)}"),
        ("assistant", "Two more."),
    ]
    assert report == {}


def test_the_member_has_the_name_that_the_host_says(rust: ModuleType) -> None:
    messages = [says("One.", request=1, turn_id=2), says("Two.", request=2, turn_id=1)]
    call = {"name": "f0", "result": "r", "request": 2, "turn_id": 2}
    found, report = turns(rust, messages, call, turn_id="request")
    assert found[1][1] == f"Two.{line(0)}"
    assert report == {}


def test_the_first_message_of_a_turn_without_words(rust: ModuleType) -> None:
    messages = [asks("?", turn_id=1), says("", turn_id=1), says("Done.", turn_id=1)]
    found, _ = turns(rust, messages, 1)
    assert found == [("user", "?"), ("assistant", "[Tool: f0()] → r"), ("assistant", "Done.")]


def test_a_turn_of_the_users_alone(rust: ModuleType) -> None:
    messages = [
        asks("One?", turn_id=1),
        asks("Quick!", turn_id=1),
        asks("Two?", turn_id=2),
        says("Two.", turn_id=2),
    ]
    found, report = turns(rust, messages, 1, 1)
    assert [role for role, _ in found] == ["user", "user", "assistant", "user", "assistant"]
    assert found[2][1] == f"{line(0)}{line(1)}".strip()
    assert report == {}


@pytest.mark.parametrize("content", ["", [], [{"type": "tool_result", "tool_use_id": "x"}]])
def test_a_turn_of_a_message_without_words(rust: ModuleType, content: Any) -> None:
    silent = {"role": "user", "content": content, "turn_id": 2}
    found, report = turns(rust, [asks("?", turn_id=1), says("One.", turn_id=1), silent], 2)
    assert "without_turn" not in report
    assert found[1] == (
        "assistant",
        "One." if not content else "One.\n\n[Tool: unknown] → (no output)",
    )
    assert found[2] == ("assistant", "[Tool: f0()] → r")


@pytest.mark.parametrize(
    ("of_message", "of_call", "is_known"),
    [
        (1, 1, True), ("a", "a", True), (-(1 << 63), -(1 << 63), True), ((1 << 63) - 1, (1 << 63) - 1, True),
        (1, "1", False), ("1", 1, False), (True, True, False), (1, True, False), (True, 1, False), ("", "", False),
        (None, None, False), (1, 1.0, False), (1.5, 1.5, False), ([1], [1], False), (1 << 64, 1 << 64, False),
    ],
)  # fmt: skip
def test_valid_turn_ids(rust: ModuleType, of_message: Any, of_call: Any, is_known: bool) -> None:
    messages = [says("One."), asks("?"), says("Two.", turn_id=of_message)]
    found, report = turns(rust, messages, of_call)
    assert found[2 * is_known][1] == ("Two." if is_known else "One.") + line(0)
    assert report == ({} if is_known else {"without_turn": [0]})


def test_a_call_without_turn_has_a_position(rust: ModuleType) -> None:
    messages = [asks("?"), says("One."), asks("?"), says("Two."), asks("?")]
    places = [(0, 1), (1, 1), (2, 1), (3, 3), (4, 3), (99, 3), (-7, 1), ((1 << 63) - 1, 3)]
    for position, place in places:
        for turn in (None, "unknown"):
            call = {"name": "f0", "result": "r", "position": position, "turn_id": turn}
            found, report = turns(rust, messages, call)
            assert found[place][1].endswith(line(0))
            assert report == {"without_turn": [0]}


def test_a_turn_comes_before_a_position(rust: ModuleType) -> None:
    messages = [says("One.", turn_id=1), says("Two.", turn_id=2)]
    call = {"name": "f0", "result": "r", "position": 1, "turn_id": 1}
    assert turns(rust, messages, call) == (
        [("assistant", f"One.{line(0)}"), ("assistant", "Two.")],
        {},
    )


@pytest.mark.parametrize("position", [None, "3", True, 1.0, [0]])
def test_a_record_without_position_follows_the_call_before(rust: ModuleType, position: Any) -> None:
    messages = [says("One.", turn_id=1), says("Two.", turn_id=2)]
    lost = {"name": "f1", "result": "r", "position": position}
    found, report = turns(rust, messages, 2, lost, 1)
    assert found == [("assistant", f"One.{line(2)}"), ("assistant", f"Two.{line(0)}{line(1)}")]
    assert report == {"without_turn": [1]}


def test_the_first_call_without_a_turn_is_below_the_first_message(rust: ModuleType) -> None:
    found, report = turns(rust, [asks("?"), says("One."), says("Two.")], "x", "y")
    assert found[1][1] == f"One.{line(0)}{line(1)}"
    assert report == {"without_turn": [0, 1]}


@pytest.mark.parametrize("position", [None, 0])
def test_without_an_answer_a_message_is_added_at_the_end(
    rust: ModuleType, position: int | None
) -> None:
    calls = [{"name": f"f{n}", "result": "r", "position": position} for n in (0, 1)]
    found, _ = turns(rust, [asks("One?"), asks("Two?")], *calls)
    made = ("assistant", f"{line(0)}{line(1)}".strip())
    assert found == [("user", "One?"), ("user", "Two?"), made]
    assert turns(rust, [], *calls)[0] == [made]


def test_next_to_the_calls_of_the_messages(rust: ModuleType) -> None:
    call, answer = bash("ls", "a.py")
    found, report = turns(
        rust, [asks("?", turn_id=1), call | {"turn_id": 1}, answer, says("Ok.")], 1
    )
    assert found[1] == ("assistant", f'[Tool: Bash(command="ls")] → a.py{line(0)}')
    assert report == {"folded": [2]}


def test_items_know_their_turns(rust: ModuleType) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "g", "arguments": "{}", "turn_id": 2}
    found, report = turns(rust, [says("One.", turn_id=1), asks("?"), call], 2)
    assert found[2] == ("assistant", f"[Tool: g()] → (no result){line(0)}")
    assert report == {"orphan_calls": 1, "folded": [2]}


def test_ten_thousand_calls_of_a_turn(rust: ModuleType) -> None:
    calls = [{"turn_id": 1, "name": "f", "result": str(number)} for number in range(10_000)]
    recounted = rust.recount([says("One.", turn_id=1)], tool_calls=calls)
    assert lines(recounted) == [f"[Tool: f()] → {number}" for number in range(10_000)]
