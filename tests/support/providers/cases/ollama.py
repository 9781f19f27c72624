"""Ollama's own chat."""

from typing import Any

JsonObject = dict[str, Any]

ASK = {"role": "user", "content": "Go."}
DONE = {"role": "assistant", "content": "Done."}
TOLD = {"role": "tool", "content": "ok"}


def asked(*names: str, arguments: Any = None) -> JsonObject:
    given = {} if arguments is None else arguments
    calls = [{"function": {"name": name, "arguments": given}} for name in names]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def told_by(name: str) -> JsonObject:
    return TOLD | {"tool_name": name}


# fmt: off
CASES: list[tuple[str, list[JsonObject], list[JsonObject], str]] = [
    (
        "arguments are objects",
        [ASK, asked("f", arguments={"a": 1}), TOLD],
        [ASK, asked("f", arguments='{"a": 1}'), TOLD],
        "arguments that are no object",
    ), (
        "there are as many results as calls",
        [ASK, asked("f", "g"), TOLD, TOLD, DONE],
        [ASK, asked("f", "g"), TOLD, DONE],
        "2 calls with 1 results",
    ), (
        "and no more",
        [ASK, asked("f"), TOLD],
        [ASK, asked("f"), TOLD, TOLD],
        "1 calls with 2 results",
    ), (
        "nothing stands between calls and results",
        [ASK, asked("f"), TOLD, ASK],
        [ASK, asked("f"), ASK, TOLD],
        "messages.1: 1 calls with 0 results",
    ), (
        "a result has a call",
        [ASK, asked("f"), TOLD],
        [TOLD, ASK],
        "messages.0: 0 calls with 1 results",
    ), (
        "a conversation does not end with open calls",
        [ASK, asked("f"), TOLD],
        [ASK, asked("f")],
        "1 calls with 0 results",
    ), (
        "names are those of the calls, as often, where they are given",
        [ASK, asked("f", "g", "f"), told_by("g"), told_by("f"), TOLD],
        [ASK, asked("f", "g"), told_by("f"), told_by("f")],
        "results of 'f' that were not asked for",
    ), (
        "calls are the assistant's",
        [ASK, asked("f"), TOLD],
        [asked("f") | {"role": "user"}, TOLD],
        "calls in a message that is not the assistant's",
    ),
]
