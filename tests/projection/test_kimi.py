"""Moonshot's Kimi models: reasoning in each message with calls, and the ids that they were trained on."""

import json
from types import ModuleType
from typing import Any

from toolcarry import ProjectPolicy, check

POLICY = ProjectPolicy(repair=True)
ASK = {"role": "user", "content": "Dig."}


def dig(call_id: str, name: str = "dig", **more: Any) -> list[dict[str, Any]]:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}
    said = {"role": "assistant", "content": None, "tool_calls": [call], **more}
    return [said, {"role": "tool", "tool_call_id": call_id, "content": "sand"}]


def sent(api: ModuleType, body: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    written = json.dumps({"model": "kimi-k2.6", **body}).encode()
    once = api.project_body(written, policy=POLICY)
    assert api.project_body(once.body, policy=POLICY).body == once.body
    kinds = [mend.kind for mend in once.report.mends]
    assert [problem.rule for problem in check(written)] == kinds
    assert check(once.body) == ()
    return json.loads(once.body)["messages"], kinds


def reasoning(messages: list[dict[str, Any]]) -> list[str | None]:
    return [message.get("reasoning_content") for message in messages if "tool_calls" in message]


def test_each_message_with_calls_has_reasoning(api: ModuleType) -> None:
    messages = [ASK, *dig("functions.dig:0"), *dig("functions.dig:1", reasoning_content="Deeper.")]
    found, kinds = sent(api, {"messages": messages})
    assert (reasoning(found), kinds) == ([" ", "Deeper."], ["missing_member"])
    plain = [ASK, *dig("functions.dig:0", reasoning_content="")]
    assert sent(api, {"messages": plain}) == (plain, [])
    asked = {"thinking": {"type": "enabled"}, "messages": plain}
    assert reasoning(sent(api, asked)[0]) == [" "]


def test_other_ids_get_its_form(api: ModuleType) -> None:
    messages = [ASK, *dig("functions.dig:0"), *dig("call_9f3a", "sift"), *dig("", "sift")]
    found, kinds = sent(api, {"messages": messages})
    ids = [call["id"] for message in found for call in message.get("tool_calls", ())]
    assert ids == ["functions.dig:0", "functions.sift:1", "functions.sift:2"]
    assert [message["tool_call_id"] for message in found if message["role"] == "tool"] == ids
    assert set(kinds) == {"renamed_id"}


def test_no_new_id_is_one_of_its_turn(api: ModuleType) -> None:
    """A number that a call of the turn has already is left out, also for a call that repeats the id of another."""
    names = ["call_a", "functions.dig:0", "functions.dig:2", "call_b"]
    calls, results = zip(*(dig(name) for name in names), strict=True)
    said = {**calls[0], "tool_calls": [call for each in calls for call in each["tool_calls"]]}
    found, _ = sent(api, {"messages": [ASK, said, *results]})
    ids = [call["id"] for call in found[1]["tool_calls"]]
    assert ids == ["functions.dig:0", "functions.dig:1", "functions.dig:2", "functions.dig:3"]
    assert [message["tool_call_id"] for message in found[2:]] == ids
