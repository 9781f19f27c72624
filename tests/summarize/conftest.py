"""The synchronous and asynchronous entry points of summaries, and both kinds of summarizer."""

import asyncio
from typing import Any

import pytest
from support.providers.summarizers import (
    Ask,
    AsyncRecorder,
    Recorder,
)

from toolcarry.summarize import (
    Summaries,
    Summary,
)


def ask_sync(summaries: Summaries, *given: Any) -> Summary:
    return summaries.summarize(*given)


def ask_async(summaries: Summaries, *given: Any) -> Summary:
    return asyncio.run(summaries.asummarize(*given))


@pytest.fixture(params=[ask_sync, ask_async], ids=["sync", "async"])
def ask(request: pytest.FixtureRequest) -> Ask:
    """Return one of the two entry points, synchronous or asynchronous."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=[Recorder, AsyncRecorder], ids=["function", "coroutine"])
def recorder(request: pytest.FixtureRequest) -> type[Recorder]:
    """Return one of the two kinds of summarizer; both entry points accept each."""
    return request.param  # type: ignore[no-any-return]
