"""Turns that a provider refuses though each call has its result: who answers, and what may stand beside what."""

from types import ModuleType
from typing import Any

import pytest
import wire
from repairs import ASK, INTERRUPTED, REPAIR, kinds, repair

NOTE = {"role": "system", "content": "The user is away."}
NOTE_PARTS = [{"type": "text", "text": "The user is away."}]


def test_a_system_message_takes_no_results(api: ModuleType) -> None:
    """The results come before it, in a turn of the user's, and leave the turn in which they came late."""
    call = wire.assistant(wire.use("t1"))
    found = repair(api, [ASK, call, NOTE, wire.user(wire.result("t1"), ASK["content"][0])])
    assert found.messages == [ASK, call, wire.user(wire.result("t1")), NOTE, ASK]
    assert [(mend.kind, mend.position, mend.call_id) for mend in found.report.mends] == [
        ("moved_result", 3, "t1")
    ]


def test_a_system_message_behind_an_open_call(api: ModuleType) -> None:
    call = wire.assistant(wire.use("t1"))
    note = {"role": "system", "content": NOTE_PARTS}
    found = repair(api, [ASK, call, note])
    assert found.messages == [ASK, call, wire.user(INTERRUPTED), note]
    assert kinds(found) == ["missing_result"]


def test_a_result_that_a_system_message_gives(api: ModuleType) -> None:
    call = wire.assistant(wire.use("t1"))
    given = {"role": "system", "content": [wire.result("t1"), *NOTE_PARTS]}
    found = repair(api, [ASK, call, given])
    assert found.messages == [
        ASK,
        call,
        wire.user(wire.result("t1")),
        given | {"content": NOTE_PARTS},
    ]
    assert kinds(found) == ["moved_result"]


def test_results_on_both_sides_of_a_system_message(api: ModuleType) -> None:
    call = wire.assistant(wire.use("t1"), wire.use("t2"))
    one, two = wire.result("t1"), wire.result("t2")
    found = repair(api, [ASK, call, wire.user(one), NOTE, wire.user(two), ASK])
    assert found.messages == [ASK, call, wire.user(one, two), NOTE, ASK]
    assert kinds(found) == ["moved_result", "empty_message"]


def test_a_system_message_behind_the_results_stays(api: ModuleType) -> None:
    messages = [ASK, *wire.bash("ls"), NOTE, ASK]
    assert repair(api, messages).messages == messages


@pytest.mark.parametrize("role", ["user", "function", None])
def test_whose_turn_answers_gemini(api: ModuleType, role: str | None) -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    response = {"functionResponse": {"name": "f", "response": {"output": "ok"}}}
    answer: dict[str, Any] = {"parts": [response]} | ({"role": role} if role else {})
    messages = [{"role": "user", "parts": [{"text": "?"}]}, call, answer]
    assert repair(api, messages, "gemini").messages == messages
    note = {"role": "system", "parts": [{"text": "The user is away."}]}
    found = repair(api, [*messages[:2], note, answer], "gemini")
    assert found.messages == [*messages[:2], {"role": "user", "parts": [response]}, note]
    assert kinds(found) == ["moved_result", "empty_message"]


def test_bedrock_joins_no_system_message_to_the_users(api: ModuleType) -> None:
    """It has none there, and refuses it; the results are not made part of it."""
    call = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "f"}}]}
    note = {"role": "system", "content": [{"text": "The user is away."}]}
    found = api.project([call, note], policy=REPAIR).messages
    assert [message["role"] for message in found] == ["assistant", "user", "system"]
    assert found[2] is note
