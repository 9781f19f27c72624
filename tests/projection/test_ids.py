"""Ids that pair two ways: a request that was mended pairs in one."""

from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.oracles.repairs import repair
from support.rows import for_each

from toolcarry import ProjectPolicy

REPAIR = ProjectPolicy(repair=True)
INTERRUPTED = "[Tool use interrupted: no result]"


def asks(*calls: tuple[str, str]) -> dict[str, Any]:
    """Return an Ollama message with calls of these ids and names; an empty id is left out."""
    own = [{"id": call_id, "function": {"name": name, "arguments": {}}} for call_id, name in calls]
    return {
        "role": "assistant",
        "tool_calls": [call if call["id"] else {"function": call["function"]} for call in own],
    }


def tells(name: str, content: str, **members: str) -> dict[str, Any]:
    return {"role": "tool", "tool_name": name, **members, "content": content}


def test_ids_that_repeat_in_a_turn_of_ollamas(api: ModuleType) -> None:
    messages = [asks(("t1", "f"), ("t1", "g")), tells("f", "x", tool_call_id="t1")]
    once = api.project(messages, policy=REPAIR)
    assert [message.get("tool_call_id") for message in once.messages[1:]] == ["t1", "t1_2"]
    assert [message["tool_name"] for message in once.messages[1:]] == ["f", "g"]
    assert api.project(once.messages, policy=REPAIR).report.mends == ()


def test_calls_with_and_without_ids_in_one_turn(api: ModuleType) -> None:
    calls = asks(("t1", "f"), ("", "f"), ("t2", "f"), ("", "g"))
    once = api.project([calls, tells("f", "x"), tells("f", "y")], policy=REPAIR)
    found = [(message["content"], message.get("tool_call_id")) for message in once.messages[1:]]
    assert found == [("x", None), ("y", "t1"), (INTERRUPTED, "t2"), (INTERRUPTED, None)]
    assert api.project(once.messages, policy=REPAIR).report.mends == ()


def test_an_id_that_a_call_of_the_providers_own_has(api: ModuleType) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    own = {"type": "web_search_call", "call_id": "c1", "action": {"type": "search"}}
    answer = {"type": "function_call_output", "output": "x"}
    once = api.project([call, own, answer], policy=REPAIR)
    assert api.project(once.messages, policy=REPAIR).report.mends == ()
    assert [message["call_id"] for message in once.messages] == ["c1_2", "c1", "c1_2"]


def test_a_result_without_id_is_no_answer_to_a_call_of_the_providers_own(api: ModuleType) -> None:
    own = {"type": "web_search_call", "call_id": "c1", "action": {"type": "search"}}
    call = {"type": "function_call", "call_id": "c2", "name": "f", "arguments": "{}"}
    answer = {"type": "function_call_output", "call_id": "c2", "output": "x"}
    lost = {"type": "function_call_output", "output": "y"}
    once = api.project([own, call, answer, lost], policy=REPAIR)
    assert once.messages == [own, call, answer]


def test_a_message_with_calls_is_the_models(api: ModuleType) -> None:
    part = {"functionCall": {"name": "f", "args": {}}}
    ask = {"role": "user", "parts": [{"text": "Go."}]}
    messages = [ask, {"role": "modell", "parts": [part]}, {"role": "model", "parts": [part]}]
    once = api.project(messages, policy=REPAIR)
    assert [message["role"] for message in once.messages] == ["user", "model", "model", "user"]
    assert api.project(once.messages, policy=REPAIR).report.mends == ()


def test_a_result_says_the_name_of_its_call_where_it_must(api: ModuleType) -> None:
    said = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    answer = {"role": "user", "parts": [{"functionResponse": {"response": {"result": "x"}}}]}
    ask = {"role": "user", "parts": [{"text": "Go."}]}
    once = api.project([ask, said, answer], policy=REPAIR)
    assert once.messages[2]["parts"][0]["functionResponse"]["name"] == "f"
    assert [(mend.kind, mend.detail) for mend in once.report.mends] == [("renamed_tool", "f")]
    assert (
        api.project([asks(("", "f")), {"role": "tool", "content": "x"}], policy=REPAIR).report.mends
        == ()
    )


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_a_call_in_the_content_that_is_not_among_the_calls(api: ModuleType, provider: str) -> None:
    """Chat Completions refuses a result that answers no call in `tool_calls`."""
    said = {**asks(("t1", "f")), "content": [wire.use("t2", "g")]}
    kind: dict[str, Any] = {"type": "function"} if provider == "openai" else {}
    said["tool_calls"] = [call | kind for call in said["tool_calls"]]
    results = [tells("g", "y", tool_call_id="t2"), tells("f", "x", tool_call_id="t1")]
    once = repair(api, [said, *results], provider)
    assert once.messages == [said, results[1]]
    assert [(mend.kind, mend.position, mend.call_id) for mend in once.report.mends] == [
        ("orphan_result", 1, "t2")
    ]


def test_a_result_without_id_next_to_a_call_in_the_content(api: ModuleType) -> None:
    """The ids that remain decide which call it answers: the next projection could pair it with the call in the content."""
    said = {**asks(("t1", "f"), ("t3", "f")), "content": [wire.use("t2", "f")]}
    for results in ([{"tool_call_id": "t2"}, {}, {}], [{}, {}, {}]):
        answers = [tells("f", f"{number}", **own) for number, own in enumerate(results)]
        once = api.project([said, *answers], policy=REPAIR)
        assert [message["content"] for message in once.messages[1:]] == ["1", "2"]
        assert [message["tool_call_id"] for message in once.messages[1:]] == ["t1", "t3"]
        assert api.project(once.messages, policy=REPAIR).report.mends == ()


POLICIES = [
    REPAIR,
    *[ProjectPolicy(repair=True, max_result_chars=limit) for limit in range(44, 60)],
    *[ProjectPolicy(repair=True, max_result_tokens=limit) for limit in range(14, 24)],
]


@for_each("policy", POLICIES)
def test_a_reference_that_another_result_made_longer(
    api: ModuleType, policy: ProjectPolicy
) -> None:
    """Of two results with one id the second is `t1#2`, and `t1` in what it is projected to: decisions are alike.

    The first one answers no call, and repair takes it out.
    """
    lost = wire.user(wire.result("t1", "lost"), {"type": "text", "text": "Go on."})
    newer = wire.bash("ls", "x", "t2")
    for size in range(36, 72):
        for text in ("a" * size, "日" * size):
            messages = [lost, *wire.bash("ls", text, "t1"), *newer, *wire.bash("w", text, "t2")]
            once = api.project(messages, policy=policy)
            twice = api.project(once.messages, policy=policy)
            assert twice.messages == once.messages
            for found in once.report.replacements:
                assert api.resolve(messages, found.reference) == text


def test_no_id_is_made_that_a_result_without_call_has(api: ModuleType) -> None:
    call = {"type": "tool_use", "id": "t1€", "name": "f", "input": {}}
    answer = {"type": "web_search_tool_result", "tool_use_id": "t1", "content": []}
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]
    once = api.project(messages, policy=REPAIR)
    assert once.messages[0]["content"][0]["id"] == "t1_2"
    assert api.project(once.messages, policy=REPAIR).report.mends == ()
