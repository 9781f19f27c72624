"""Secrets, when the backend changes: what comes from before is cleaned, or withheld."""

import logging
from typing import Any

import pytest
from support.builders.summary_talks import REQUEST, WHERE, Recording, transformer
from support.builders.wire_talks import ANTHROPIC, OPENAI, texts_of


def redact(text: str) -> str:
    return text.replace("s3cret", "[redacted]")


def test_earlier_messages_are_redacted() -> None:
    summarizer = Recording()
    made = transformer(summarizer, redact=redact)
    (message,) = made.transform(REQUEST, **WHERE).messages
    assert "s3cret" not in message["content"]
    assert "KEY = '[redacted]'" in message["content"]
    assert "s3cret" not in summarizer.texts[0]


def test_open_results_are_redacted_and_the_new_message_is_not() -> None:
    request = [
        OPENAI.user("Look for s3cret."),
        *OPENAI.turn("call_1", "Bash", {"command": "env"}, "KEY=s3cret"),
    ]
    first, call, answer = transformer(redact=redact).transform(request, **WHERE).messages
    assert first["content"] == "Look for s3cret."
    assert call["tool_calls"][0]["function"]["name"] == "Bash"
    assert answer["content"] == "KEY=[redacted]"


def test_results_next_to_the_request_are_redacted_where_all_stays_as_it_is() -> None:
    (use,) = ANTHROPIC.calls("call_1", "Bash", {"command": "env"})
    answer = ANTHROPIC.gives("call_1", "Bash", "KEY=s3cret")
    answer["content"].append({"type": "text", "text": "Go on."})
    made = transformer(None, include_tool_context=False, redact=redact)
    (_, _, last) = made.transform([ANTHROPIC.user("Look."), use, answer], **WHERE).messages
    assert last["content"][0]["content"] == "KEY=[redacted]"


def broken(_text: str) -> str:
    raise RuntimeError("broken at s3cret")


@pytest.mark.parametrize("shape", [OPENAI, ANTHROPIC], ids=lambda shape: shape.name)
def test_redaction_fails_closed(shape: Any, caplog: pytest.LogCaptureFixture) -> None:
    summarizer = Recording()
    made = transformer(summarizer, redact=broken)
    turn = shape.turn("call_1", "Read", {"file_path": "a.py"}, "KEY = 's3cret'")
    request = [shape.user("Read s3cret."), *turn, shape.says("Read."), shape.user("Go on.")]
    with caplog.at_level(logging.DEBUG):
        switched = made.transform(request, **WHERE)
    assert switched.messages == [shape.user("Go on.")]
    assert switched.report.withheld == "redaction failed: RuntimeError"
    assert summarizer.texts == []
    assert made.counts["redaction_failed"] == 1
    assert "RuntimeError" in caplog.text
    assert "s3cret" not in caplog.text


def test_a_redaction_that_works_again_is_used_again() -> None:
    state = {"is_broken": True}

    def sometimes(text: str) -> str:
        return broken(text) if state["is_broken"] else redact(text)

    made = transformer(redact=sometimes)
    assert made.transform(REQUEST, **WHERE).report.withheld
    state["is_broken"] = False
    assert "KEY = '[redacted]'" in texts_of(made.transform(REQUEST, **WHERE).messages[0])


def test_without_a_request_nothing_can_be_sent_but_that() -> None:
    made = transformer(redact=broken)
    switched = made.transform(REQUEST[1:3], **WHERE)
    assert [texts_of(message) for message in switched.messages] == [
        "[toolcarry: the conversation so far is withheld]"
    ]
