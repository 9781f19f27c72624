"""Halves of characters that a client cut in two: readers of JSON refuse the whole request."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from toolcarry import ProjectPolicy, check

HALF = "\ud83d"
LOW = "\ude00"
WHOLE = "\N{GRINNING FACE}"

words = st.lists(st.sampled_from(("tide ", HALF, LOW, WHOLE, "\\", '"', "\0")), max_size=6).map(
    "".join
)


def request(destination: str, name: str, said: str, result: str, argument: str) -> dict[str, Any]:
    """Return a request with a call; its messages and its system prompt have texts of a strategy."""
    if destination == "openai-chat":
        call = {"id": "t1", "type": "function", "function": {"name": "sh", "arguments": "{}"}}
        messages = [
            {"role": "user", "content": [{"type": "text", "text": said + "."}]},
            {"role": "assistant", "content": argument, "tool_calls": [call], name + "x": None},
            {"role": "tool", "tool_call_id": "t1", "content": result + "."},
        ]
        return {"model": "m", "messages": messages}
    called = {
        "type": "tool_use",
        "id": "t1",
        "name": "sh",
        "input": {name + "x": [argument, 1, None, True]},
    }
    messages = [
        {"role": "user", "content": said + "."},
        {"role": "assistant", "content": [called]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": result + "."}],
        },
    ]
    return {"model": "m", "system": said, "messages": messages}


def cleaned(value: Any) -> Any:
    """Replace each lone surrogate of a decoded value; the reader has already joined the pairs."""
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in value)
    if isinstance(value, list):
        return [cleaned(each) for each in value]
    if isinstance(value, dict):
        return {cleaned(key): cleaned(each) for key, each in value.items()}
    return value


@pytest.mark.parametrize("destination", ["anthropic", "openai-chat"])
@examples(1_000)
@given(texts=st.tuples(words, words, words, words))
def test_half_characters_are_replaced(
    api: ModuleType, destination: str, texts: tuple[str, str, str, str]
) -> None:
    written = json.dumps(request(destination, *texts)).encode()
    body = json.loads(written)  # joins halves that meet
    policy = ProjectPolicy(repair=True, destination=destination)
    once = api.project_body(written, policy=policy)
    assert json.loads(once.body) == cleaned(body)
    json.loads(once.body.decode("utf-8", "strict"))
    assert api.project_body(once.body, policy=policy).body == once.body
    is_broken = cleaned(body) != body
    kinds = {mend.kind for mend in once.report.mends}
    assert ("lone_surrogate" in kinds) == is_broken
    assert {problem.rule for problem in check(written, destination=destination)} == kinds
    found = api.project(body["messages"], policy=policy)
    assert found.messages == cleaned(body["messages"])
    assert api.project(found.messages, policy=policy).messages == found.messages


def test_without_repair_they_stay(api: ModuleType) -> None:
    messages = request("anthropic", "a", HALF, HALF, HALF)["messages"]
    assert api.project(messages, max_result_chars=100).messages == messages


def calls_of(*ids: str) -> list[dict[str, Any]]:
    function = {"name": "sh", "arguments": "{}"}
    calls = [{"id": call_id, "type": "function", "function": function} for call_id in ids]
    results = [{"role": "tool", "tool_call_id": call_id, "content": call_id} for call_id in ids]
    said = {"role": "assistant", "content": None, "tool_calls": calls}
    return [{"role": "user", "content": "Go."}, said, *reversed(results)]


@pytest.mark.parametrize("name", ["openai-chat", "openrouter", "kimi"])
def test_ids_that_differ_by_half_a_character(api: ModuleType, name: str) -> None:
    """Both would become the same, and a result would answer another call."""
    messages = calls_of(f"id{HALF}", f"id{LOW}", "id")
    policy = ProjectPolicy(repair=True, destination=name)
    found = api.project(messages, policy=policy)
    ids = [call["id"] for call in found.messages[1]["tool_calls"]]
    assert len(set(ids)) == 3
    assert [message["tool_call_id"] for message in found.messages[2:]] == ids[::-1]
    assert [message["content"] for message in found.messages[2:]] == [
        "id",
        "id\ufffd",
        "id\ufffd",
    ]
    json.dumps(found.messages, ensure_ascii=False).encode()
    body = json.dumps({"messages": messages}).encode()
    assert json.loads(api.project_body(body, policy=policy).body)["messages"] == found.messages
    assert api.project(found.messages, policy=policy).messages == found.messages


def test_names_that_differ_by_half_a_character(api: ModuleType) -> None:
    """Of tools, where the destination takes any name, and of arguments."""
    calls = [
        {
            "function": {
                "name": f"sh{half}",
                "arguments": {f"a{HALF}": 1, f"a{LOW}": 2, "a\ufffd": 3},
            }
        }
        for half in (HALF, LOW)
    ]
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "", "tool_calls": calls},
        *(
            {"role": "tool", "tool_name": call["function"]["name"], "content": "1"}
            for call in calls
        ),
    ]
    found = api.project(messages, policy=ProjectPolicy(repair=True, destination="ollama"))
    functions = [call["function"] for call in found.messages[1]["tool_calls"]]
    assert len({function["name"] for function in functions}) == 2
    arguments = {"a\ufffd_2": 1, "a\ufffd_3": 2, "a\ufffd": 3}
    assert [function["arguments"] for function in functions] == [arguments] * 2
    json.dumps(found.messages, ensure_ascii=False).encode()
