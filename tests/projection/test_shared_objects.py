"""One object in several places of a request, as who makes a list by multiplying it has it: it is as many as its places."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.oracles.repairs import ASK, answer, chat, kinds, repair

from toolcarry import ProjectPolicy

LONG = "a line of text\n" * 40
USE = wire.use("t1", "Read", file_path="/a.py")
RESULT = wire.result("t1", LONG)
TEXT = ASK["content"][0]
CALL = {"functionCall": {"name": "Read", "args": {"file_path": "/a.py"}}}
RESPONSE = {"functionResponse": {"name": "Read", "response": {"result": LONG}}}
SHAPES = {
    "anthropic": [ASK, wire.assistant(USE, USE), wire.user(RESULT, RESULT)],
    "gemini": [
        {"role": "model", "parts": [CALL, CALL]},
        {"role": "user", "parts": [RESPONSE, RESPONSE]},
    ],
    "openai": [ASK, chat(*[("t1", "f")] * 2), *[answer("t1", LONG)] * 2],
    "many parts": [ASK, wire.assistant(*[USE] * 20), wire.user(*[RESULT] * 20)],
}
SHAPES["openai"][1]["tool_calls"] = SHAPES["openai"][1]["tool_calls"][:1] * 2
POLICIES = [
    ProjectPolicy(repair=True),
    ProjectPolicy(repair=True, max_result_chars=100),
    ProjectPolicy(max_result_chars=100),
]


def parted(messages: list[Any]) -> Any:
    """The same with an object for each place."""
    return json.loads(json.dumps(messages))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_projected_as_its_copies_are(
    api: ModuleType, shape: str, policy: ProjectPolicy
) -> None:
    messages = SHAPES[shape]
    before = json.dumps(messages)
    found = api.project(messages, policy=policy)
    expected = api.project(parted(messages), policy=policy)
    assert (found.messages, found.report) == (expected.messages, expected.report)
    assert json.dumps(messages) == before


@pytest.mark.parametrize("shape", SHAPES)
def test_its_request_is_valid(api: ModuleType, shape: str) -> None:
    found = repair(api, SHAPES[shape], shape if shape in ("openai", "gemini") else "anthropic")
    assert not {"missing_result", "duplicate_result", "orphan_result"} & set(kinds(found))


@pytest.mark.parametrize("results", [[RESULT, TEXT, RESULT], [TEXT, RESULT, TEXT, RESULT]])
def test_of_two_answers_to_one_call_the_first_stays(api: ModuleType, results: list[Any]) -> None:
    messages = [ASK, wire.assistant(USE), wire.user(*results)]
    found = repair(api, messages)
    assert found.report.mends == repair(api, parted(messages)).report.mends
    assert kinds(found).count("duplicate_result") == 1


def test_messages_that_occur_twice(api: ModuleType) -> None:
    turn = [wire.assistant(USE), wire.user(RESULT)]
    found = repair(api, [ASK, *turn, *turn, ASK])
    assert kinds(found) == ["renamed_id"]
    assert found.messages[2]["content"][0]["content"].startswith("[toolcarry: superseded by ")
    assert found.messages[4]["content"][0]["content"] == LONG
