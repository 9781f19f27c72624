"""A message that holds several steps: what the model said after a result stands after it, and dependent calls stay in order."""

import json
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

from support.oracles.format_checks import JsonObject
from support.rows import for_each

from toolcarry.tract import Tract

Steps: TypeAlias = list[tuple[str, list[str]]]
"""The text of each step, and the names of its calls; call ``A`` gets the result ``result-A``."""

ONE: Steps = [("text-1", ["A"]), ("text-2", [])]
DEPENDENT: Steps = [("text-1", ["A"]), ("", ["B"]), ("text-2", ["C", "D"]), ("text-3", [])]
SILENT: Steps = [("", ["A"]), ("", ["B"]), ("text-1", [])]


def text_parts(text: str) -> list[JsonObject]:
    return [{"type": "text", "text": text}] if text else []


def asked(parts: list[JsonObject]) -> list[JsonObject]:
    return [
        {"id": "m1", "role": "user", "parts": text_parts("question")},
        {"id": "m2", "role": "assistant", "parts": parts},
    ]


def ai_sdk_5(steps: Steps, *, has_marks: bool = True) -> list[JsonObject]:
    parts: list[JsonObject] = []
    for text, names in steps:
        parts += [{"type": "step-start"}] if has_marks else []
        parts += [{"type": "reasoning", "text": "hm"}] if has_marks else []
        parts += text_parts(text)
        parts += [
            {"type": f"tool-{name}", "toolCallId": name, "state": "output-available", "input": {"of": name}, "output": f"result-{name}"}
            for name in names
        ]  # fmt: skip
    return asked(parts)


def invocations(steps: Steps) -> list[JsonObject]:
    return [
        {"state": "result", "step": number, "toolCallId": name, "toolName": name, "args": {"of": name}, "result": f"result-{name}"}
        for number, (_, names) in enumerate(steps)
        for name in names
    ]  # fmt: skip


def ai_sdk_4(steps: Steps) -> list[JsonObject]:
    """Its parts have no marks; the calls have the number of their step."""
    parts: list[JsonObject] = []
    for number, (text, _) in enumerate(steps):
        parts += text_parts(text)
        parts += [
            {"type": "tool-invocation", "toolInvocation": each}
            for each in invocations(steps)
            if each["step"] == number
        ]
    return asked(parts)


def opencode(steps: Steps) -> list[JsonObject]:
    parts: list[JsonObject] = []
    for text, names in steps:
        parts += [{"type": "step-start"}, *text_parts(text)]
        parts += [
            {"type": "tool", "callID": name, "tool": name, "state": {"status": "completed", "input": {"of": name}, "output": f"result-{name}"}}
            for name in names
        ]  # fmt: skip
        parts.append({"type": "step-finish", "reason": "tool-calls" if names else "stop"})
    question, answer = asked(parts)
    return [
        {"info": {"id": each["id"], "role": each["role"]}, "parts": each["parts"]}
        for each in (question, answer)
    ]


def ai_sdk_model(steps: Steps) -> list[JsonObject]:
    """The provider ran the tools, so calls and results are parts of one message."""
    parts: list[JsonObject] = []
    for text, names in steps:
        parts += text_parts(text)
        parts += [
            {"type": "tool-call", "toolCallId": name, "toolName": name, "input": {"of": name}, "providerExecuted": True}
            for name in names
        ]  # fmt: skip
        parts += [
            {"type": "tool-result", "toolCallId": name, "toolName": name, "output": {"type": "text", "value": f"result-{name}"}}
            for name in names
        ]  # fmt: skip
    return [{"role": "user", "content": "question"}, {"role": "assistant", "content": parts}]


def pydantic_ai(steps: Steps) -> list[JsonObject]:
    parts: list[JsonObject] = []
    for text, names in steps:
        parts += [{"part_kind": "text", "content": text}] if text else []
        parts += [
            {"part_kind": "builtin-tool-call", "tool_name": name, "args": {"of": name}, "tool_call_id": name}
            for name in names
        ]  # fmt: skip
        parts += [
            {"part_kind": "builtin-tool-return", "tool_name": name, "content": f"result-{name}", "tool_call_id": name}
            for name in names
        ]  # fmt: skip
    question = {"part_kind": "user-prompt", "content": "question"}
    return [{"kind": "request", "parts": [question]}, {"kind": "response", "parts": parts}]


