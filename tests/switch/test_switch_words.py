"""The user's text in a message with results, and the part of it that reaches the new backend."""

import pytest
from support.builders.wire_talks import (
    ANTHROPIC,
    FILE,
    OPENAI,
    SIGNED,
    WHERE,
    Message,
    history,
    texts_of,
    transformer,
)


def test_system_prompts_stay() -> None:
    prompt = {"role": "system", "content": "Be brief."}
    late = {"role": "developer", "content": "Use tabs."}
    request = [prompt, *history(OPENAI), late, OPENAI.user("Go on.")]
    first, context, last = transformer().transform(request, **WHERE).messages
    assert (first, last) == (prompt, late)
    assert context["role"] == "user"


def test_results_next_to_the_users_words_go_where_their_calls_go() -> None:
    (use,) = ANTHROPIC.calls("call_3", "Bash", {"command": "make"})
    answer = ANTHROPIC.gives("call_3", "Bash", "interrupted build")
    answer["content"].append({"type": "text", "text": "No, use ninja."})
    switched = transformer().transform([*history(ANTHROPIC), use, answer], **WHERE)
    (message,) = switched.messages
    assert [part["type"] for part in message["content"]] == ["text", "text"]
    assert "interrupted build" in message["content"][0]["text"]
    assert message["content"][1]["text"] == "No, use ninja."


def test_a_reminder_next_to_the_results_is_no_request() -> None:
    (use,) = ANTHROPIC.calls("call_3", "Bash", {"command": "make"})
    answer = ANTHROPIC.gives("call_3", "Bash", "built")
    answer["content"].append(
        {"type": "text", "text": "<system-reminder>Be kind.</system-reminder>"}
    )
    request = [*history(ANTHROPIC), ANTHROPIC.user("Build it."), use, answer]
    first, *tail = transformer().transform(request, **WHERE).messages
    assert texts_of(first).endswith("Build it.")
    assert tail[1] == answer


def test_a_user_who_said_nothing() -> None:
    request = history(OPENAI)[1:]
    (message,) = transformer().transform(request[:-1], **WHERE).messages[:1]
    assert message["role"] == "user"
    assert FILE in message["content"]


def test_an_answer_that_the_client_began_stays() -> None:
    request = [*history(ANTHROPIC), ANTHROPIC.user("As JSON."), ANTHROPIC.says("{")]
    _, last = transformer().transform(request, **WHERE).messages
    assert last == ANTHROPIC.says("{")


def test_nothing_is_lost_where_there_is_no_context() -> None:
    """Without tools and a summary, the dialogue stays unchanged, except for thinking."""
    thought = {"type": "thinking", "thinking": "hm", "signature": SIGNED}
    said = [
        ANTHROPIC.user("My name is Ada."),
        {"role": "assistant", "content": [thought, {"type": "text", "text": "Hello, Ada."}]},
        ANTHROPIC.user("What is my name?"),
    ]
    switched = transformer(summarizer=None).transform(said, **WHERE)
    assert switched.messages == [said[0], ANTHROPIC.says("Hello, Ada."), said[2]]
    assert switched.is_switched


def test_a_first_request_is_left_alone() -> None:
    request = [OPENAI.user("Hello.")]
    switched = transformer().transform(request, **WHERE)
    assert (switched.messages, switched.report.reason) == (request, "new")


@pytest.mark.parametrize("messages", [[], [{"role": "system", "content": "x"}]])
def test_nothing_said(messages: list[Message]) -> None:
    assert transformer().transform(messages, **WHERE).messages == messages
