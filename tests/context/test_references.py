"""Markers without the reference of a call, for a model that nobody lets ask for the whole."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.rows import for_each

from toolcarry import ProjectPolicy

LONG = "".join(f"line {number} says something\n" for number in range(300))
MESSAGES = [
    {"role": "user", "content": "Go."},
    *wire.read("a.py", LONG, "t1"),
    *wire.read("b.py", LONG.replace("line", "row"), "t2"),
    *wire.read("a.py", "line 0", "t3"),
    *wire.bash("make", LONG.replace("says", "ERROR: says"), "t4"),
    *wire.write("c.py", LONG, "t5"),
    *wire.turn("Query", {"table": "a"}, json.dumps([{"a": LONG[:900]}] * 20), "t6"),
]


@for_each("layout", ["handover", "sections"])
@for_each("content", ["auto", "off"])
@for_each(
    "limits",
    [
        {"max_result_chars": 500},
        {"max_result_tokens": 200},
        {"max_tokens": 900},
        {"max_chars": 3_000},
    ],
    ids=lambda limits: next(iter(limits)),
)
def test_a_context_names_no_calls(
    api: ModuleType, layout: Any, content: Any, limits: dict[str, Any]
) -> None:
    options = {"layout": layout, "content": content, **limits}
    named = api.carry(MESSAGES, **options)
    bare = api.carry(MESSAGES, references=False, **options)
    assert ("truncated: " in named.text) == ("whole: t" in named.text)
    assert "whole: " not in bare.text
    assert bare.report.cut
    if "max_result_chars" in limits:
        assert "truncated: " in named.text
        assert "truncated: " in bare.text


@pytest.mark.parametrize(
    "limits",
    [
        {"max_result_chars": 500},
        {"max_result_chars": 500, "content": "off"},
        {"max_result_tokens": 100},
        {"max_all_results_chars": 400},
        {"max_request_tokens": 1_500, "clear_tool_inputs": True},
        {},
    ],
    ids=str,
)
def test_a_projection_names_no_calls_and_stays_as_it_is(rust: Any, limits: dict[str, Any]) -> None:
    turns = [
        message for number in range(4) for message in wire.read(f"{number}.py", "x", f"l{number}")
    ]
    messages = [*MESSAGES, *turns]
    policy = ProjectPolicy(references=False, clear_at_least_tokens=0, **limits)
    named = rust.project(messages, policy=ProjectPolicy(clear_at_least_tokens=0, **limits))
    made = rust.project(messages, policy=policy)
    assert "; whole: " in json.dumps(named.messages)
    written = json.dumps(made.messages)
    assert "[toolcarry: " in written
    assert "whole: " not in written
    assert rust.project(made.messages, policy=policy).messages == made.messages
    assert rust.resolve(messages, "t1") == LONG
    again = rust.project(messages, policy=policy, previous=made.decisions)
    assert again.messages == made.messages
    assert (
        rust.project(made.messages, policy=policy, previous=made.decisions).messages
        == made.messages
    )


def test_a_long_id_is_named_whole(api: ModuleType) -> None:
    call_id = f"call_{'a' * 24}|fc_{'0' * 50}"
    text = api.carry(wire.bash("make", LONG, call_id), max_result_chars=500).text
    assert f"whole: {call_id}]" in text
