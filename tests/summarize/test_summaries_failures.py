"""Summarizers that fail: retries, and the error that the caller gets."""

import asyncio
import logging
import time
from typing import Any

import pytest
from support.providers.summarizers import (
    TALK,
    Ask,
    Recorder,
    StatusError,
)
from support.rows import for_each

from toolcarry import ConfigError
from toolcarry.summarize import (
    Summaries,
    Summary,
)


def test_a_failure_is_reported_and_not_cached(
    ask: Ask, recorder: type[Recorder], caplog: pytest.LogCaptureFixture
) -> None:
    summarizer = recorder(StatusError(401), "Short.")
    summaries = Summaries(summarizer, backoff=0)
    with caplog.at_level(logging.DEBUG):
        failed = ask(summaries, TALK)
    assert failed == Summary("", "failed", "StatusError: status 401", 1)
    assert [record.name for record in caplog.records if record.name != "asyncio"] == [
        "toolcarry.summarize"
    ]
    assert "secret" not in caplog.text
    assert "Fix it" not in caplog.text
    assert ask(summaries, TALK).status == "made"
    assert summaries.counts == {"failed": 1, "calls_failed": 1, "made": 1, "calls_late": 0}


@for_each(
    "error", [StatusError(429), StatusError(408), StatusError(409), StatusError(503), OSError("reset"), "", " \n"]
)  # fmt: skip
def test_temporary_failures_are_repeated(ask: Ask, error: Any) -> None:
    summarizer = Recorder(error, error, "Short.")
    assert ask(Summaries(summarizer, backoff=0), TALK) == Summary("Short.", "made", attempts=3)


@for_each("number", [0, 1, 3])
def test_the_allowed_number_of_calls_is_made(ask: Ask, number: int) -> None:
    summarizer = Recorder(OSError("reset"))
    summaries = Summaries(summarizer, backoff=0, retries=number)
    assert ask(summaries, TALK) == Summary("", "failed", "OSError", number + 1)
    assert len(summarizer.asked) == number + 1
    assert summaries.counts["calls_failed"] == number + 1


@for_each(
    ("answer", "error"),
    [
        (TypeError("takes 1"), "TypeError"),
        (ValueError("no"), "ValueError"),
        (ModuleNotFoundError("no"), "ModuleNotFoundError"),
        (StatusError(400), "StatusError: status 400"),
        (ConfigError("model: 'x' is not allowed"), "model: 'x' is not allowed"),
        (7, "TypeError"),
        (None, "TypeError"),
        (b"Short.", "TypeError"),
    ],
)
def test_lasting_failures_are_not_repeated(ask: Ask, answer: Any, error: str) -> None:
    summarizer = Recorder(answer)
    assert ask(Summaries(summarizer, backoff=0), TALK) == Summary("", "failed", error, 1)
    assert len(summarizer.asked) == 1


@for_each("answer", ["", "<think>All of it is reasoning.", "<system-reminder>a"])
def test_an_answer_that_says_nothing_is_a_failure(ask: Ask, answer: str) -> None:
    summary = ask(Summaries(Recorder(answer), backoff=0, retries=1), TALK)
    assert summary == Summary("", "failed", "the summarizer wrote nothing", 2)


def test_an_interrupt_goes_through() -> None:
    summaries = Summaries(Recorder(KeyboardInterrupt(), "Short."))
    with pytest.raises(KeyboardInterrupt):
        summaries.summarize(TALK)
    assert summaries.summarize(TALK).status == "made"


def test_a_summarizer_that_exits_ends_its_own_thread(ask: Ask) -> None:
    summary = ask(Summaries(Recorder(SystemExit(3)), backoff=0, retries=0), TALK)
    assert (summary.status, summary.error) == ("failed", "ExitedError")


def test_the_waits_grow(monkeypatch: pytest.MonkeyPatch, ask: Ask) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(time, "sleep", waits.append)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    ask(Summaries(Recorder(OSError()), retries=4, backoff=1.0), TALK)
    assert len(waits) == 4
    for number, wait in enumerate(waits):
        assert 2**number / 2 <= wait <= 2**number
