"""Calls and results over the whole history: their pairs and their order."""

import json
from types import MappingProxyType
from typing import Any

import pytest
from support.builders.talks import call
from support.sdk import sdk

from toolcarry.errors import InputError, UnknownCommitError
from toolcarry.tract import ToolTurn, Tract


def test_each_call_with_its_result(tract: Tract) -> None:
    tract.user("Look.")
    first = call(tract, ("a", "Read"), ("b", "Bash"))
    later = tract.tool_result("b", "Bash", "2 failed", is_error=True)
    sooner = tract.tool_result("a", "Read", "text")
    second = call(tract, ("c", "Bash"))
    assert tract.find_tool_turns() == [
        ToolTurn(first, [sooner, later], ["Read", "Bash"]),
        ToolTurn(second, [], ["Bash"]),
    ]
    turn = tract.find_tool_turns("Read")[0]
    assert turn.all_hashes == [first.commit_hash, sooner.commit_hash, later.commit_hash]
    assert turn.result_hashes == [sooner.commit_hash, later.commit_hash]
    assert turn.total_tokens == sum(each.token_count for each in (first, sooner, later))
    assert tract.find_tool_calls() == [first, second]
    assert tract.find_tool_calls("Read") == [first]
    assert tract.find_tool_turns("Grep") == []


def test_an_id_that_repeats_belongs_to_the_nearest_call(tract: Tract) -> None:
    calls, results = [], []
    for number in range(4):
        calls.append(call(tract, ("call_0", "Bash")))
        results.append(tract.tool_result("call_0", "Bash", str(number)))
    again = tract.tool_result("call_0", "Bash", "again")
    assert [turn.call for turn in tract.find_tool_turns()] == calls
    found = [list(turn.results) for turn in tract.find_tool_turns()]
    assert found == [[results[0]], [results[1]], [results[2]], [results[3], again]]


def test_a_result_belongs_to_the_nearest_call_without_one(tract: Tract) -> None:
    first, second = call(tract, ("x", "Bash")), call(tract, ("x", "Bash"))
    near, far = (tract.tool_result("x", "Bash", text) for text in ("near", "far"))
    assert tract.find_tool_turns() == [
        ToolTurn(first, [far], ["Bash"]),
        ToolTurn(second, [near], ["Bash"]),
    ]


def test_without_ids_tool_and_order_decide(tract: Tract) -> None:
    made = call(tract, ("", "Read"), ("", "Bash"), ("", "Read"))
    bash = tract.tool_result("", "Bash", "1")
    read = tract.tool_result("", "Read", "2")
    last = tract.tool_result("", "Read", "3")
    assert tract.find_tool_turns() == [ToolTurn(made, [read, bash, last], ["Read", "Bash", "Read"])]


def test_a_result_without_call_is_found_and_in_no_turn(tract: Tract) -> None:
    orphan = tract.tool_result("t1", "Bash", "lost")
    call(tract, ("t1", "Bash"))
    assert tract.find_tool_results() == [orphan]
    assert [turn.results for turn in tract.find_tool_turns()] == [[]]


def test_an_edited_result_is_in_its_place_once(tract: Tract) -> None:
    call(tract, ("a", "Read"), ("b", "Read"))
    first, second = tract.tool_result("a", "Read", "one"), tract.tool_result("b", "Read", "two")
    tract.tool_result("a", "Read", "newer", edit=first.commit_hash)
    newest = tract.tool_result("a", "Read", "newest", edit=first.commit_hash)
    assert tract.find_tool_results() == [newest, second]
    assert tract.find_tool_turns()[0].results == [newest, second]


def test_results_between_two_commits(tract: Tract) -> None:
    results = [tract.tool_result(f"t{number}", "Bash", str(number)) for number in range(5)]
    one, three = results[1].commit_hash, results[3].commit_hash
    assert tract.find_tool_results(after=one) == results[2:]
    assert tract.find_tool_results(before=three) == results[:3]
    assert tract.find_tool_results(after=one, before=three) == results[2:3]
    assert tract.find_tool_results(after=three, before=one) == []
    with pytest.raises(UnknownCommitError):
        tract.find_tool_results(after="0" * 64)


