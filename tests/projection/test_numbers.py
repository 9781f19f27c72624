"""NaN and infinities, which JSON does not have: providers refuse a body with one, and their SDKs do not write it."""

import json
import math
from types import ModuleType
from typing import Any

import pytest
from support.builders.wire import result, user

from toolcarry import InputError, ProjectPolicy, check

POLICY = ProjectPolicy(repair=True, destination="anthropic")
NUMBERS = [math.nan, math.inf, -math.inf]


def talk(number: float) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": "t1", "name": "plot", "input": {"NaN": "NaN", "to": [number]}}
    return [
        user({"type": "text", "text": 'Go to "Infinity".'}),
        {"role": "assistant", "content": [call]},
        user(result("t1", "-Infinity")),
    ]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_in_objects(api: ModuleType, number: float) -> None:
    given = talk(number)
    found = api.project(given, policy=POLICY)
    mended = found.messages
    assert mended[1]["content"][0]["input"] == {"NaN": "NaN", "to": [None]}
    assert [mended[0], mended[2]] == [given[0], given[2]]
    assert [(mend.kind, mend.position) for mend in found.report.mends] == [("not_finite", 1)]
    assert [problem.rule for problem in check(given)] == ["not_finite"]
    json.dumps(mended, allow_nan=False)
    assert api.project(mended, policy=POLICY).messages == mended
    assert check(mended) == ()


@pytest.mark.parametrize(
    ("destination", "key"), [("gemini", "args"), ("gemini", "response"), ("ollama", "arguments")]
)
def test_a_number_elsewhere(api: ModuleType, destination: str, key: str) -> None:
    held = {"number": math.inf}
    call = {"name": "plot", "args": {}} | ({"args": held} if key == "args" else {})
    answer = {"name": "plot", "response": held if key == "response" else {}}
    given: list[Any] = [
        {"role": "user", "parts": [{"text": "Go."}]},
        {"role": "model", "parts": [{"functionCall": call}]},
        {"role": "user", "parts": [{"functionResponse": answer}]},
    ]
    if destination == "ollama":
        function = {"name": "plot", "arguments": held}
        given = [
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": "", "tool_calls": [{"function": function}]},
            {"role": "tool", "tool_name": "plot", "content": "1"},
        ]
    found = api.project(given, policy=ProjectPolicy(repair=True, destination=destination))
    assert json.dumps(found.messages) == json.dumps(given).replace("Infinity", "null")


def test_a_call_supersedes_by_the_arguments_that_are_sent(api: ModuleType) -> None:
    """NaN is not equal to itself; null is."""
    given = []
    for call_id in ("t1", "t2"):
        call = {"name": "Read", "input": {"file_path": "a.py", "limit": math.nan}}
        given += [
            user({"type": "text", "text": "Go."}),
            {"role": "assistant", "content": [{"type": "tool_use", "id": call_id, **call}]},
            user(result(call_id, "a line\n" * 50)),
        ]
    body = json.dumps({"messages": given}).encode()
    sent = json.loads(api.project_body(body, policy=POLICY).body)["messages"]
    assert sent[2]["content"][0]["content"].startswith("[toolcarry: superseded by call t2")
    assert api.project(given, policy=POLICY).messages == sent


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_in_bytes(api: ModuleType, number: float) -> None:
    plain = json.dumps({"seed": None, "messages": talk(1.5)}).encode()
    word = json.dumps(number).encode()
    given = plain.replace(b"1.5", word).replace(b'"seed": null', b'"seed": ' + word)
    found = api.project_body(given, policy=POLICY)
    assert found.body == plain.replace(b"1.5", b"null")
    at = [
        f"byte {place}" for place in (given.index(b": " + word) + 2, given.index(b"[" + word) + 1)
    ]
    assert [(mend.kind, mend.detail) for mend in found.report.mends] == [
        ("not_finite", each) for each in at
    ]
    for destination in (None, "anthropic"):
        named = check(given, destination=destination)
        assert [problem.rule for problem in named] == ["not_finite"] * 2
        assert check(found.body, destination=destination) == ()


def test_other_bytes_that_are_no_json(api: ModuleType) -> None:
    given = b'{"messages": [NaN, }'
    found = api.project_body(given, policy=POLICY)
    assert (found.body, found.report.untouched) == (given, "not JSON: byte 14")
    with pytest.raises(InputError, match="byte 14"):
        check(given)


def test_nothing_changes_without_repair(api: ModuleType) -> None:
    given = json.dumps({"messages": talk(math.nan)}).encode()
    assert api.project_body(given).body == given
    assert api.project(talk(math.nan)).report.mends == ()
