"""ATIF, the Agent Trajectory Interchange Format: steps with their calls and what was observed."""

from types import ModuleType
from typing import Any

import pytest
from support.oracles.format_checks import (
    ASSISTANT,
    USER,
    JsonObject,
    blocks,
    check_inputs,
    check_pairs,
    headings,
    only_block,
    shown,
    shown_text,
    turns,
)
from support.rows import for_each


def call(call_id: str, name: str = "bash", **arguments: Any) -> JsonObject:
    return {"tool_call_id": call_id, "function_name": name, "arguments": arguments}


def seen(call_id: str | None, content: Any) -> JsonObject:
    named = {} if call_id is None else {"source_call_id": call_id}
    return {"content": content, **named}


def step(number: int, source: str, message: Any, **more: Any) -> JsonObject:
    return {"step_id": number, "timestamp": "t", "source": source, "message": message, **more}


def agent(
    number: int, calls: list[JsonObject], results: list[JsonObject], message: Any = ""
) -> JsonObject:
    return step(number, "agent", message, tool_calls=calls, observation={"results": results})


READ = call("call_1", "read_file", path="a.py")
RESULT = seen("call_1", "print(1)")
STEPS = [
    step(1, "system", "Be kind."),
    step(2, "user", "What is in a.py?"),
    agent(3, [READ], [RESULT], "I look.") | {"reasoning_content": "A secret thought."},
    step(4, "agent", [{"type": "text", "text": "It prints."}], metrics={"prompt_tokens": 1}),
]


def test_a_conversation(api: ModuleType, rust: ModuleType) -> None:
    check_pairs(api, STEPS, (READ, RESULT))
    assert shown(api, STEPS) == [("Files Read", "a.py", [("python", "print(1)\n")])]
    assert rust.inspect(STEPS).shape == "atif"
    document = {
        "schema_version": "ATIF-v1.8",
        "session_id": "s",
        "agent": {"name": "a", "version": "1"},
        "steps": STEPS,
        "final_metrics": {},
    }
    check_inputs(api, STEPS, document)


def test_every_step_is_a_message(api: ModuleType, rust: ModuleType) -> None:
    assert rust.inspect(STEPS).messages == len(STEPS)
    assert only_block(api, *STEPS).position == 2


def test_the_dialogue_has_no_thinking(api: ModuleType) -> None:
    assert api.dialogue(STEPS) == turns(
        (USER, "What is in a.py?"), (ASSISTANT, "I look."), (ASSISTANT, "It prints.")
    )


def test_parallel_calls_in_another_order(api: ModuleType) -> None:
    first, second = call("c1", command="ls"), call("c2", command="pwd")
    of_second, of_first = seen("c2", "/"), seen("c1", "a.py")
    one = agent(1, [first, second], [of_second, of_first])
    check_pairs(api, [one], (first, of_first), (second, of_second))


def test_without_ids_order_decides(api: ModuleType) -> None:
    calls = [call("", command="ls"), call("", command="pwd")]
    answers = [seen(None, "a.py"), seen(None, "/")]
    pairs = list(zip(calls, answers, strict=True))
    check_pairs(api, [agent(1, calls, answers)], *pairs)
    check_pairs(api, [agent(1, calls[:1], answers[:1]), agent(2, calls[1:], answers[1:])], *pairs)


def test_an_observation_without_a_call_is_an_orphan(rust: ModuleType) -> None:
    steps = [step(1, "system", "Go.", observation={"results": [seen(None, "a screen")]})]
    survey = rust.inspect(steps)
    assert (survey.calls, survey.results, survey.orphan_results) == (0, 1, 1)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("words", "words"),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        (None, "(no output)"),
        (
            [{"type": "image", "source": {"media_type": "image/png", "path": "images/1.png"}}],
            "[image: image/png]",
        ),
    ],
)
def test_the_text_of_a_result(api: ModuleType, content: Any, text: str) -> None:
    assert shown_text(api, [agent(1, [call("c", "f")], [seen("c", content)])]) == text


def test_the_last_read_and_the_last_run_count(api: ModuleType) -> None:
    again = agent(5, [call("c2", "Read", file_path="a.py")], [seen("c2", "print(2)")])
    assert shown_text(api, [*STEPS, again]) == "print(2)"
    runs = [
        agent(1, [call("c1", command="ls")], [seen("c1", "old")]),
        agent(2, [call("c2", command="ls")], [seen("c2", "new")]),
    ]
    assert headings(api, runs) == ["ls (latest of 2 runs)"]
    assert shown_text(api, runs) == "new"


def test_orphans_and_second_results(rust: ModuleType) -> None:
    calls = [call("c1"), call("c2")]
    survey = rust.inspect([agent(1, calls, [seen("c1", "1"), seen("c1", "2"), seen("x", "3")])])
    assert (survey.orphan_calls, survey.orphan_results, survey.duplicate_results) == (1, 1, 1)


@for_each("source", ["user", "agent"])
@for_each("calls", [None, "x", {}, [None, 7]])
def test_calls_of_another_kind(api: ModuleType, source: str, calls: Any) -> None:
    strange = step(1, source, "Hi.", tool_calls=calls, observation=calls)
    assert blocks(api, [strange]) == []
    assert api.dialogue([strange]) == turns((USER if source == "user" else ASSISTANT, "Hi."))


@pytest.mark.parametrize("missing", ["step_id", "source"])
def test_other_objects_are_not_steps(rust: ModuleType, missing: str) -> None:
    less = {key: value for key, value in STEPS[2].items() if key != missing}
    assert rust.inspect([less]).shape != "atif"
