"""Calls without a signature: models since Gemini 3 refuse them in the open turn, and take a stand-in for other models'."""

import json
from types import ModuleType
from typing import Any

import pytest

from toolcarry import ProjectPolicy, convert

ASK = {"role": "user", "parts": [{"text": "List."}]}
UNSIGNED = {"thoughtSignature": "skip_thought_signature_validator"}
REPAIR = ProjectPolicy(repair=True, destination="gemini-3")


def call(name: str, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}}, **more}


def model(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": [*parts]}


def answer(*names: str) -> dict[str, Any]:
    held = [{"functionResponse": {"name": name, "response": {"result": "x"}}} for name in names]
    return {"role": "user", "parts": held}


def test_the_first_call_of_each_step_is_signed(api: ModuleType) -> None:
    messages = [
        ASK, model(call("old")), answer("old"), ASK,
        model({"text": "Two."}, call("a"), call("b")), answer("a", "b"), model(call("c")), answer("c"),
    ]  # fmt: skip
    found = api.project(messages, policy=REPAIR)
    mends = [(mend.kind, mend.position) for mend in found.report.mends]
    assert mends == [("unsigned_call", 4), ("unsigned_call", 6)]
    assert found.messages[:4] == messages[:4]
    assert found.messages[4]["parts"] == [{"text": "Two."}, call("a", **UNSIGNED), call("b")]
    assert found.messages[6] == model(call("c", **UNSIGNED))
    again = api.project(found.messages, policy=REPAIR)
    assert (again.messages, again.report.mends) == (found.messages, ())


@pytest.mark.parametrize("name", ["thoughtSignature", "thought_signature"])
def test_a_signed_call_stays(api: ModuleType, name: str) -> None:
    messages = [ASK, model(call("a", **{name: "c2ln"}), call("b")), answer("a", "b")]
    found = api.project(messages, policy=REPAIR)
    assert (found.messages, found.report.mends) == (messages, ())


def test_a_result_that_is_made_up_leaves_the_turn_open(api: ModuleType) -> None:
    found = api.project([ASK, model(call("a"))], policy=REPAIR)
    assert found.messages[1] == model(call("a", **UNSIGNED))


def test_older_models_ask_for_none(api: ModuleType) -> None:
    """Their requests stay as they are. The model of a body tells."""
    body = {"contents": [ASK, model(call("a")), answer("a")]}
    for name, kinds in (
        ("gemini-2.5-pro", []),
        ("", []),
        ("gemini-3-pro-preview", ["unsigned_call"]),
    ):
        given = json.dumps({"model": name, **body}).encode()
        found = api.project_body(given, policy=ProjectPolicy(repair=True))
        assert [mend.kind for mend in found.report.mends] == kinds


def test_convert_and_repair_agree(api: ModuleType) -> None:
    asked = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    chat = [
        {"role": "user", "content": "List."},
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
    ]
    made = convert(chat, to="gemini-3").messages
    found = api.project(made, policy=REPAIR)
    assert (found.messages, found.report.mends) == (made, ())
