"""Several requests of one conversation at once: hedged ones, titles, sub-agents, and more than are remembered."""

import json

from support.builders.wire_talks import ANTHROPIC, OPENAI, SIGNED, Message

from toolcarry.switch import MemorySessions, SummarizeTransformer

HISTORY = [
    ANTHROPIC.user("Read it."),
    *ANTHROPIC.turn("call_1", "Read", {"file_path": "a.py"}, "x = 1"),
    ANTHROPIC.says("Read."),
]
REQUEST = [*HISTORY, ANTHROPIC.user("Run it.")]


def later(signed_by: str, messages: list[Message] = REQUEST) -> list[Message]:
    """Return the next request, after a backend has called a tool."""
    turn = ANTHROPIC.turn("call_2", "Bash", {"command": "python a.py"}, "ok")
    turn = json.loads(json.dumps(turn).replace(SIGNED, f"signed-by-{signed_by}"))
    return [*messages, *turn]


def ask(made: SummarizeTransformer, messages: list[Message], backend: str) -> tuple[str, str]:
    """Return the messages that are sent, as text, and the line."""
    switched = made.transform(messages, conversation="c", backend=backend)
    return json.dumps(switched.messages), switched.line


def test_where_two_backends_answered_one_request_neither_is_trusted_with_the_other_s_thinking() -> (
    None
):
    """The answer that the client continued with can't be known."""
    for asked in ("ab", "ba"):
        for answered in ("ab", "ba"):
            for chosen in "ab":
                for next_one in "ab":
                    made = SummarizeTransformer()
                    _, line = ask(made, HISTORY[:1], "a")
                    made.answered("c", "a", line=line)
                    for backend in asked:
                        ask(made, REQUEST, backend)
                    for backend in answered:
                        made.answered("c", backend, line=line)
                    text, _ = ask(made, later(chosen), next_one)
                    assert SIGNED not in text
                    assert next_one == chosen or f"signed-by-{chosen}" not in text
                    made.answered("c", next_one, line=line)
                    again, _ = ask(made, [*later(chosen), ANTHROPIC.says("Ran.")], next_one)
                    assert again.startswith(text[:-1])


def test_where_two_backends_answered_the_first_request() -> None:
    for chosen in "ab":
        for next_one in "ab":
            made = SummarizeTransformer()
            for backend in "ab":
                _, line = ask(made, HISTORY[:1], backend)
            for backend in "ab":
                made.answered("c", backend, line=line)
            text, _ = ask(made, later(chosen, HISTORY[:1]), next_one)
            assert next_one == chosen or f"signed-by-{chosen}" not in text


def test_an_answer_that_was_made_again_by_another_backend_is_one_of_two() -> None:
    """The client may go on with either; what one backend alone understands of it never reaches the other."""
    for chosen in "ab":
        made = SummarizeTransformer()
        for backend in "ab":
            _, line = ask(made, HISTORY[:1], backend)
            made.answered("c", backend, line=line)
        text, line = ask(made, later(chosen, HISTORY[:1]), "b")
        assert "signed-by" not in text
        made.answered("c", "b", line=line)
        again, _ = ask(made, [*later(chosen, HISTORY[:1]), ANTHROPIC.says("Ran.")], "b")
        assert again.startswith(text[:-1])


def test_one_of_two_plain_answers_stays_as_it_is() -> None:
    for chosen in ("One.", "Two."):
        made = SummarizeTransformer()
        for backend in "ab":
            _, line = ask(made, HISTORY[:1], backend)
            made.answered("c", backend, line=line)
        request = [*HISTORY[:1], ANTHROPIC.says(chosen), ANTHROPIC.user("Go on.")]
        switched = made.transform(request, conversation="c", backend="b")
        assert switched.report.reason == "same_backend"


def test_a_regenerated_answer_after_a_switch() -> None:
    made = SummarizeTransformer()
    for backend, messages in (("a", HISTORY[:1]), ("a", later("a")), ("b", later("a"))):
        _, line = ask(made, messages, backend)
        made.answered("c", backend, line=line)
    text, line = ask(made, later("a", later("a")), "b")
    assert "signed-by" not in text
    made.answered("c", "b", line=line)
    again, _ = ask(made, [*later("a", later("a")), ANTHROPIC.says("Ran.")], "b")
    assert again.startswith(text[:-1])


def test_a_backend_that_takes_over_from_one_that_failed_is_not_one_of_two() -> None:
    made = SummarizeTransformer()
    _, line = ask(made, HISTORY[:1], "a")
    made.answered("c", "a", line=line)
    ask(made, REQUEST, "a")  # and it fails
    text, line = ask(made, REQUEST, "b")
    made.answered("c", "b", line=line)
    again, _ = ask(made, later("b"), "b")
    assert again.startswith(text[:-1])
    assert "signed-by-b" in again


def side_requests(made: SummarizeTransformer, count: int, backend: str = "small") -> None:
    for number in range(count):
        _, line = ask(made, [OPENAI.user(f"Is command {number} safe?")], backend)
        made.answered("c", backend, line=line)


def test_many_side_requests_do_not_evict_the_session() -> None:
    made = SummarizeTransformer()
    made.answered("c", "a")
    sent, line = ask(made, REQUEST, "b")
    made.answered("c", "b", line=line)
    side_requests(made, 100)
    text, _ = ask(made, [*REQUEST, ANTHROPIC.says("Ran."), ANTHROPIC.user("More.")], "b")
    assert text.startswith(sent[:-1])


def test_some_side_requests_do_not_push_out_who_answered() -> None:
    made = SummarizeTransformer()
    _, line = ask(made, HISTORY[:1], "a")
    made.answered("c", "a", line=line)
    side_requests(made, 50)
    assert made.transform(REQUEST, conversation="c", backend="a").report.reason == "same_backend"


def test_an_answer_to_a_line_that_was_forgotten_meanwhile_counts() -> None:
    asked, told = SummarizeTransformer(), SummarizeTransformer()
    _, line = ask(asked, HISTORY[:1], "a")
    told.answered("c", "a", line=line)
    told.answered("c", "small")
    assert told.transform(REQUEST, conversation="c", backend="a").report.reason == "same_backend"


def test_an_oversized_context_is_made_again() -> None:
    made = SummarizeTransformer(sessions=MemorySessions(max_bytes=3_000))
    made.answered("c", "a")
    large = [*HISTORY, ANTHROPIC.user("Run it. " * 1_000)]
    _, line = ask(made, large, "b")
    made.answered("c", "b", line=line)
    switched = made.transform(later("b", large), conversation="c", backend="b")
    assert switched.is_switched
    assert SIGNED not in json.dumps(switched.messages)


def test_an_answer_that_came_while_the_other_backends_beginning_was_made() -> None:
    def summarize(_text: str, _instructions: str) -> str:
        if line:
            made.answered("c", "a", line=line)
        return "It was read."

    line = ""
    made = SummarizeTransformer(summarize)
    _, line = ask(made, HISTORY[:1], "a")
    made.answered("c", "a", line=line)
    ask(made, REQUEST, "b")
    made.answered("c", "b", line=line)
    text, _ = ask(made, later("a"), "b")
    assert "signed-by-a" not in text
