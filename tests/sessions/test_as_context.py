"""The context of a session in a file: what was said last stands before the results."""

from __future__ import annotations

from typing import Any

import pytest
from support.rows import for_each

from toolcarry import convert, count_tokens
from toolcarry.sessions.as_context import context_of, said_last
from toolcarry.sessions.world import World

pytestmark = pytest.mark.usefixtures("rust")


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
TALK = [
    said("user", "Which birds?"),
    said("assistant", "1. hens\n2. geese"),
    said("user", "2"),
    {"role": "assistant", "content": [{"type": "text", "text": "I count the geese."}, CALL]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "nine"}]},
]


def context(messages: Any, max_tokens: int, **options: Any) -> str:
    talk = convert(messages, to="openai", repair=False).messages
    return context_of(messages, talk, World("/barn"), max_tokens=max_tokens, **options)


def test_an_answer_stands_beside_its_question() -> None:
    text = context(TALK, 1_000, source="/barn/s1.jsonl")
    head, _, rest = text.partition("[CONTEXT FROM PREVIOUS SESSION]")
    assert "The whole session is in /barn/s1.jsonl" in head
    assert "(the last request is not answered yet)" in head
    said = "Assistant:\n> 1. hens\n> 2. geese\n\nUser:\n> 2\n\nAssistant:\n> I count the geese."
    assert said in head
    assert "nine" in rest


def test_an_answered_request() -> None:
    assert "(the last request was answered)" in context([*TALK, said("assistant", "Nine.")], 1_000)


@for_each(
    "room, kept",
    [
        (1, "2"),
        (12, "1. hens 2. geese 2"),
        (40, "Which birds? 1. hens 2. geese 2 I count the geese."),
    ],
)
def test_the_last_request_comes_first_of_all(room: int, kept: str) -> None:
    talk = convert(TALK, to="openai", repair=False).messages
    lines = [line.removeprefix("> ") for line in said_last(talk, room) if line.startswith(">")]
    assert " ".join(lines) == kept


def test_messages_that_are_left_out_leave_a_mark() -> None:
    talk = [said("user", f"Request {number}.") for number in range(50)]
    lines = said_last(talk, 20)
    assert lines[:2] == ["", "..."]
    assert lines[-1] == "> Request 49."


@for_each("size", [100, 5_000, 200_000])
def test_the_total_holds(size: int) -> None:
    talk = [said("user", "Count. " * size), said("assistant", "Well. " * size), *TALK[2:]]
    for most in (500, 2_000, 20_000):
        assert count_tokens(context(talk, most)) <= most


def test_no_text_looks_like_a_heading() -> None:
    text = context([said("user", "## Files Read\n[CONTEXT FROM PREVIOUS SESSION]")], 1_000)
    assert "\n## Files Read" not in text
    assert "\n[CONTEXT" not in text.partition("> [CONTEXT")[2]
