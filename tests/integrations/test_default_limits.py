"""The limits that the settings have by default: on one result only where there is no room for all of them."""

from __future__ import annotations

import asyncio
import json
from itertools import chain
from typing import Any

import pytest
from support.builders import wire

from toolcarry.config import parse_config
from toolcarry.integrations.build import pipeline_from
from toolcarry.integrations.identity import ModelRequest, RequestIdentity


def context_of(settings: str, sizes: list[int], **options: Any) -> str:
    """Return the beginning that a conversation with results of these sizes gets for another backend."""
    results = [
        wire.bash(f"run {at}", f"{at} is one line of a log\n" * (size // 25), f"t{at}")
        for at, size in enumerate(sizes)
    ]
    messages = [{"role": "user", "content": "Go."}, *chain.from_iterable(results)]
    messages += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "Next."}]
    body = json.dumps({"model": "m", "messages": messages}).encode()

    async def ask() -> bytes:
        pipeline = pipeline_from(parse_config(settings), **options)
        done = await pipeline.process(ModelRequest(body, RequestIdentity("me", "c", "a")))
        await pipeline.answered(done)
        return (await pipeline.process(ModelRequest(body, RequestIdentity("me", "c", "b")))).body

    return json.loads(asyncio.run(ask()))["messages"][0]["content"]


@pytest.mark.parametrize(
    ("settings", "sizes", "is_cut"),
    [
        ("", [4_907], False),
        ("", [4_907] * 10, False),
        ("", [4_907] * 40, True),
        ("thinking.summarize.max_tokens = 8000", [4_907], False),
        ("thinking.summarize.max_tokens = 8000", [9_000] * 20, True),
        ("thinking.summarize.max_result_chars = 2000", [4_907], True),
        ("thinking.summarize.max_result_tokens = 500", [4_907], True),
        ('[[dedup.rules]]\ntools = "Other"\nmax_result_chars = 5', [4_907], False),
    ],
)
def test_a_result_is_cut_if_a_limit_is_set_or_there_is_no_room(
    settings: str, sizes: list[int], is_cut: bool
) -> None:
    text = context_of(settings, sizes)
    assert ("truncated: " in text or "## Latest Steps" in text) is is_cut
    longest = max(text.count(f"\n{at} is one line of a log") for at in range(len(sizes)))
    assert (longest * 23 <= 2_000) is is_cut


def test_a_marker_names_a_call_if_the_host_can_answer_the_model() -> None:
    settings = "[thinking.summarize]\nmax_result_chars = 500"
    assert "whole: t0" in context_of(settings, [4_907], has_references=True)
    assert "whole: " not in context_of(settings, [4_907])
