"""The backend switch, in every request shape: what reaches the new backend, at once and in all later requests."""

import copy
import json

from support.builders.wire_talks import (
    ANTHROPIC,
    FILE,
    OPENAI,
    SIGNED,
    WHERE,
    Shape,
    each_shape,
    history,
    texts_of,
    transformer,
)
from support.providers.validity import problems

from toolcarry.switch import SummarizeTransformer


@each_shape
def test_the_first_switch(shape: Shape) -> None:
    request = [*history(shape), shape.user("Quote line 7.")]
    before = copy.deepcopy(request)
    switched = transformer().transform(request, **WHERE)
    assert request == before
    (message,) = switched.messages
    said = texts_of(message)
    assert FILE in said
    assert "3 passed" in said
    assert said.startswith("[CONTEXT FROM PREVIOUS SESSION]\n\n## Summary\n")
    assert said.endswith("Quote line 7.")
    assert SIGNED not in json.dumps(switched.messages)
    assert problems(shape.name, switched.messages) == []
    report = switched.report
    assert (switched.is_switched, report.reason, report.is_sticky) == (True, "switched", False)
    assert (report.replaced, report.kept) == (len(request), 0)
    assert report.carried is not None
    assert report.carried.shown == 2


@each_shape
def test_later_requests_begin_with_the_same_bytes(shape: Shape) -> None:
    made = transformer()
    request = [*history(shape), shape.user("Quote line 7.")]
    first = made.transform(request, **WHERE).messages
    made.answered("c", "b")
    request += [*shape.turn("call_3", "Bash", {"command": "sed -n 7p src/main.rs"}, "line 7")]
    for answer, question in [("Line 7.", "And line 8?"), ("Line 8.", "And 9?")]:
        later = made.transform(request, **WHERE)
        assert json.dumps(later.messages[: len(first)]) == json.dumps(first)
        assert later.messages[len(first) :] == request[len(history(shape)) + 1 :]
        assert later.report.is_sticky
        assert problems(shape.name, later.messages) == []
        made.answered("c", "b")
        request += [shape.says(answer), shape.user(question)]


@each_shape
def test_back_again_everything_is_carried_again(shape: Shape) -> None:
    made = transformer()
    request = [*history(shape), shape.user("Quote line 7.")]
    made.transform(request, **WHERE)
    made.answered("c", "b")
    request += [
        *shape.turn("call_3", "Bash", {"command": "cargo bench"}, "7 ns"),
        shape.says("Line 7 of main.rs."),
        shape.user("Quote line 9."),
    ]
    back = made.transform(request, conversation="c", backend="a")
    (message,) = back.messages
    said = texts_of(message)
    assert said.count("[CONTEXT FROM PREVIOUS SESSION]") == 1
    assert FILE in said
    assert "7 ns" in said
    assert back.report.reason == "switched"
    made.answered("c", "a")
    request += [shape.says("Line 9."), shape.user("Thanks.")]
    again = made.transform(request, conversation="c", backend="a")
    assert again.messages == [message, *request[-2:]]


@each_shape
def test_in_the_middle_of_a_tool_loop(shape: Shape) -> None:
    request = [
        *history(shape),
        shape.user("Now fix it."),
        *shape.turn("call_3", "Read", {"file_path": "src/lib.rs"}, "pub fn answer() {}"),
        *shape.turn("call_4", "Bash", {"command": "cargo check"}, "warning: unused"),
    ]
    switched = transformer().transform(request, **WHERE)
    first, *tail = switched.messages
    assert texts_of(first).endswith("Now fix it.")
    assert FILE in texts_of(first)
    assert "pub fn answer" in texts_of(first)
    assert "warning: unused" not in texts_of(first)
    assert len(tail) == 2
    assert "cargo check" in json.dumps(tail[0])
    assert tail[1] == request[-1]
    assert SIGNED not in json.dumps(switched.messages)
    assert problems(shape.name, switched.messages) == []


@each_shape
def test_a_retry_sends_the_same_bytes(shape: Shape) -> None:
    made = transformer()
    request = [*history(shape), shape.user("Quote line 7.")]
    first = made.transform(request, **WHERE)
    retried = made.transform(request, **WHERE)
    assert json.dumps(retried.messages) == json.dumps(first.messages)
    assert retried.report.reason == "resumed"


@each_shape
def test_a_fallback_changes_nothing(shape: Shape) -> None:
    """The other backend was asked and failed, so the first one continues as if nothing had happened."""
    made = transformer()
    request = [*history(shape), shape.user("Quote line 7.")]
    assert made.transform(request, **WHERE).is_switched
    stayed = made.transform(request, conversation="c", backend="a")
    assert stayed.messages == request
    assert not stayed.is_switched
    made.answered("c", "a")
    request += [shape.says("Line 7."), shape.user("And 8?")]
    anew = made.transform(request, **WHERE)
    assert anew.report.reason == "switched"
    assert len(anew.messages) == 1


