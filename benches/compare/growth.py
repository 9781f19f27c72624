"""The inputs of ``linear.py``: what might take a parser, a matcher or a loop more than linear time, of any size."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Message = dict[str, Any]

OPEN_MARKER = "[CONTEXT FROM PREVIOUS SESSION]\n"
CLOSE_MARKER = "[/CONTEXT FROM PREVIOUS SESSION]\n"


def base64(size: int) -> str:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return "".join(random.Random(1).choices(alphabet, k=size))


def repeated(pattern: str) -> Callable[[int], str]:
    """Text of any size made of one pattern."""

    def build(size: int) -> str:
        return (pattern * (size // len(pattern) + 1))[:size]

    return build


TEXTS: dict[str, Callable[[int], str]] = {
    "spaces": repeated(" "),
    "a": repeated("a"),
    "backticks": repeated("`"),
    "tildes": repeated("~"),
    "fences": repeated("```\n~~~~\n"),
    "newlines": repeated("\n"),
    "carriage returns": repeated("\r"),
    "brackets": repeated("["),
    "thoughts": repeated("<think></think>"),
    "open thoughts": repeated("`<think>`"),
    "escapes": repeated("\x1b"),
    "open sequences": repeated("\x1b["),
    "open titles": repeated("\x1b]0;"),
    "combining marks": repeated("\u0301"),
    "regional indicators": repeated("\U0001f1e9"),
    "joined emoji": repeated("\U0001f469\u200d"),
    "lone surrogates": repeated("\ud800"),
    "ideographs": repeated("\u6f22"),
    "base64": base64,
    "double quotes": repeated('"'),
    "single quotes": repeated("'"),
    "backslashes": repeated("\\"),
    "substitutions": repeated("$("),
    "arithmetic": repeated("$(("),
    "braces": repeated("${a:-"),
    "parentheses": repeated("("),
    "here-documents": repeated("<<E "),
    "commands": repeated("ls; "),
    "headings": repeated("# \n"),
    "comments": repeated("<!--\n"),
    "lists": repeated("- > "),
    "opening markers": repeated(OPEN_MARKER),
    "closing markers": repeated(CLOSE_MARKER),
}


def call(call_id: str, name: str, given: Message) -> Message:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str, content: Any) -> Message:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def assistant(*blocks: Message) -> Message:
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks: Message) -> Message:
    return {"role": "user", "content": list(blocks)}


def one_result(name: str, given: Message, content: Any) -> list[Message]:
    """A conversation of one call."""
    return [assistant(call("t1", name, given)), user(result("t1", content))]


def pairs(
    count: int, name: str, given: Callable[[int], Message], call_id: str = "t{}"
) -> list[Message]:
    """``count`` calls, each with its result in the next message."""
    messages = []
    for number in range(count):
        own_id = call_id.format(number)
        messages.append(assistant(call(own_id, name, given(number))))
        messages.append(user(result(own_id, f"output {number}")))
    return messages


def dialogue(count: int) -> list[Message]:
    roles = ("user", "assistant")
    return [{"role": roles[number % 2], "content": f"text {number}"} for number in range(count)]


def without_ids(count: int) -> list[Message]:
    """Ollama's form: a call and a result are paired by turn and name."""
    messages: list[Message] = []
    for number in range(count // 2):
        function = {"name": "read_file", "arguments": {"path": f"{number}.py"}}
        messages.append(
            {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
        )
        messages.append({"role": "tool", "tool_name": "read_file", "content": f"output {number}"})
    return messages


def one_turn_without_ids(count: int) -> list[Message]:
    half = count // 2
    function = {"name": "read_file", "arguments": {"path": "a.py"}}
    calls = {"role": "assistant", "content": "", "tool_calls": [{"function": function}] * half}
    answer = {"role": "tool", "tool_name": "read_file", "content": "output"}
    return [calls, *[answer] * half]


def parted_turn(count: int) -> list[Message]:
    """Calls that the user spoke over, one by one, and then as many results of another tool."""
    function = {"name": "read_file", "arguments": {"path": "a.py"}}
    calls = {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
    third = count // 3
    answer = {"role": "tool", "tool_name": "grep", "content": "output"}
    return [calls, {"role": "user", "content": "No."}] * third + [answer] * third


def items(count: int) -> list[Message]:
    """OpenAI Responses: every call and every result is an item of its own."""
    found: list[Message] = []
    for number in range(count // 2):
        arguments = f'{{"command": "head -{number} a.py"}}'
        held = {"call_id": f"c{number}", "name": "shell", "arguments": arguments}
        answer = {"call_id": f"c{number}", "output": f"output {number}"}
        found += [{"type": "function_call", **held}, {"type": "function_call_output", **answer}]
    return found


def one_turn_of_one_id(count: int) -> list[Message]:
    given = {"pattern": "x"}
    answers = [result("g", f"output {number}") for number in range(count // 2)]
    return [assistant(*[call("g", "Grep", given)] * (count // 2)), user(*answers)]


def one_turn(count: int) -> list[Message]:
    """All calls in one message, all results in the next, in the same order."""
    given = {"pattern": "x"}
    calls = [call(f"t{number}", "Grep", given) for number in range(count)]
    return [assistant(*calls), user(*[result(f"t{number}", "output") for number in range(count)])]


def calls_alone(count: int) -> list[Message]:
    return [assistant(call(f"t{number}", "Grep", {"pattern": "x"})) for number in range(count)]


def results_alone(count: int) -> list[Message]:
    return [user(result(f"t{number}", "output")) for number in range(count)]


def second_results(count: int) -> list[Message]:
    """One call, and a result for it in every message."""
    answers = [user(result("t1", "output")) for _ in range(count - 1)]
    return [assistant(call("t1", "Grep", {"pattern": "x"})), *answers]


def session(count: int, parent: Callable[[int], str | None]) -> list[Message]:
    """A session file of ``count`` records."""
    return [
        {
            "uuid": f"u{number}",
            "parentUuid": parent(number),
            "type": "user",
            "message": {"role": "user", "content": f"text {number}"},
        }
        for number in range(count)
    ]


def file_path(_: int) -> Message:
    return {"file_path": "a.py"}


def next_range(number: int) -> Message:
    return {"file_path": "a.py", "offset": number * 100 + 1, "limit": 100}


def growing_range(number: int) -> Message:
    return {"file_path": "a.py", "offset": number + 1, "limit": number + 1}


def edit(number: int) -> Message:
    return {"file_path": "a.py", "old_string": f"{number}", "new_string": f"{number + 1}"}


MESSAGES: dict[str, Callable[[int], list[Message]]] = {
    "dialogue": dialogue,
    "pairs of many files": lambda count: pairs(
        count // 2, "Read", lambda number: {"file_path": f"{number}.py"}
    ),
    "pairs of one id": lambda count: pairs(
        count // 2, "Grep", lambda _: {"pattern": "x"}, "call_0"
    ),
    "pairs without ids": without_ids,
    "one turn": lambda count: one_turn(count // 2),
    "one turn without ids": one_turn_without_ids,
    "one turn of one id": one_turn_of_one_id,
    "a turn that the user parts": parted_turn,
    "items of their own": items,
    "calls alone": calls_alone,
    "results alone": results_alone,
    "second results": second_results,
    "session of one chain": lambda count: session(
        count, lambda number: f"u{number - 1}" if number else None
    ),
    "session of broken chains": lambda count: session(count, lambda number: f"lost{number}"),
    "parts of one result": lambda count: one_result(
        "Bash", {"command": "ls"}, [{"type": "text", "text": "line"}] * count
    ),
}
"""Makers of conversations of a number of messages or parts."""

RESULTS: dict[str, Callable[[int], list[Message]]] = {
    "reads": lambda count: pairs(count, "Read", file_path),
    "adjacent ranges": lambda count: pairs(count, "Read", next_range),
    "growing ranges": lambda count: pairs(count, "Read", growing_range),
    "edits": lambda count: pairs(count, "Edit", edit),
    "commands that read": lambda count: pairs(count, "Bash", lambda _: {"command": "cat a.py"}),
    "commands that write": lambda count: pairs(count, "Bash", lambda _: {"command": "rm a.py"}),
    "different commands": lambda count: pairs(
        count, "Bash", lambda number: {"command": f"head -{number} a.py"}
    ),
}
"""A number of results of one file."""