def test_a_newer_version_is_at_the_place_of_the_first(tract: Tract) -> None:
    first, *others = [tract.tool_result(f"t{number}", "Bash", str(number)) for number in range(3)]
    newer = tract.tool_result("t0", "Bash", "newer", edit=first.commit_hash)
    assert tract.find_tool_results(after=newer.commit_hash) == others
    assert tract.find_tool_results(before=newer.commit_hash) == []


def test_the_whole_history_is_looked_at(tract: Tract) -> None:
    """More commits than are read at once."""
    for number in range(0, 2_400, 600):
        tract.append_many(
            [
                {"role": "tool", "tool_call_id": f"t{number + each}", "content": "x"}
                for each in range(600)
            ]
        )
    found = tract.find_tool_results()
    assert [result.tool_call_id for result in found] == [f"t{number}" for number in range(2_400)]
    assert len(tract.log()) == 2_400


GIVEN = {"command": "pytest -q"}
SHAPES: dict[str, Any] = {
    "openai": {"type": "function", "id": "t1", "function": {"name": "Bash", "arguments": json.dumps(GIVEN)}},
    "ollama": {"id": "t1", "function": {"name": "Bash", "arguments": GIVEN}},
    "anthropic": {"type": "tool_use", "id": "t1", "name": "Bash", "input": GIVEN},
    "responses": {"type": "function_call", "id": "fc_1", "call_id": "t1", "name": "Bash", "arguments": json.dumps(GIVEN)},
    "gemini": {"functionCall": {"id": "t1", "name": "Bash", "args": GIVEN}},
    "bedrock": {"toolUse": {"toolUseId": "t1", "name": "Bash", "input": GIVEN}},
    "langchain": {"type": "tool_call", "id": "t1", "name": "Bash", "args": GIVEN},
    "plain": {"id": "t1", "name": "Bash", "arguments": GIVEN},
    "plain, as JSON": MappingProxyType({"id": "t1", "name": "Bash", "arguments": json.dumps(GIVEN)}),
}  # fmt: skip


@pytest.mark.parametrize("given", SHAPES.values(), ids=SHAPES)
def test_a_call_is_taken_as_a_provider_has_it(tract: Tract, given: Any) -> None:
    asked = tract.assistant("I will.", tool_calls=[given])
    assert asked.metadata == {"tool_calls": [{"id": "t1", "name": "Bash", "arguments": GIVEN}]}


@pytest.mark.sdk
@pytest.mark.parametrize(
    ("module", "kind", "shape"),
    [
        ("openai.types.chat", "ChatCompletionMessageFunctionToolCall", "openai"),
        ("openai.types.responses", "ResponseFunctionToolCall", "responses"),
        ("anthropic.types", "ToolUseBlock", "anthropic"),
    ],
)
def test_a_call_is_taken_as_an_sdk_has_it(tract: Tract, module: str, kind: str, shape: str) -> None:
    made = getattr(sdk(module), kind)
    asked = tract.assistant("I will.", tool_calls=[made.model_validate(SHAPES[shape])])
    assert asked.metadata == {"tool_calls": [{"id": "t1", "name": "Bash", "arguments": GIVEN}]}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("Bash", r"tool_calls\[1\] is not an object, but str"),
        (None, r"tool_calls\[1\] is not an object, but NoneType"),
        ({}, r"tool_calls\[1\] has no tool name"),
        ({"id": "t1", "function": {"arguments": "{}"}}, r"tool_calls\[1\] has no tool name"),
        ({"id": 1, "name": "Bash"}, r"tool_calls\[1\]\.id must be a string, not int"),
        ({"id": "t1", "name": ["Bash"]}, r"tool_calls\[1\]\.name must be a string, not list"),
        ({"type": "tool_use", "name": "Bash", "input": {1: 2}}, "the key 1 is not a string"),
    ],
)
def test_other_commits_are_refused(tract: Tract, given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tract.assistant("", tool_calls=[SHAPES["openai"], given])
    assert tract.log() == []
