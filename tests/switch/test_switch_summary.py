"""The summary of a switch: the summarizer's input, its failures, and secrets."""

import asyncio
import logging
import threading
from typing import Any

import pytest
from support.builders.summary_talks import REQUEST, WHERE, Recording, transformer
from support.builders.wire_talks import OPENAI, texts_of

from toolcarry import CarryPolicy
from toolcarry.switch import SummarizeTransformer


def test_the_summarizer_gets_the_earlier_messages() -> None:
    summarizer = Recording()
    (message,) = transformer(summarizer).transform(REQUEST, **WHERE).messages
    (text,) = summarizer.texts
    assert "[USER]\nRead it. The key is s3cret.\n[/USER]" in text
    assert "[ASSISTANT]\nIt holds a key.\n[/ASSISTANT]" in text
    assert "Go on." not in text
    assert "KEY = " not in text
    assert "## Summary\nA key was read.\n" in message["content"]


def test_answers_to_the_request_are_summarized_with_it() -> None:
    summarizer = Recording()
    request = [
        *REQUEST,
        OPENAI.says("First I look around."),
        *OPENAI.turn("call_2", "Bash", {"command": "ls"}, "a.py"),
        OPENAI.says("Now I build."),
        *OPENAI.turn("call_3", "Bash", {"command": "make"}, "built"),
    ]
    _, *open_turn = transformer(summarizer).transform(request, **WHERE).messages
    assert "[USER]\nGo on.\n[/USER]\n\n[ASSISTANT]\nFirst I look around." in summarizer.texts[0]
    assert [message["content"] for message in open_turn] == ["Now I build.", None, "built"]


def failing(_text: str, _instructions: str) -> str:
    raise ConnectionError("no route with s3cret")


def test_a_summarizer_that_fails_costs_the_summary_alone(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        switched = transformer(failing, retries=0).transform(REQUEST, **WHERE)
    (message,) = switched.messages
    assert "## Summary" not in message["content"]
    assert "KEY = " in message["content"]
    assert switched.report.summary is not None
    assert switched.report.summary.status == "failed"
    assert "ConnectionError" in switched.report.summary.error
    assert "s3cret" not in caplog.text


def test_no_summary_is_asked_for_where_none_is_wanted() -> None:
    summarizer = Recording()
    made = transformer(summarizer, CarryPolicy(include_summary=False))
    switched = made.transform(REQUEST, **WHERE)
    assert summarizer.texts == []
    assert switched.report.summary is not None
    assert switched.report.summary.status == "off"


def test_tools_may_be_left_out() -> None:
    (message,) = (
        transformer(Recording(), include_tool_context=False).transform(REQUEST, **WHERE).messages
    )
    assert "A key was read." in message["content"]
    assert "KEY = " not in message["content"]


def test_two_simultaneous_requests_send_the_same_beginning() -> None:
    """A summarizer returns a different text each time, so both send the beginning that was stored first."""
    barrier = threading.Barrier(2, timeout=10)
    lock = threading.Lock()
    count = 0

    def summarize(_text: str, _instructions: str) -> str:
        nonlocal count
        with lock:
            count += 1
            mine = count
        barrier.wait()  # until both are asked for
        return f"summary {mine}"

    summarize.model = None  # type: ignore[attr-defined]  # else it is asked once
    made = transformer(summarize)
    sent: list[Any] = []

    def ask() -> None:
        sent.append(made.transform(REQUEST, **WHERE).messages)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count == 2
    assert sent[0] == sent[1]
    assert made.transform(REQUEST, **WHERE).messages == sent[0]


def test_the_async_twins() -> None:
    async def summarize(_text: str, _instructions: str) -> str:
        await asyncio.sleep(0)
        return "Slept."

    async def converse() -> None:
        made = SummarizeTransformer(summarize)
        await made.aanswered("c", "a")
        switched = await made.atransform(REQUEST, **WHERE)
        assert "Slept." in texts_of(switched.messages[0])
        again = await made.aon_backend_switch(REQUEST, **WHERE)
        assert again.messages == switched.messages
        many = await asyncio.gather(*(made.atransform(REQUEST, **WHERE) for _ in range(20)))
        assert all(each.messages == switched.messages for each in many)
        body = await made.atransform_body(b"[]", **WHERE)
        assert body.untouched == "no request"

    asyncio.run(converse())
