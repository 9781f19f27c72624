"""Nothing of the pipeline fails a request."""

import asyncio
import json
import logging
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.pipelines import CUT, LONG, ME, run
from support.rows import for_each
from support.servers.hosts import Changed, NamingTransformer, conversation

from toolcarry import ConfigError, ProjectPolicy, extract_tool_blocks, project_body
from toolcarry._util.workers import LARGE
from toolcarry.integrations import projections as module
from toolcarry.integrations.identity import ModelRequest, RequestIdentity
from toolcarry.integrations.pipeline import Processed, RequestPipeline


class Failing(NamingTransformer):
    """A transformer whose methods raise the given error."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    async def atransform_body(self, *_: Any, **__: Any) -> Changed:
        raise self.error

    async def aanswered(self, *_: Any, **__: Any) -> None:
        raise self.error


class Slow(NamingTransformer):
    async def atransform_body(self, *_: Any, **__: Any) -> Changed:
        await asyncio.Event().wait()
        raise AssertionError

    async def aanswered(self, *_: Any, **__: Any) -> None:
        await asyncio.Event().wait()


class PanicException(BaseException):
    """A stand-in for a panic of the core, which is recognised by its name."""


FAULTS = [ValueError("secret"), MemoryError(), RecursionError(), TimeoutError(), PanicException()]


@for_each("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_a_switch_that_fails_is_left_out(fault: BaseException, caplog: Any) -> None:
    caplog.clear()
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


@for_each("fault", FAULTS, ids=lambda fault: type(fault).__name__)
@for_each("part", ["project_body", "opening", "read_fields", "reason_of"])
@for_each("size", [1, LARGE])
def test_a_failed_projection_keeps_the_switch(
    part: str, fault: BaseException, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(module, part, fail)
    pipeline = RequestPipeline(
        transformer=NamingTransformer({("me", "c1"): "b"}), projection=ProjectPolicy()
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

    pipeline = RequestPipeline(transformer=Odd(), projection=ProjectPolicy())
    body = conversation(LONG)
    assert run(pipeline, body).body is body
    assert pipeline.counts["failed_open.switch"] == 1


@pytest.mark.parametrize("identity", [("me", "c1"), "me", RequestIdentity(["me"], "c1", "a")])
def test_an_identity_that_is_invalid_fails_nothing(identity: Any) -> None:
    pipeline = RequestPipeline(transformer=NamingTransformer(), projection=ProjectPolicy())
    body = conversation(LONG)
    done = run(pipeline, body, identity)
    assert done.body is body
    asyncio.run(pipeline.answered(done))


def test_a_slow_part_is_skipped() -> None:
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
        done = await pipeline.process(ModelRequest(body, ME))
        is_over.set()
        assert done.body is body

    monkeypatch.setattr(module, "project_body", wait)
    pipeline = RequestPipeline(projection=CUT, timeout=0.01)
    asyncio.run(process(conversation("x" * LARGE)))
    assert pipeline.counts["failed_open.projection"] == 1


@pytest.mark.parametrize("end", [asyncio.CancelledError(), KeyboardInterrupt(), SystemExit()])
def test_an_end_is_no_failure(end: BaseException) -> None:
    async def process() -> None:
        pipeline = RequestPipeline(transformer=Failing(end))
        with pytest.raises(type(end)):
            await pipeline.process(ModelRequest(conversation(), ME))
        with pytest.raises(type(end)):
            await pipeline.answered(Processed(b"", ME))
        assert not +pipeline.counts

    asyncio.run(process())


def test_a_cancelled_request_is_cancelled() -> None:
    async def process() -> None:
        pipeline = RequestPipeline(transformer=Slow())
        task = asyncio.create_task(pipeline.process(ModelRequest(conversation(), ME)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(process())


@for_each(
    ("body", "reason"),
    [
        (b"\x1f\x8b\x08", "compressed"),
        (b"{", "not_JSON"),
        (b"", "not_JSON"),
        (b'{"messages": [%b%b]}' % (b"[" * 128, b"]" * 128), "nested_too_deep"),
        (b"{}", "no_messages"),
        (b'{"messages": [1]}', "odd_messages"),
    ],
)
def test_a_body_that_can_not_be_read_is_counted(body: bytes, reason: str) -> None:
    pipeline = RequestPipeline(projection=ProjectPolicy())
    assert run(pipeline, body).body is body
    assert pipeline.counts[f"skipped.{reason}"] == 1


@given(st.binary() | st.binary().map(lambda data: b'{"messages": [' + data))
def test_no_body_is_failed(body: bytes) -> None:
    pipeline = RequestPipeline(projection=ProjectPolicy(repair=True))
    assert run(pipeline, body).body is body
    assert not any(key.startswith("failed_open") for key in pipeline.counts)


def test_a_large_body_is_projected_as_a_small_one_is() -> None:
    pipeline = RequestPipeline(projection=CUT)
    body = conversation(*[f"{number}\n" + LONG for number in range(200)], "x" * LARGE)
    assert len(body) > LARGE
    assert run(pipeline, body).body == project_body(body, policy=CUT).body
    assert len(extract_tool_blocks(run(pipeline, body).body)) == 201


@for_each(
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
    assert RequestPipeline(projection=ProjectPolicy()).has_work
    assert RequestPipeline(transformer=NamingTransformer()).has_work
