"""The pipeline: what it does to a request, what it remembers, and that nothing of it fails one."""

import asyncio
import json
import logging
import threading
from typing import Any

import pytest
from hosts import Changed, NamingTransformer, conversation
from hypothesis import given
from hypothesis import strategies as st

from toolcarry import ConfigError, Policy, inspect, project_body
from toolcarry.fields import read_fields
from toolcarry.integrations import pipeline as module
from toolcarry.integrations.identity import RequestIdentity
from toolcarry.integrations.pipeline import Processed, RequestPipeline

ME = RequestIdentity("me", "c1", "a")
CUT = Policy(max_tool_result_chars=200)
LONG = "x = 1\n" * 400


def run(pipeline: RequestPipeline, body: bytes, identity: RequestIdentity | None = ME) -> Processed:
    return asyncio.run(pipeline.process(body, identity))


class Failing(NamingTransformer):
    """Raises what it is given, wherever it is asked."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    async def atransform_body(self, *_: Any, **__: Any) -> Changed:
        raise self.error

    async def aanswered(self, *_: Any, **__: Any) -> None:
        raise self.error


class Slow(NamingTransformer):
    async def atransform_body(self, *_: Any, **__: Any) -> Changed:
        await asyncio.sleep(60)
        raise AssertionError

    async def aanswered(self, *_: Any, **__: Any) -> None:
        await asyncio.sleep(60)


def test_what_does_not_change_is_the_same_object() -> None:
    pipeline = RequestPipeline(transformer=NamingTransformer(), projection=Policy(repair=True))
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


def test_the_transformer_is_told_of_the_answer_with_the_line() -> None:
    transformer = NamingTransformer()
    pipeline = RequestPipeline(transformer=transformer)
    done = run(pipeline, conversation())
    asyncio.run(pipeline.answered(done))
    assert transformer.told == [("me", "c1", "a", "line of c1")]


@pytest.mark.parametrize(
    "identity",
    [
        None,
        RequestIdentity("", "c1", "a"),
        RequestIdentity("me", "", "a"),
        RequestIdentity("me", "c1", ""),
        RequestIdentity("me", "c1", "a", is_side_request=True),
    ],
)
def test_the_transformer_is_not_told_of_others(identity: RequestIdentity | None) -> None:
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
    assert len(pipeline._known) == 0


# A conversation goes on

FIRST = conversation("x = 1\n" * 200)
SECOND = conversation("x = 1\n" * 200, "x = 2\n" * 10)
"""The second read supersedes the first, which was sent already: a change there has to win enough."""
PATIENT = Policy(clear_at_least=100_000)
EAGER = Policy(clear_at_least=0)


def first_result(body: bytes) -> str:
    text: str = json.loads(body)["messages"][2]["content"][0]["content"]
    return text


def test_what_was_sent_stands_as_it_did() -> None:
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


def test_decisions_are_about_what_was_sent_and_not_what_came() -> None:
    class Beginning(NamingTransformer):
        async def atransform_body(self, body: bytes, **_: Any) -> Changed:
            return Changed(body.replace(b"Look.", b"Context. Look."), True)

    pipeline = RequestPipeline(transformer=Beginning(), projection=PATIENT)
    asyncio.run(pipeline.process(FIRST, ME, read_fields(FIRST)))
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


def test_after_what_was_said_was_taken_back_it_is_decided_anew() -> None:
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


def test_what_is_kept_is_bounded_in_number() -> None:
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


# Nothing fails a request


class PanicException(BaseException):
    """What a panic of the core is, by its name."""


FAULTS = [ValueError("secret"), MemoryError(), RecursionError(), TimeoutError(), PanicException()]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_a_switch_that_fails_is_left_out(fault: BaseException, caplog: Any) -> None:
    pipeline = RequestPipeline(transformer=Failing(fault), projection=CUT)
    body = conversation(LONG)
    with caplog.at_level(logging.WARNING, "toolcarry.integrations"):
        done = run(pipeline, body)
        asyncio.run(pipeline.answered(done))
    assert done.body == project_body(body, policy=CUT).body
    assert pipeline.counts["failed_open.switch"] == 1
    assert pipeline.counts["failed_open.answered"] == 1
    assert len(caplog.records) == 2
    assert type(fault).__name__ in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("part", ["project_body", "opening", "read_fields", "reason_of"])
@pytest.mark.parametrize("size", [1, module.LARGE])
def test_a_projection_that_fails_leaves_what_was_switched(
    part: str, fault: BaseException, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(module, part, fail)
    pipeline = RequestPipeline(
        transformer=NamingTransformer({("me", "c1"): "b"}), projection=Policy()
    )
    body = json.dumps({"model": "a", "padding": "x" * size}).encode()
    done = run(pipeline, body)
    assert json.loads(done.body)["switched"] == "b to a"
    assert pipeline.counts["failed_open.projection"] == 1
    assert pipeline.counts["changed"] == 1


@pytest.mark.parametrize("answer", [None, "text", {"body": b""}, Changed("text", True)])
def test_a_transformer_that_answers_nonsense_is_left_out(answer: Any) -> None:
    class Odd(NamingTransformer):
        async def atransform_body(self, *_: Any, **__: Any) -> Changed:
            return answer

    pipeline = RequestPipeline(transformer=Odd(), projection=Policy())
    body = conversation(LONG)
    assert run(pipeline, body).body is body
    assert pipeline.counts["failed_open.switch"] == 1


@pytest.mark.parametrize("identity", [("me", "c1"), "me", RequestIdentity(["me"], "c1", "a")])
def test_an_identity_that_is_none_fails_nothing(identity: Any) -> None:
    pipeline = RequestPipeline(transformer=NamingTransformer(), projection=Policy())
    body = conversation(LONG)
    done = run(pipeline, body, identity)
    assert done.body is body
    asyncio.run(pipeline.answered(done))


def test_what_takes_too_long_is_left_out() -> None:
    pipeline = RequestPipeline(transformer=Slow(), projection=CUT, timeout=0.01)
    body = conversation(LONG)
    done = run(pipeline, body)
    asyncio.run(pipeline.answered(done))
    assert done.body == project_body(body, policy=CUT).body
    assert pipeline.counts["failed_open.switch"] == pipeline.counts["failed_open.answered"] == 1


def test_a_projection_that_takes_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    is_over = threading.Event()

    def wait(*_: object, **__: object) -> None:
        is_over.wait(30)
        raise AssertionError

    async def process(body: bytes) -> None:
        done = await pipeline.process(body, ME)
        is_over.set()
        assert done.body is body

    monkeypatch.setattr(module, "project_body", wait)
    pipeline = RequestPipeline(projection=CUT, timeout=0.01)
    asyncio.run(process(conversation("x" * module.LARGE)))
    assert pipeline.counts["failed_open.projection"] == 1


@pytest.mark.parametrize("end", [asyncio.CancelledError(), KeyboardInterrupt(), SystemExit()])
def test_an_end_is_no_failure(end: BaseException) -> None:
    async def process() -> None:
        pipeline = RequestPipeline(transformer=Failing(end))
        with pytest.raises(type(end)):
            await pipeline.process(conversation(), ME)
        with pytest.raises(type(end)):
            await pipeline.answered(Processed(b"", ME))
        assert not +pipeline.counts

    asyncio.run(process())


def test_a_cancelled_request_is_cancelled() -> None:
    async def process() -> None:
        pipeline = RequestPipeline(transformer=Slow())
        task = asyncio.create_task(pipeline.process(conversation(), ME))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(process())


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\x1f\x8b\x08", "compressed"),
        (b"{", "not_JSON"),
        (b"", "not_JSON"),
        (b"{}", "no_messages"),
        (b'{"messages": [1]}', "odd_messages"),
    ],
)
def test_a_body_that_can_not_be_read_is_counted(body: bytes, reason: str) -> None:
    pipeline = RequestPipeline(projection=Policy())
    assert run(pipeline, body).body is body
    assert pipeline.counts[f"skipped.{reason}"] == 1


@given(st.binary() | st.binary().map(lambda data: b'{"messages": [' + data))
def test_no_body_is_failed(body: bytes) -> None:
    pipeline = RequestPipeline(projection=Policy(repair=True))
    assert run(pipeline, body).body is body
    assert not any(key.startswith("failed_open") for key in pipeline.counts)


def test_a_large_body_is_projected_as_a_small_one_is() -> None:
    pipeline = RequestPipeline(projection=CUT)
    body = conversation(*[f"{number}\n" + LONG for number in range(200)], "x" * module.LARGE)
    assert len(body) > module.LARGE
    assert run(pipeline, body).body == project_body(body, policy=CUT).body
    assert inspect(run(pipeline, body).body).calls == 201


@pytest.mark.parametrize(
    "options",
    [
        {"projection": "careful"},
        {"timeout": 0},
        {"timeout": True},
        {"ttl": -1.0},
        {"ttl": "1"},
        {"max_decisions": -1},
    ],
)
def test_a_wrong_option_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        RequestPipeline(**options)


def test_a_pipeline_without_parts_has_no_work() -> None:
    assert not RequestPipeline().has_work
    assert RequestPipeline(projection=Policy()).has_work
    assert RequestPipeline(transformer=NamingTransformer()).has_work