def test_side_requests_do_not_count() -> None:
    """Titles and sub-agents have their own first messages; token counts and failures are never reported."""
    made = SummarizeTransformer()
    main = [*history(ANTHROPIC), ANTHROPIC.user("Go on.")]
    first = made.transform(main[:1], conversation="c", backend="a")
    made.answered("c", "a", line=first.line)
    title = made.transform([ANTHROPIC.user("A title for: ...")], conversation="c", backend="small")
    made.answered("c", "small", line=title.line)
    stayed = made.transform(main, conversation="c", backend="a")
    assert (stayed.messages, stayed.report.reason) == (main, "same_backend")


def test_the_line_that_was_asked_is_the_one_that_is_answered() -> None:
    made = SummarizeTransformer()
    made.transform([ANTHROPIC.user("Main.")], conversation="c", backend="a")
    made.answered("c", "a")
    made.transform([ANTHROPIC.user("Title.")], conversation="c", backend="small")
    made.answered("c", "small")
    later = [ANTHROPIC.user("Main."), ANTHROPIC.says("Yes?"), ANTHROPIC.user("Go on.")]
    assert not made.transform(later, conversation="c", backend="a").is_switched


def test_a_client_that_moves_marks_and_reminders_is_known_again() -> None:
    made = transformer()
    mark = {"cache_control": {"type": "ephemeral"}}
    question = {"role": "user", "content": [
        {"type": "text", "text": "<system-reminder>It is Monday.</system-reminder>"},
        {"type": "text", "text": "Quote line 7.", **mark}]}  # fmt: skip
    request = [{"role": "system", "content": "Today is Monday."}, *history(OPENAI), question]
    first = made.transform(request, **WHERE)
    assert "cache_control" not in json.dumps(first.messages)
    made.answered("c", "b")
    moved = [
        {"role": "system", "content": "Today is Tuesday."},
        *[
            {key: message[key] for key in message if key != "reasoning_content"}
            for message in request[1:-1]
        ],
        {"role": "user", "content": "Quote line 7."},
        {"role": "assistant", "content": "Line 7."},
        {"role": "user", "content": [{"type": "text", "text": "And 8?", **mark}]},
    ]
    later = made.transform(moved, **WHERE)
    assert later.report.is_sticky
    assert later.messages[0] == moved[0]
    assert later.messages[1] == first.messages[1]
    assert later.messages[2:] == moved[-2:]


def test_an_empty_result_counts() -> None:
    """Else the beginning would seem to end before it, and it would be sent a second time."""
    made = transformer()
    request = [*history(OPENAI), *OPENAI.turn("call_3", "Bash", {"command": "true"}, "")]
    first = made.transform(request, **WHERE)
    made.answered("c", "b")
    request += [OPENAI.says("Done."), OPENAI.user("More.")]
    later = made.transform(request, **WHERE)
    assert later.messages == [*first.messages, *request[-2:]]


def test_a_rewritten_history_is_carried_afresh() -> None:
    made = transformer()
    request = [*history(OPENAI), OPENAI.user("Quote line 7.")]
    made.transform(request, **WHERE)
    made.answered("c", "b")
    edited = [*history(OPENAI)[:3], OPENAI.says("It is there."), OPENAI.user("Quote line 8.")]
    switched = made.transform(edited, **WHERE)
    assert switched.report.reason == "rewritten"
    (message,) = switched.messages
    assert FILE in message["content"]
    assert "3 passed" not in message["content"]


def test_a_compacted_history_of_one_message_needs_nothing() -> None:
    made = transformer()
    made.transform([*history(OPENAI), OPENAI.user("Quote line 7.")], **WHERE)
    made.answered("c", "b")
    compacted = [OPENAI.user("Summary of what was: ... Go on.")]
    new = made.transform(compacted, **WHERE)
    assert new.messages == compacted
    made.answered("c", "b", line=new.line)
    compacted += [*OPENAI.turn("call_9", "Bash", {"command": "ls"}, "src"), OPENAI.user("More.")]
    later = made.transform(compacted, **WHERE)
    assert (later.messages, later.report.reason) == (compacted, "same_backend")


def test_an_unknown_beginning_in_a_conversation_of_two_backends_is_carried() -> None:
    """A client with a sliding window: it is unknown which backend wrote these messages."""
    made = transformer()
    request = [*history(OPENAI), OPENAI.user("Quote line 7.")]
    made.transform(request, **WHERE)
    made.answered("c", "b")
    window = [*request[3:], OPENAI.says("Line 7."), OPENAI.user("And 8?")]
    switched = made.transform(window, **WHERE)
    assert switched.report.reason == "rewritten"
    assert len(switched.messages) == 1


def test_conversations_and_tenants_are_separate() -> None:
    made = transformer()
    request = [*history(OPENAI), OPENAI.user("Go on.")]
    assert not made.transform(request, conversation="d", backend="b").is_switched
    assert not made.transform(request, conversation="c", backend="b", tenant="t").is_switched
    assert made.transform(request, conversation="c", backend="b").is_switched


def test_a_switch_that_the_caller_knows_of() -> None:
    made = SummarizeTransformer()
    request = [*history(OPENAI), OPENAI.user("Go on.")]
    switched = made.on_backend_switch(request, **WHERE)
    assert switched.report.reason == "switched"
    made.answered("c", "b")
    request += [OPENAI.says("Yes."), OPENAI.user("More.")]
    later = made.transform(request, **WHERE)
    assert later.messages == [*switched.messages, *request[-2:]]
