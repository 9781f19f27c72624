"""Models called through LiteLLM: the real package, with mock answers or with a local server of OpenAI's shape."""

import asyncio
import importlib.util
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from toolcarry import ConfigError
from toolcarry.summarize import CONVERSATION_SUMMARIZE_SYSTEM, LiteLLMSummarizer, Summaries, Summary

HAS_LITELLM = importlib.util.find_spec("litellm") is not None
needs_litellm = pytest.mark.skipif(not HAS_LITELLM, reason="litellm is not installed")
# What litellm and its clients leave open, and warn of, is theirs.
theirs = pytest.mark.filterwarnings("ignore")

TALK = "[USER]\nFix it.\n[/USER]"


@pytest.fixture(autouse=True)
def no_prices_from_afar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevent litellm from connecting to other hosts."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")


@pytest.mark.skipif(HAS_LITELLM, reason="litellm is installed")
def test_the_missing_extra_is_named() -> None:
    with pytest.raises(
        ConfigError,
        match=r"summarizer: needs litellm, which is not installed; pip install 'toolcarry\[litellm\]'",
    ):
        LiteLLMSummarizer("openai/gpt")


@needs_litellm
@pytest.mark.parametrize(("model", "options"), [("", {}), (7, {}), ("a", {"max_tokens": -1})])
def test_settings_that_are_invalid(model: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"(model|max_tokens): .* is not allowed"):
        LiteLLMSummarizer(model, **options)


@needs_litellm
@theirs
def test_an_answer_of_litellm_itself() -> None:
    summarizer = LiteLLMSummarizer("openai/gpt-4o-mini", mock_response="<think>Hm.</think>Short.")
    assert summarizer.model == "openai/gpt-4o-mini"
    assert summarizer(TALK, "Be brief.") == "<think>Hm.</think>Short."
    assert asyncio.run(summarizer.acall(TALK, "Be brief.")) == "<think>Hm.</think>Short."
    assert Summaries(summarizer).summarize(TALK) == Summary("Short.", "made", attempts=1)
    made = asyncio.run(Summaries(summarizer).asummarize(TALK))
    assert made == Summary("Short.", "made", attempts=1)


class Server(ThreadingHTTPServer):
    """Answers as OpenAI does: by the statuses that are given, then well."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []
        self.statuses: list[int] = []
        self.content: str | None = "Short."
        self.is_held = threading.Event()
        self.is_held.set()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.server.is_held.wait(20)
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        message = {"role": "assistant", "content": self.server.content}
        answer = {
            "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }  # fmt: skip
        body = json.dumps(answer if status == 200 else {"error": {"message": "sk-secret"}}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.is_held.set()
        found.shutdown()


def summaries_of(server: Server, **options: Any) -> Summaries:
    base = f"http://127.0.0.1:{server.server_port}/v1"
    summarizer = LiteLLMSummarizer("openai/m", api_base=base, api_key="k", temperature=0)
    return Summaries(summarizer, backoff=0, **options)


def ask(summaries: Summaries, is_async: bool) -> Summary:
    return asyncio.run(summaries.asummarize(TALK)) if is_async else summaries.summarize(TALK)


BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@needs_litellm
@theirs
@BOTH
def test_request_to_a_server(server: Server, is_async: bool) -> None:
    summaries = summaries_of(server, instructions="Keep names.")
    assert ask(summaries, is_async) == Summary("Short.", "made", attempts=1)
    assert ask(summaries, is_async) == Summary("Short.", "cached")
    (asked,) = server.asked
    assert asked["messages"] == [
        {"role": "system", "content": f"{CONVERSATION_SUMMARIZE_SYSTEM}\n\nKeep names."},
        {"role": "user", "content": TALK},
    ]
    assert (asked["model"], asked["max_tokens"], asked["temperature"]) == ("m", 1_500, 0)


@needs_litellm
@theirs
@BOTH
@pytest.mark.parametrize(
    ("statuses", "summary"),
    [
        ([500, 429], Summary("Short.", "made", attempts=3)),
        ([401], Summary("", "failed", "AuthenticationError: status 401", 1)),
        ([400], Summary("", "failed", "BadRequestError: status 400", 1)),
        ([429] * 3, Summary("", "failed", "RateLimitError: status 429", 3)),
    ],
)
def test_each_call_is_one_request(
    server: Server,
    is_async: bool,
    statuses: list[int],
    summary: Summary,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """LiteLLM and the clients below it repeat nothing by themselves, and print nothing; we log no words of theirs."""
    server.statuses = list(statuses)
    assert ask(summaries_of(server), is_async) == summary
    assert len(server.asked) == summary.attempts
    assert capfd.readouterr().out == ""
    ours = [each.getMessage() for each in caplog.records if each.name.startswith("toolcarry")]
    assert len(ours) == (summary.status == "failed")
    assert "secret" not in "".join(ours)


@needs_litellm
@theirs
@BOTH
def test_an_answer_without_content(server: Server, is_async: bool) -> None:
    server.content = None
    summary = ask(summaries_of(server, retries=0), is_async)
    assert summary == Summary("", "failed", "the summarizer wrote nothing", 1)


@needs_litellm
@theirs
@BOTH
def test_a_server_that_does_not_answer(server: Server, is_async: bool) -> None:
    server.is_held.clear()
    summary = ask(summaries_of(server, retries=0, timeout=0.2), is_async)
    assert summary.status == "failed"
    assert summary.error.startswith("TimeoutError: no answer within 0.2 s")


@needs_litellm
@theirs
@BOTH
def test_a_server_that_is_gone(is_async: bool) -> None:
    with Server() as gone:
        summaries = summaries_of(gone, retries=1)
    summary = ask(summaries, is_async)
    assert (summary.status, summary.attempts) == ("failed", 2)
    assert "Error" in summary.error