def anthropic(steps: Steps) -> list[JsonObject]:
    content: list[JsonObject] = []
    for text, names in steps:
        content += text_parts(text)
        for name in names:
            content += [
                {"type": "mcp_tool_use", "id": f"mcptoolu_{name}", "name": name, "server_name": "s", "input": {"of": name}},
                {"type": "mcp_tool_result", "tool_use_id": f"mcptoolu_{name}", "content": [{"type": "text", "text": f"result-{name}"}]},
            ]  # fmt: skip
    return [{"role": "user", "content": "question"}, {"role": "assistant", "content": content}]


def unmarked(steps: Steps) -> list[JsonObject]:
    return ai_sdk_5(steps, has_marks=False)


Make: TypeAlias = Callable[[Steps], list[JsonObject]]
EACH = for_each(
    "make", [ai_sdk_5, ai_sdk_4, opencode, ai_sdk_model, pydantic_ai, anthropic, unmarked]
)
STEPS = for_each("steps", [ONE, DEPENDENT, SILENT])


def in_order(value: Any, words: list[str]) -> bool:
    """True if each of these words occurs, and each for the first time after the one before it."""
    text = json.dumps(value)
    places = [text.find(word) for word in words]
    return -1 not in places and places == sorted(places)


def words_of(steps: Steps) -> list[str]:
    words = ["question"]
    for text, names in steps:
        words += [text] if text else []
        words += [f"result-{name}" for name in names]
    return words


@EACH
@STEPS
@for_each("to", ["anthropic", "openai-chat", "openai-responses", "gemini", "bedrock", "ollama"])
def test_an_answer_stands_after_its_result(
    rust: ModuleType, make: Make, steps: Steps, to: str
) -> None:
    messages = make(steps)
    converted = rust.convert(messages, to=to)
    assert not [loss for loss in converted.losses if loss.kind == "unknown"]
    if to != "anthropic" or make is not anthropic:  # else the message stays as it is
        assert in_order(converted.messages, words_of(steps))
    if to == "openai-chat" and make is not unmarked:
        said = [message.get("content") or "" for message in converted.messages if message["role"] == "assistant"]  # fmt: skip
        made = [[call["function"]["name"] for call in message.get("tool_calls", ())] for message in converted.messages if message["role"] == "assistant"]  # fmt: skip
        if make is not anthropic:  # whose calls come one by one
            assert list(zip(said, made, strict=True)) == steps


@EACH
@STEPS
def test_it_does_in_the_history_and_as_text(rust: ModuleType, make: Make, steps: Steps) -> None:
    messages = make(steps)
    assert in_order(rust.recount(messages).messages, words_of(steps))
    with Tract.open() as tract:
        tract.append_many(messages)
        assert in_order(tract.compile(), words_of(steps))
        assert in_order(rust.recount(tract.compile()).messages, words_of(steps))


def test_calls_of_one_step_without_marks_are_parallel(rust: ModuleType) -> None:
    converted = rust.convert(unmarked([("text-1", ["A", "B"]), ("text-2", [])]), to="openai-chat")
    roles = [message["role"] for message in converted.messages]
    assert roles == ["user", "assistant", "tool", "tool", "assistant"]


@STEPS
def test_version_4_without_parts(rust: ModuleType, steps: Steps) -> None:
    """The text is that of the last step, and the calls are in another member."""
    steps = [("", names) for _, names in steps[:-1]] + steps[-1:]
    question, answer = ai_sdk_4(steps)
    del answer["parts"], question["parts"]
    answer |= {"content": steps[-1][0], "toolInvocations": invocations(steps)}
    question["content"] = "question"
    converted = rust.convert([question, answer], to="openai-chat")
    assert in_order(converted.messages, words_of(steps))
    assert [message["role"] for message in converted.messages].count("assistant") == len(steps)


def test_text_next_to_an_open_call_stays_in_its_step(rust: ModuleType) -> None:
    question, answer = unmarked([("text-1", ["A"]), ("text-2", [])])
    answer["parts"][1] |= {"state": "input-available"}
    del answer["parts"][1]["output"]
    converted = rust.convert([question, answer], to="openai-chat", repair=False)
    assert [message["role"] for message in converted.messages] == ["user", "assistant"]


def test_lines_below_the_steps_that_made_the_calls(rust: ModuleType) -> None:
    told = rust.recount(ai_sdk_5(DEPENDENT)).messages
    assert [message["content"].count("→") for message in told] == [0, 2, 2, 0]
    assert told[2]["content"].startswith("text-2")
