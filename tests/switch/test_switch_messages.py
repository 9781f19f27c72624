"""Messages that a client may insert reach the new backend: none is lost, repeated or misplaced."""

import json
from typing import Any

import pytest
from support.builders.wire_talks import (
    ANTHROPIC,
    OPENAI,
    RESPONSES,
    SHAPES,
    Message,
    Shape,
    texts_of,
)
from support.providers.validity import problems
from support.rows import for_each

from toolcarry.errors import InputError
from toolcarry.switch import SummarizeTransformer

WHERE = {"conversation": "c", "backend": "b"}


def history(shape: Shape) -> list[Message]:
    return [
        shape.user("Read it."),
        *shape.turn("call_1", "Read", {"file_path": "a.py"}, "x = 1"),
        shape.says("Read."),
    ]


def transformer(**options: Any) -> SummarizeTransformer:
    """One whose conversation ``c`` was answered by ``a``."""
    made = SummarizeTransformer(**options)
    made.answered("c", "a")
    return made


def sent_twice(messages: list[Message]) -> list[Message]:
    """Return the messages sent for a request, after checking that a retry sends the same."""
    made = transformer()
    first = made.transform(messages, **WHERE).messages
    assert json.dumps(made.transform(messages, **WHERE).messages) == json.dumps(first)
    return first


# System prompts

PROMPT = {"role": "system", "content": "Be brief."}
LATE = {"role": "system", "content": "Use tabs."}
LATER = {"role": "system", "content": "Use spaces."}


def test_prompts_from_the_middle_come_after_the_request() -> None:
    """Anthropic takes one only after a user message, before the model's or at the end, and no two in a row."""
    open_call, result = ANTHROPIC.turn("call_2", "Bash", {"command": "make"}, "built")
    request = [
        ANTHROPIC.user("Read it."), LATE, *history(ANTHROPIC)[1:],
        ANTHROPIC.user("Go on."), LATER, open_call, result,
    ]  # fmt: skip
    first, prompt, *tail = sent_twice(request)
    assert texts_of(first).endswith("Go on.")
    assert prompt == {"role": "system", "content": "Use tabs.\n\nUse spaces."}
    assert [message["role"] for message in tail] == ["assistant", "user"]


def test_a_prompt_at_the_end_stays_there() -> None:
    request = [PROMPT, *history(OPENAI), OPENAI.user("Go on."), LATE]
    first, context, last = sent_twice(request)
    assert (first, last) == (PROMPT, LATE)
    assert context["content"].endswith("Go on.")


def test_a_prompt_at_the_end_joins_those_from_the_middle() -> None:
    made = transformer()
    request = [ANTHROPIC.user("Read it."), LATE, *history(ANTHROPIC)[1:], ANTHROPIC.user("Go on.")]
    first = made.transform([*request, LATER], **WHERE).messages
    joined = {"role": "system", "content": "Use tabs.\n\nUse spaces."}
    assert first[1:] == [joined]
    made.answered("c", "b")
    later = [*request, LATER, ANTHROPIC.says("Yes."), ANTHROPIC.user("More.")]
    assert made.transform(later, **WHERE).messages == [*first, *later[-2:]]


def test_prompts_stay_in_their_places_where_there_is_no_context() -> None:
    said = [PROMPT, OPENAI.user("Ada."), OPENAI.says("Hello."), LATE, OPENAI.user("Who am I?")]
    assert transformer(summarizer=None).transform(said, **WHERE).messages == said


def test_prompts_of_several_parts_are_joined_part_by_part() -> None:
    parts = {"role": "system", "content": [{"type": "text", "text": "Use tabs."}]}
    request = [OPENAI.user("Read it."), parts, *history(OPENAI)[1:], LATER, OPENAI.user("Go on.")]
    _, prompt = sent_twice(request)
    assert texts_of(prompt) == "Use tabs.\nUse spaces."


def test_prompts_that_say_more_stay_apart() -> None:
    named = {**LATER, "name": "editor"}
    request = [OPENAI.user("Read it."), LATE, *history(OPENAI)[1:], named, OPENAI.user("Go on.")]
    assert sent_twice(request)[1:] == [LATE, named]


def test_a_prompt_between_the_results_of_open_calls() -> None:
    _, *first = RESPONSES.turn("call_2", "Bash", {"command": "ls"}, "a.py")
    _, *second = RESPONSES.turn("call_3", "Bash", {"command": "make"}, "built")
    request = [RESPONSES.user("Go."), first[0], second[0], first[1], LATE, second[1]]
    _, prompt, *tail = sent_twice([*history(RESPONSES), *request])
    assert prompt == LATE
    assert [item["call_id"] for item in tail] == ["call_2", "call_3"] * 2


# Messages that a client adds after the request and later removes


def test_a_reminder_at_the_end_is_sent_once() -> None:
    made = transformer()
    reminder = ANTHROPIC.user("<system-reminder>Be kind.</system-reminder>")
    request = [
        *history(ANTHROPIC),
        ANTHROPIC.user("Build it."),
        *ANTHROPIC.turn("call_2", "Bash", {"command": "make"}, "built"),
        reminder,
    ]
    first = made.transform(request, **WHERE).messages
    assert first[-1] is reminder
    assert json.dumps(first).count("Be kind.") == 1
    made.answered("c", "b")
    later = [*request, ANTHROPIC.says("Built."), ANTHROPIC.user("More.")]
    assert made.transform(later, **WHERE).messages == [*first, *later[-2:]]
    without = [*request[:-1], *later[-2:]]
    assert made.transform(without, **WHERE).messages == [*first[:-1], *later[-2:]]


