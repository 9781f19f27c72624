"""Amazon Bedrock's Converse."""

from typing import Any

JsonObject = dict[str, Any]

WORDS = {"text": "Go."}


def user(*blocks: JsonObject) -> JsonObject:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: JsonObject) -> JsonObject:
    return {"role": "assistant", "content": list(blocks)}


def call(call_id: str = "t1") -> JsonObject:
    return {"toolUse": {"toolUseId": call_id, "name": "f", "input": {}}}


def answer(call_id: str = "t1", *content: JsonObject, **more: str) -> JsonObject:
    return {"toolResult": {"toolUseId": call_id, "content": list(content or [WORDS]), **more}}


ASK, DONE = user(WORDS), assistant(WORDS)
NOTHING = {"toolResult": {"toolUseId": "t1", "content": []}}
FAILED = {"toolResult": {"toolUseId": "t1", "content": [], "status": "error"}}
NO_ID = {"toolUse": {"name": "f", "input": {}}}

# fmt: off
CASES: list[tuple[str, list[JsonObject], list[JsonObject], str]] = [
    (
        "the user speaks first",
        [ASK, DONE],
        [DONE],
        "messages.0: role 'assistant' where 'user' must be",
    ), (
        "roles alternate",
        [ASK, DONE, ASK],
        [ASK, ASK],
        "messages.1: role 'user' where 'assistant' must be",
    ), (
        "each call has a result in the next message, in any order",
        [ASK, assistant(call("t1"), call("t2")), user(answer("t2"), answer("t1"))],
        [ASK, assistant(call("t1"), call("t2")), user(answer("t2"))],
        "messages.2: call 't1' has no result",
    ), (
        "a result does not come late",
        [ASK, assistant(call()), user(answer()), DONE, ASK],
        [ASK, assistant(call()), ASK, DONE, user(answer())],
        "messages.4: result 't1' has no call",
    ), (
        "a call has one result",
        [ASK, assistant(call()), user(answer())],
        [ASK, assistant(call()), user(answer(), answer())],
        "call 't1' has 2 results",
    ), (
        "results stand first",
        [ASK, assistant(call()), user(answer(), WORDS)],
        [ASK, assistant(call()), user(WORDS, answer())],
        "the result of 't1' stands behind something else",
    ), (
        "a result has a call",
        [ASK, assistant(call()), user(answer())],
        [ASK, DONE, user(answer())],
        "result 't1' has no call in the turn before",
    ), (
        "a conversation does not end with open calls",
        [ASK, assistant(call()), user(answer())],
        [ASK, assistant(call())],
        "the end: call 't1' has no result",
    ), (
        "a call is the assistant's",
        [ASK, assistant(call()), user(answer())],
        [user(call()), DONE],
        "a call in a message that is not the assistant's",
    ), (
        "a result is the user's",
        [ASK, assistant(call()), user(answer())],
        [user(call()), assistant(answer())],
        "a result in a message that is not the user's",
    ), (
        "ids are unique over the request",
        [ASK, assistant(call("t1")), user(answer("t1")), assistant(call("t2")), user(answer("t2"))],
        [ASK, assistant(call("t1")), user(answer("t1")), assistant(call("t1")), user(answer("t1"))],
        "toolUseId 't1' is not unique",
    ), (
        "ids have letters, digits, _, -, . and :",
        [ASK, assistant(call("a_B-9.:")), user(answer("a_B-9.:"))],
        [ASK, assistant(call("a|b")), user(answer("a|b"))],
        "'a|b' has the wrong form",
    ), (
        "ids have 64 characters at most",
        [ASK, assistant(call("x" * 64)), user(answer("x" * 64))],
        [ASK, assistant(call("x" * 65)), user(answer("x" * 65))],
        "has the wrong form",
    ), (
        "ids are not empty",
        [],
        [ASK, assistant(call("")), user(answer(""))],
        "'' has the wrong form",
    ), (
        "ids are there",
        [],
        [ASK, assistant(NO_ID), ASK],
        "'' has the wrong form",
    ), (
        "a text is not blank",
        [ASK],
        [user(WORDS, {"text": " "})],
        "a blank text",
    ), (
        "nor is one in a result",
        [ASK, assistant(call()), user(answer("t1", {"json": {}}))],
        [ASK, assistant(call()), user(answer("t1", {"text": ""}))],
        "a blank text",
    ), (
        "a failure has content",
        [ASK, assistant(call()), user(NOTHING)],
        [ASK, assistant(call()), user(FAILED)],
        "a failed result without content",
    ), (
        "a message has content",
        [ASK, DONE],
        [ASK, assistant()],
        "messages.1: empty content",
    ), (
        "the last words do not end in white space",
        [ASK, assistant({"text": "Done."})],
        [ASK, assistant({"text": "Done. "})],
        "the end: white space",
    ),
]
