"""The pipeline: its changes to a request, and its handling of the answer."""

import asyncio
import json

import pytest
from support.builders.pipelines import CUT, LONG, ME, run
from support.rows import for_each
from support.servers.hosts import NamingTransformer, conversation

from toolcarry import ProjectPolicy
from toolcarry.integrations.identity import RequestIdentity
from toolcarry.integrations.pipeline import RequestPipeline


def test_an_unchanged_body_is_the_same_object() -> None:
    pipeline = RequestPipeline(
        transformer=NamingTransformer(), projection=ProjectPolicy(repair=True)
    )
    body = conversation("short")
    assert run(pipeline, body).body is body
    assert pipeline.counts["processed"] == 1
    assert not {"changed", "switched", "projected"} & set(+pipeline.counts)


def test_it_switches_and_then_projects() -> None:
    transformer = NamingTransformer({("me", "c1"): "b"})
    pipeline = RequestPipeline(transformer=transformer, projection=CUT)
    body = conversation(LONG)
    done = run(pipeline, body)
    document = json.loads(done.body)
    assert document["switched"] == "b to a"
    assert len(document["messages"][2]["content"][0]["content"]) <= 200
    assert (done.identity, done.line) == (ME, "line of c1")
    counts = pipeline.counts
    assert (counts["switched"], counts["projected"], counts["changed"]) == (1, 1, 1)
    assert (counts["bytes_before"], counts["bytes_after"]) == (len(body), len(done.body))


def test_the_transformer_hears_of_the_answer_with_the_line() -> None:
    transformer = NamingTransformer()
    pipeline = RequestPipeline(transformer=transformer)
    done = run(pipeline, conversation())
    asyncio.run(pipeline.answered(done))
    assert transformer.told == [("me", "c1", "a", "line of c1")]


@for_each(
    "identity",
    [
        None,
        RequestIdentity("", "c1", "a"),
        RequestIdentity("me", "", "a"),
        RequestIdentity("me", "c1", ""),
        RequestIdentity("me", "c1", "a", is_side_request=True),
    ],
)
def test_other_answers_are_not_reported_to_the_transformer(
    identity: RequestIdentity | None,
) -> None:
    transformer = NamingTransformer()
    pipeline = RequestPipeline(transformer=transformer)
    asyncio.run(pipeline.answered(run(pipeline, conversation(), identity)))
    assert transformer.told == []


@pytest.mark.parametrize("identity", [None, RequestIdentity("", "c1", "a")])
def test_without_a_tenant_nothing_is_kept_and_nothing_switched(
    identity: RequestIdentity | None,
) -> None:
    transformer = NamingTransformer({("", "c1"): "b"})
    pipeline = RequestPipeline(transformer=transformer, projection=CUT)
    assert run(pipeline, conversation(LONG), identity).body != conversation(LONG)
    assert pipeline.counts["skipped.no_identity"] == 1
    assert len(pipeline._projections.known) == 0