# The user's request


@for_each("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_request_of_several_messages_stays_whole(shape: Shape) -> None:
    request = [
        *history(shape),
        shape.user("This is the log: ..."),
        shape.user("What broke?"),
        *shape.turn("call_2", "Bash", {"command": "make"}, "built"),
    ]
    first, second, *tail = sent_twice(request)
    assert "x = 1" in texts_of(first)
    assert texts_of(first).endswith("This is the log: ...")
    assert second == request[-len(tail) - 1] if shape.name != "responses" else request[5]
    assert "built" in json.dumps(tail)


def test_items_between_the_messages_of_a_request() -> None:
    calls = OPENAI.calls("call_2", "Bash", {"command": "make"})
    reminder = OPENAI.user("<system-reminder>Be kind.</system-reminder>")
    answer = OPENAI.gives("call_2", "Bash", "built")
    said = [OPENAI.user("Wait."), LATE, OPENAI.user("Use ninja."), OPENAI.user("Quick!")]
    request = [*history(OPENAI), *calls, reminder, said[0], answer, *said[1:]]
    assert sent_twice([*history(OPENAI), reminder, said[0]])[0]["content"].endswith("Wait.")
    first, second, third, prompt = sent_twice(request)
    assert "built" in first["content"]
    assert first["content"].endswith("\n\nWait.")
    assert [second, third, prompt] == [*said[2:], LATE]


def test_a_result_at_the_end_whose_call_is_missing() -> None:
    orphan = OPENAI.gives("call_9", "Bash", "lost and found")
    (first,) = sent_twice([*history(OPENAI), OPENAI.user("Go on."), OPENAI.says("Yes."), orphan])
    assert "lost and found" in first["content"]


# By what a conversation is known again


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        (ANTHROPIC.says("<task>a</task>"), ANTHROPIC.says("a"), "rewritten"),
        (ANTHROPIC.says("a"), {"role": "assistant", "content": "a"}, "resumed"),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "a"}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "a"}]}]},
            "resumed",
        ),
        (
            {"type": "local_shell_call", "call_id": "c", "status": "in_progress", "action": {}},
            {"type": "local_shell_call", "call_id": "c", "status": "completed", "action": {}},
            "resumed",
        ),
    ],
)  # fmt: skip
def test_counted_messages(one: Message, other: Message, reason: str) -> None:
    made = transformer()
    for message, expected in ((one, "switched"), (other, reason)):
        request = [*history(ANTHROPIC), message, ANTHROPIC.user("Go on.")]
        assert made.transform(request, **WHERE).report.reason == expected
        made.answered("c", "b")


def test_results_between_the_users_messages_are_carried() -> None:
    call, answer = ANTHROPIC.turn("call_2", "Bash", {"command": "make"}, "interrupted build")
    answer["content"].append({"type": "text", "text": "No, use ninja."})
    first, second = sent_twice([*history(ANTHROPIC), call, answer, ANTHROPIC.user("Quick!")])
    assert "interrupted build" in first["content"][0]["text"]
    assert first["content"][-1]["text"] == "No, use ninja."
    assert texts_of(second) == "Quick!"
    assert problems("anthropic", [first, second]) == []


@pytest.mark.parametrize("odd", [b"bytes", {1, 2}, {(1,): 2}])
def test_values_outside_json_are_refused_by_name(odd: Any) -> None:
    with pytest.raises(InputError, match=r"^not JSON: "):
        transformer().transform([*history(OPENAI), {"role": "user", "content": [odd]}], **WHERE)


# What the client puts in at the beginning


@pytest.mark.parametrize("shape", [ANTHROPIC, RESPONSES], ids=lambda shape: shape.name)
def test_project_instructions_are_carried(shape: Shape) -> None:
    """A client says them once, in the first message, in its own tag; the summary leaves such tags out."""
    project = "<system-reminder>\nAlways run `make lint`.\n</system-reminder>"
    messages = [*history(shape), shape.user("Go on.")]
    first = shape.user("Read it.")
    first["content"].insert(0, shape.user(project)["content"][0])
    messages[0] = first
    reminded = shape.user("And then?")
    reminded["content"].insert(
        0, shape.user("<system-reminder>Be kind.</system-reminder>")["content"][0]
    )
    messages[-1:-1] = [reminded, shape.says("Then on.")]
    (message,) = sent_twice(messages)
    said = texts_of(message)
    assert said.startswith(f"{project}\n\n[CONTEXT FROM PREVIOUS SESSION]")
    assert said.count("make lint") == 1
    assert "Be kind." not in said
    assert said.endswith("Go on.")
    assert problems(shape.name, [message]) == []


def test_instructions_in_the_request_are_sent_once() -> None:
    project = {"type": "text", "text": "<system-reminder>Always lint.</system-reminder>"}
    first = ANTHROPIC.user("Read it.")
    first["content"].insert(0, project)
    turn = ANTHROPIC.turn("call_1", "Read", {"file_path": "a.py"}, "x = 1")
    last = ANTHROPIC.turn("call_2", "Bash", {"command": "ls"}, "a.py")
    message, *_ = sent_twice([first, *turn, *last])
    assert texts_of(message).count("Always lint.") == 1
