"""OpenAI Responses."""

from typing import Any

JsonObject = dict[str, Any]

KINDS = (
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "computer_call",
)
ASK = {"role": "user", "content": "Go."}
DONE = {"type": "message", "role": "assistant", "content": []}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed"}


def call(call_id: str = "t1", kind: str = "function_call") -> JsonObject:
    return {"type": kind, "call_id": call_id}


def output(call_id: str = "t1", kind: str = "function_call") -> JsonObject:
    return {"type": f"{kind}_output", "call_id": call_id}


# fmt: off
CASES: list[tuple[str, list[JsonObject], list[JsonObject], str]] = [
    *(
        (
            f"a {kind} has an output somewhere behind it",
            [ASK, call("t1", kind), ASK, output("t1", kind)],
            [ASK, call("t1", kind), ASK],
            f"the end: {kind} 't1' has no output",
        )
        for kind in KINDS
    ), (
        "an output has a call",
        [ASK, call(), output()],
        [ASK, output()],
        "function_call_output 't1' has no call before it",
    ), (
        "and that stands before it",
        [ASK, call(), output()],
        [ASK, output(), call()],
        "function_call_output 't1' has no call before it",
    ), (
        "an output is of its call's kind, or a function's where the client has its own shell",
        [ASK, call("t1", "local_shell_call"), output()],
        [ASK, call("t1", "custom_tool_call"), output()],
        "function_call_output 't1' has no call before it",
    ), (
        "a call has one output",
        [ASK, call(), output()],
        [ASK, call(), output(), output()],
        "call 't1' has a second output",
    ), (
        "ids are unique over the input",
        [ASK, call(), output(), call("t2"), output("t2")],
        [ASK, call(), output(), call(), output()],
        "call id 't1' is not unique",
    ), (
        "ids are not empty",
        [],
        [ASK, call(""), output("")],
        "a call without id",
    ), (
        "ids have 64 characters at most",
        [ASK, call("x" * 64), output("x" * 64)],
        [ASK, call("x" * 65), output("x" * 65)],
        "is longer than 64",
    ), (
        "reasoning is followed by something",
        [ASK, THOUGHT, call(), output()],
        [ASK, THOUGHT],
        "reasoning without the item that it led to",
    ), (
        "and that is the model's, not the user's",
        [ASK, THOUGHT, THOUGHT, SEARCH, THOUGHT, DONE],
        [ASK, THOUGHT, ASK],
        "reasoning without the item that it led to",
    ), (
        "nor an output",
        [ASK, call(), THOUGHT, DONE, output()],
        [ASK, call(), THOUGHT, output()],
        "reasoning without the item that it led to",
    ),
]
