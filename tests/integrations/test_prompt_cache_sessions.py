"""The prompt cache of real sessions, as a client of OpenAI sends them: with a key, and nothing that names them."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from support.transcripts import growing

from toolcarry import ProjectPolicy, convert, count_tokens
from toolcarry.integrations.identity import Identification, ModelRequest, RequestView
from toolcarry.integrations.pipeline import RequestPipeline

HEADERS = {"authorization": "Bearer sk-1", "user-agent": "OpenAI/Python 3.54.0"}


def send(pipeline: RequestPipeline, messages: list[Any]) -> list[str]:
    body = json.dumps({"model": "gpt-4o", "messages": messages}).encode()
    view = RequestView("/v1/chat/completions", HEADERS, body)
    request = ModelRequest(body, Identification()(view), view.fields, view.style)
    done = asyncio.run(pipeline.process(request))
    return [json.dumps(message) for message in json.loads(done.body)["messages"]]


def measure(turns: list[list[Any]], policy: ProjectPolicy) -> tuple[int, float]:
    """Return the number of requests that changed what was sent before, and the share of tokens that a cache had."""
    pipeline = RequestPipeline(projection=policy)
    sizes: dict[str, int] = {}
    before: list[str] = []
    breaks = cached = total = 0
    for messages in turns:
        now = send(pipeline, messages)
        for message in now:
            if message not in sizes:
                sizes[message] = count_tokens(message)
        pairs = enumerate(zip(before, now, strict=False))
        same = next((at for at, (old, new) in pairs if old != new), min(len(before), len(now)))
        breaks += same < len(before)
        cached += sum(sizes[message] for message in now[:same])
        total += sum(sizes[message] for message in now)
        before = now
    return breaks, cached / total


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy",
    [
        ProjectPolicy(repair=True, prices="claude"),
        ProjectPolicy(repair=True, prices="claude", max_all_results_tokens=8_000),
        ProjectPolicy(repair=True, prices="claude", max_request_tokens=20_000),
    ],
    ids=("default", "total", "window"),
)
@pytest.mark.parametrize("name", ["general-tool-calls", "21037e11-89de-484d-abba-8705254aa991"])
def test_few_breaks_and_most_tokens_cached(
    real_transcripts: Path, name: str, policy: ProjectPolicy
) -> None:
    """At prices by which a break is dear; at those of gpt-4o, more of them pay."""
    body = (real_transcripts / "claude_code" / f"{name}.jsonl").read_bytes()
    turns = list(growing(convert(body, to="openai").messages))
    assert len(turns) > 50
    breaks, cached = measure(turns, policy)
    assert breaks <= 8
    assert cached >= 0.92
