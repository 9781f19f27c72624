"""OpenAI Chat Completions."""

from typing import Any

JsonObject = dict[str, Any]

ASK = {"role": "user", "content": "Go."}
DONE = {"role": "assistant", "content": "Done."}
NOTHING = {"role": "assistant", "content": None}


def asked(*call_ids: str) -> JsonObject:
    function = {"name": "f", "arguments": "{}"}
    calls = [{"id": call_id, "type": "function", "function": function} for call_id in call_ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def told(call_id: str) -> JsonObject:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok"}


# fmt: off
CASES: list[tuple[str, list[JsonObject], list[JsonObject], str]] = [
    (
        "each call has a result directly behind it, in any order",
        [ASK, asked("t1", "t2"), told("t2"), told("t1"), DONE],
        [ASK, asked("t1", "t2"), told("t2"), DONE],
        "messages.3: call 't1' has no result",
    ), (
        "nothing stands between calls and results",
        [ASK, asked("t1"), told("t1"), ASK],
        [ASK, asked("t1"), ASK, told("t1")],
        "messages.2: call 't1' has no result",
    ), (
        "a result does not come late",
        [ASK, asked("t1"), told("t1"), ASK],
        [ASK, asked("t1"), ASK, told("t1")],
        "result 't1' has no call that waits for it",
    ), (
        "a call has one result",
        [ASK, asked("t1"), told("t1")],
        [ASK, asked("t1"), told("t1"), told("t1")],
        "result 't1' has no call that waits for it",
    ), (
        "a result has a call",
        [ASK, asked("t1"), told("t1")],
        [ASK, told("t1")],
        "result 't1' has no call that waits for it",
    ), (
        "a conversation does not end with open calls",
        [ASK, asked("t1"), told("t1")],
        [ASK, asked("t1")],
        "the end: call 't1' has no result",
    ), (
        "ids are unique in a message, and may come again in a later one",
        [ASK, asked("t1"), told("t1"), asked("t1"), told("t1")],
        [ASK, asked("t1", "t1"), told("t1"), told("t1")],
        "id 't1' stands twice",
    ), (
        "ids are not empty",
        [],
        [ASK, asked(""), told("")],
        "a call without id",
    ), (
        "ids have 40 characters at most",
        [ASK, asked("x" * 40), told("x" * 40)],
        [ASK, asked("x" * 41), told("x" * 41)],
        "is longer than 40",
    ), (
        "a list of calls has calls",
        [ASK, DONE],
        [ASK, DONE | {"tool_calls": []}],
        "an empty list of calls",
    ), (
        "calls are the assistant's",
        [ASK, asked("t1"), told("t1")],
        [ASK | {"tool_calls": asked("t1")["tool_calls"]}, told("t1")],
        "calls in a message that is not the assistant's",
    ), (
        "an answer has content or calls",
        [ASK, NOTHING | {"refusal": "No."}],
        [ASK, NOTHING],
        "neither content nor calls",
    ),
]
