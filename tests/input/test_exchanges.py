"""Documents with a request and the model's answer next to it: the answer is read, or reported as unread."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.oracles.format_checks import blocks
from support.rows import for_each

JsonObject = dict[str, Any]
ASKED = {"role": "user", "content": "Count the hens."}
FUNCTION = {"name": "count", "arguments": '{"what": "hens"}'}
CHAT = {"role": "assistant", "content": "I count.", "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}]}  # fmt: skip
COMPLETION = {"id": "x", "object": "chat.completion", "choices": [{"index": 0, "message": CHAT}]}
ITEMS = [
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I count."}]},
    {"type": "function_call", "call_id": "c1", **FUNCTION},
]  # fmt: skip
USE = {"type": "tool_use", "id": "c1", "name": "count", "input": {"what": "hens"}}
SPOKEN = {"type": "text", "text": "I count."}
TYPED_PARTS = [
    {"type": "text", "content": "I count."},
    {"type": "tool_call", "id": "c1", "name": "count", "arguments": {"what": "hens"}},
]
ANSWERS: list[Any] = [
    COMPLETION,
    json.dumps(COMPLETION),
    [{"index": 0, "message": CHAT}],
    CHAT,
    [CHAT],
    {"messages": [ASKED, CHAT]},
    {"id": "r", "object": "response", "output": ITEMS},
    ITEMS,
    {"type": "message", "role": "assistant", "content": [SPOKEN, USE]},
    {"message": CHAT, "done": True},
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "I count."}, {"functionCall": {"id": "c1", "name": "count", "args": {}}}]}}]},
    {"output": {"message": {"role": "assistant", "content": [{"text": "I count."}, {"toolUse": {"toolUseId": "c1", "name": "count", "input": {}}}]}}, "stopReason": "tool_use"},
    [{"role": "assistant", "parts": TYPED_PARTS, "finish_reason": "tool_call"}],
]  # fmt: skip
"""The same answer, as providers and logs write it."""
REQUESTS: list[JsonObject] = [
    {"messages": [ASKED]},
    {"model": "m", "messages": [ASKED], "metadata": {}},
    {"input": [ASKED]},
    {"input": "Count the hens."},
    {"contents": [{"role": "user", "parts": [{"text": "Count the hens."}]}]},
    {"gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Count the hens."}]}]},
]  # fmt: skip
KEYS = ["response", "output", "outputs", "completion", "gen_ai.output.messages"]
TOLD = "[USER]\nCount the hens.\n[/USER]\n\n[ASSISTANT]\nI count.\n[/ASSISTANT]"


def body(document: JsonObject) -> bytes:
    return json.dumps(document).encode()


@given(st.sampled_from(REQUESTS), st.sampled_from(KEYS), st.sampled_from(ANSWERS))
@examples(200)
def test_the_answer_belongs_to_the_conversation(
    api: ModuleType, rust: ModuleType, request_: JsonObject, key: str, answer: Any
) -> None:
    for given_ in (body({**request_, key: answer}), body({key: answer, **request_}) + b"\n"):
        assert [(block.call_id, block.tool_name) for block in blocks(api, given_)] == [
            ("c1", "count")
        ]
        assert api.dialogue(given_) == TOLD
        survey = rust.inspect(given_, tokens=True)
        assert (survey.calls, survey.orphan_calls, survey.unread.count) == (1, 1, 0)
        assert api.carry(given_).report.unread.count == 0


UNREADABLE: list[Any] = [
    {"error": {"message": "overloaded"}},
    {"choices": [{"message": CHAT}, {"message": CHAT}]},
    {"choices": []},
    ["one", "two"],
    [CHAT, 7],
    "ModelResponse(id='x', choices=[Choices(message=Message(content='I count.'))])",
    {"n": 1},
    7,
    True,
]


@for_each("answer", UNREADABLE)
@for_each("key", [*KEYS, "intermediate_steps"])
def test_an_answer_that_is_not_read_is_reported(
    api: ModuleType, rust: ModuleType, key: str, answer: Any
) -> None:
    for request_ in REQUESTS:
        document = body({**request_, key: answer})
        unread = rust.inspect(document).unread
        assert (unread.count, unread.first[-1].position) == (1, 1)
        assert api.carry(document).report.unread.count == 1
        assert "I count" not in api.dialogue(document)


@for_each("nothing", [None, "", [], {}, False, 0])
def test_no_answer(api: ModuleType, rust: ModuleType, nothing: Any) -> None:
    for request_ in REQUESTS:
        document = body({**request_, "response": nothing, "output": nothing})
        assert api.dialogue(document) == api.dialogue(body(request_))
        assert rust.inspect(document) == rust.inspect(body(request_))


@for_each(
    "document",
    [
        {"messages": [ASKED, CHAT], "output": COMPLETION},
        {"messages": [ASKED, CHAT], "response": CHAT, "output": COMPLETION},
        {"messages": [ASKED], "response": COMPLETION, "outputs": [{"text": "I count."}]},
        {"messages": [ASKED], "response": COMPLETION, "output": [ASKED, CHAT]},
    ],
)
def test_an_answer_is_told_once(api: ModuleType, rust: ModuleType, document: JsonObject) -> None:
    """Logs repeat it as the last message, or in another form, of which something else is reported."""
    assert api.dialogue(body(document)) == TOLD
    assert [block.call_id for block in blocks(api, body(document))] == ["c1"]
    assert rust.inspect(body(document)).unread.count == ("outputs" in document)


def test_two_different_answers(api: ModuleType, rust: ModuleType) -> None:
    document = body({"messages": [ASKED], "response": COMPLETION, "output": "Forty."})
    assert api.dialogue(document) == TOLD
    assert rust.inspect(document).unread.count == 1


def test_a_log_of_openhands_has_both_forms(api: ModuleType, rust: ModuleType) -> None:
    """Without native calls, the model gets and writes them as text; the log has the calls next to it."""
    result = {"role": "tool", "tool_call_id": "c1", "name": "count", "content": "forty"}
    document = body({
        "messages": [ASKED, {"role": "assistant", "content": "<function=count>"}, {"role": "user", "content": "EXECUTION RESULT"}],
        "response": {"choices": [{"message": {"role": "assistant", "content": "Forty. </function>"}}]},
        "fncall_messages": [ASKED, CHAT, result],
        "fncall_response": {"choices": [{"message": {"role": "assistant", "content": "Forty."}}]},
    })  # fmt: skip
    (block,) = blocks(api, document)
    assert (block.call_id, block.tool_result) == ("c1", result)
    assert api.dialogue(document) == f"{TOLD}\n\n[ASSISTANT]\nForty.\n[/ASSISTANT]"
    assert rust.inspect(document).unread.count == 0


ACTION = {"tool": "count", "tool_input": {"what": "hens"}, "log": "", "tool_call_id": "c1"}


@for_each(
    "action",
    [
        ACTION,
        {**ACTION, "tool_input": "hens", "type": "AgentAction"},
        {"lc": 1, "type": "constructor", "id": ["langchain", "AgentAction"], "kwargs": ACTION},
    ],
)
@for_each("observation", ["forty", {"count": 40}, ["forty"]])
def test_the_steps_of_an_agent_executor(
    api: ModuleType, rust: ModuleType, action: JsonObject, observation: Any
) -> None:
    document = {"input": "Count the hens.", "intermediate_steps": [[action, observation]], "output": "Forty."}  # fmt: skip
    (block,) = blocks(api, body(document))
    assert (block.call_id, block.tool_name) == ("c1", "count")
    assert ("40" if isinstance(observation, dict) else "forty") in api.carry(body(document)).text
    told = "[USER]\nCount the hens.\n[/USER]\n\n[ASSISTANT]\nForty.\n[/ASSISTANT]"
    assert api.dialogue(body(document)) == told
    assert rust.inspect(body(document)).unread.count == 0


def test_a_request_is_projected_without_its_answer(rust: ModuleType) -> None:
    document = {"messages": [ASKED], "response": COMPLETION}
    projected = rust.project_body(body(document))
    assert json.loads(projected.body) == document


@pytest.mark.parametrize("kind", ["event", "function_call_output"])
def test_a_single_item_is_no_exchange(api: ModuleType, kind: str) -> None:
    item = {"type": kind, "call_id": "c1", "output": "forty", "input": [ASKED]}
    assert len(blocks(api, body(item))) == (kind == "function_call_output")
