"""The pipeline's decisions about a conversation hold in its later requests."""

import asyncio
import json
from typing import Any

import pytest
from support.builders.pipelines import CUT, LONG, ME, run
from support.servers.hosts import Changed, NamingTransformer, conversation

from toolcarry import Policy
from toolcarry._input.request_fields import read_fields
from toolcarry.integrations.identity import ModelRequest, RequestIdentity
from toolcarry.integrations.pipeline import RequestPipeline

# A conversation goes on

FIRST = conversation("x = 1\n" * 200)
SECOND = conversation("x = 1\n" * 200, "x = 2\n" * 10)
"""The second read supersedes the first, which was sent already: a change there has to win enough."""
PATIENT = Policy(clear_at_least=100_000)
EAGER = Policy(clear_at_least=0)


def first_result(body: bytes) -> str:
    text: str = json.loads(body)["messages"][2]["content"][0]["content"]
    return text


def test_earlier_decisions_are_repeated() -> None:
    pipeline = RequestPipeline(projection=PATIENT)
    run(pipeline, FIRST)
    assert run(pipeline, SECOND).body is SECOND
    # A conversation that nothing is known of has no cache to lose.
    assert "superseded" in first_result(run(RequestPipeline(projection=PATIENT), SECOND).body)


@pytest.mark.parametrize(
    "other",
    [
        RequestIdentity("you", "c1", "a"),
        RequestIdentity("me", "c2", "a"),
        RequestIdentity("me", "c1", "a", is_side_request=True),
    ],
)
def test_another_conversation_decides_nothing(other: RequestIdentity) -> None:
    pipeline = RequestPipeline(projection=PATIENT)
    run(pipeline, FIRST, other)
    assert "superseded" in first_result(run(pipeline, SECOND).body)


def test_another_line_of_the_conversation_decides_nothing() -> None:
    pipeline = RequestPipeline(projection=PATIENT)
    run(pipeline, conversation("y = 1\n" * 200, first="You are a sub-agent."))
    assert "superseded" in first_result(run(pipeline, SECOND).body)


def test_decisions_refer_to_the_sent_request() -> None:
    class Beginning(NamingTransformer):
        async def atransform_body(self, body: bytes, **_: Any) -> Changed:
            return Changed(body.replace(b"Look.", b"Context. Look."), True)

    pipeline = RequestPipeline(transformer=Beginning(), projection=PATIENT)
    asyncio.run(pipeline.process(ModelRequest(FIRST, ME, read_fields(FIRST))))
    pipeline = with_decisions_of(pipeline)
    assert "superseded" in first_result(run(pipeline, SECOND).body)
    sent = SECOND.replace(b"Look.", b"Context. Look.")
    assert run(pipeline, sent).body is sent


def with_decisions_of(other: RequestPipeline) -> RequestPipeline:
    """A pipeline that knows the same conversations and only projects."""
    pipeline = RequestPipeline(projection=PATIENT)
    pipeline._known = other._known
    return pipeline


def test_a_request_on_the_side_is_sent_as_the_conversation_is() -> None:
    pipeline = RequestPipeline(projection=PATIENT)
    run(pipeline, FIRST)
    side = RequestIdentity("me", "c1", "a", is_side_request=True)
    assert run(pipeline, SECOND, side).body is SECOND


def test_decisions_are_made_again_after_an_edit() -> None:
    pipeline = RequestPipeline(projection=EAGER)
    assert "superseded" in first_result(run(pipeline, SECOND).body)
    # The read that superseded the first one is gone.
    assert run(pipeline, FIRST).body is FIRST
    assert "superseded" in first_result(run(pipeline, SECOND).body)


def test_each_request_begins_as_the_last_one_did() -> None:
    pipeline = RequestPipeline(projection=Policy(max_tool_result_chars=300, clear_at_least=0))
    results: list[str] = []
    before: list[Any] = []
    for number in range(12):
        results.append(f"line {number}\n" * (20 + 30 * (number % 3)))
        messages = json.loads(run(pipeline, conversation(*results)).body)["messages"]
        superseded = [m for m in messages if "superseded" in json.dumps(m)]
        assert len(superseded) <= number
        again = json.loads(run(pipeline, conversation(*results)).body)["messages"]
        assert again == messages
        before = messages
    assert len(before) == 25


# What is kept is bounded


def test_stored_decisions_are_bounded() -> None:
    pipeline = RequestPipeline(projection=CUT, max_decisions=50)
    body = conversation(LONG, LONG)
    for number in range(200):
        run(pipeline, body, RequestIdentity("me", f"c{number}", "a"))
    assert 0 < pipeline._known.size <= 50
    assert len(pipeline._known) <= 50


def test_decisions_that_are_too_many_are_not_kept() -> None:
    pipeline = RequestPipeline(projection=CUT, max_decisions=6)
    run(pipeline, conversation(LONG))
    assert len(pipeline._known) == 1
    run(pipeline, conversation(*[LONG] * 5))
    assert len(pipeline._known) == 0
    assert not any(key.startswith("failed_open") for key in pipeline.counts)


def test_decisions_are_forgotten_in_time() -> None:
    pipeline = RequestPipeline(projection=PATIENT, ttl=1e-9)
    run(pipeline, FIRST)
    assert "superseded" in first_result(run(pipeline, SECOND).body)
