"""The share of the model's window that a request takes is in the headers of its response, and in the span of the host."""

import json
from typing import Any

import pytest
from support.servers.hosts import Echo, conversation, post

from toolcarry import ProjectPolicy, SummarizeTransformer
from toolcarry.integrations.asgi import ToolCarryMiddleware
from toolcarry.integrations.pipeline import RequestPipeline

NAMES = ["used", "limit", "remaining", "level", "label", "exact"]


def shown(body: bytes, policy: ProjectPolicy | None = None) -> dict[str, str]:
    pipeline = RequestPipeline(projection=policy or ProjectPolicy())
    start = post(ToolCarryMiddleware(Echo(headers=((b"x-own", b"1"),)), pipeline), body)[0]
    assert (b"x-own", b"1") in start["headers"]
    assert not pipeline.counts["fail_open"]
    start_of = "x-toolcarry-context-"
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    return {
        name.removeprefix(start_of): headers[name] for name in headers if name.startswith(start_of)
    }


def body_of(text: str, model: str = "gpt-4o") -> bytes:
    return json.dumps({**json.loads(conversation(text)), "model": model}).encode()


def test_a_known_window_is_shown() -> None:
    found = shown(body_of("x = 1\n" * 100))
    assert list(found) == NAMES
    assert found["limit"] == "128000"
    assert int(found["used"]) + int(found["remaining"]) == 128_000
    assert (found["level"], found["exact"]) == ("ample", "false")
    assert found["label"] == "About 0 % of the context window is used."


def test_what_the_projection_counted_is_exact() -> None:
    found = shown(
        body_of("word " * 7_000, "gpt-4"),
        ProjectPolicy(max_request_tokens=100_000, encoding="cl100k_base"),
    )
    assert found["exact"] == "true"
    assert found["level"] == "filling"
    assert found["label"].endswith("of the context window is used.")


def test_the_usage_is_that_of_what_is_sent() -> None:
    whole = shown(body_of("word " * 7_000, "gpt-4"))
    cut = shown(body_of("word " * 7_000, "gpt-4"), ProjectPolicy(max_result_chars=500))
    assert int(cut["used"]) < int(whole["used"]) // 10


def test_the_bytes_of_an_image_are_not_its_tokens() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0K" * 50_000}
    said = [{"role": "user", "content": [{"type": "image", "source": source}]}]
    body = json.dumps({"model": "claude-sonnet-4-5", "messages": said}).encode()
    assert int(shown(body)["used"]) < 3_000


@pytest.mark.parametrize("model", ["unheard-of", "", None, 7])
def test_an_unknown_window_is_not_shown(model: Any) -> None:
    assert shown(body_of("x", model)) == {}


def test_the_span_of_the_host_gets_attributes() -> None:
    trace = pytest.importorskip("opentelemetry.trace")

    class Span(trace.NonRecordingSpan):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(trace.INVALID_SPAN_CONTEXT)
            self.given: dict[str, Any] = {}

        def is_recording(self) -> bool:
            return True

        def set_attributes(self, attributes: Any) -> None:
            self.given.update(attributes)

    span = Span()
    pipeline = RequestPipeline(projection=ProjectPolicy(max_result_chars=200))
    with trace.use_span(span):
        post(ToolCarryMiddleware(Echo(), pipeline), body_of("x = 1\n" * 400))
    assert span.given["gen_ai.operation.name"] == "chat"
    assert span.given["gen_ai.conversation.id"] == "s1"
    assert span.given["gen_ai.request.model"] == "gpt-4o"
    assert span.given["toolcarry.projection_cuts"] == 1
    assert span.given["toolcarry.tokens_saved"] > 400


@pytest.mark.parametrize("model", ["glm-4.6", "unheard-of", "claude-sonnet-4-5"])
def test_a_window_may_be_set_for_all_models(model: str) -> None:
    found = shown(body_of("x = 1\n" * 100, model), ProjectPolicy(window_tokens=5_000))
    assert found["limit"] == "5000"


def test_a_model_without_a_window_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    pipeline = RequestPipeline(transformer=SummarizeTransformer(), compact_at=0.8)
    for model in ("barn-1", "barn-1", "loft-2", "gpt-4o"):
        post(ToolCarryMiddleware(Echo(), pipeline), body_of("hi", model))
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2
    assert "the model 'barn-1' is not known, so compact_at does nothing" in told[0]
    assert "window_tokens" in told[1]


@pytest.mark.parametrize(
    ("policy", "end"),
    [
        (None, "is used."),
        (ProjectPolicy(), "is used."),
        (ProjectPolicy(max_request_tokens="80%", model="gpt-4"), "are shortened from 80 %."),
        (ProjectPolicy(max_request_tokens=7_000), "are shortened from 85 %."),
        (ProjectPolicy(max_request_tokens=100_000), "is used."),
    ],
    ids=["off", "without a limit", "share", "number", "more than the window"],
)
def test_the_label_says_that_results_are_shortened_if_they_are(
    policy: ProjectPolicy | None, end: str
) -> None:
    pipeline = RequestPipeline(projection=policy, transformer=SummarizeTransformer())
    body = body_of("word " * 5_100, "gpt-4")
    start = post(ToolCarryMiddleware(Echo(), pipeline), body)[0]
    label = dict(start["headers"])[b"x-toolcarry-context-label"].decode()
    assert dict(start["headers"])[b"x-toolcarry-context-level"] == b"filling"
    assert label.endswith(end)
