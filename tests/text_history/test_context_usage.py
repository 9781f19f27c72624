"""The size of a text history: the exact strings that a host sends are counted, by the limit that it sends them with."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sdk import sdk
from support.strategies.conversations import transcripts

from toolcarry.fallback.tokens.count import count_tokens
from toolcarry.types.values import ENCODINGS, EncodingName

SYSTEM = "You are an agent. 漢字 🙂"
TALK = [
    {"role": "user", "content": "Is test.cs empty?", "turn_id": "a"},
    {"role": "assistant", "content": "<think>Hm.</think>No.", "turn_id": "a"},
    {"role": "user", "content": "Build it.", "turn_id": "b"},
    {"role": "assistant", "content": "It fails.", "turn_id": "b"},
]
CALLS = [
    {"turn_id": "a", "name": "ReadFile", "arguments": {"path": "test.cs"}, "result": "class 漢 {}\n" * 90},
    {"turn_id": "b", "name": "Run", "arguments": {"command": "dotnet build"}, "error": "CS1002 " * 99},
]  # fmt: skip
ANSWER = {
    "id": "c", "object": "chat.completion", "created": 0, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ok"}}],
}  # fmt: skip


class Server(HTTPServer):
    """A provider that keeps the requests it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[dict[str, Any]] = []


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.requests.append(json.loads(body))
        answer = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def agent_file(tmp_path: Path) -> Path:
    path = tmp_path / ".agents" / "agent.json"
    path.parent.mkdir()
    path.write_text('{"toolResultMaxLength": 120}')
    return path


@pytest.mark.sdk
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_estimate_covers_the_sent_request(
    rust: ModuleType, server: Server, agent_file: Path, encoding: EncodingName
) -> None:
    openai = sdk("openai")
    config = rust.AgentConfig(agent_file)
    for length in (120, 7, 4_000):
        agent_file.write_text(json.dumps({"toolResultMaxLength": length}))
        sent = rust.recount(TALK, tool_calls=CALLS, config=config).messages
        url = f"http://127.0.0.1:{server.server_port}/v1"
        with openai.OpenAI(base_url=url, api_key="k", max_retries=0) as client:
            messages: list[Any] = [{"role": "system", "content": SYSTEM}, *sent]
            client.chat.completions.create(model="m", messages=messages)
        texts = [message["content"] for message in server.requests[-1]["messages"]]
        counts = [count_tokens(text, encoding) for text in texts]
        assert list(rust.count_message_tokens(messages, encoding=encoding)) == counts
        assert [message["content"] for message in sent] == texts[1:]
        assert texts[2].count("class") == (11 if length == 120 else 1 if length == 7 else 90)


@given(transcripts, st.integers(1, 600), st.none() | st.integers(0, 400))
def test_the_count_is_that_of_the_history(
    rust: ModuleType,
    tmp_path_factory: pytest.TempPathFactory,
    messages: list[dict[str, Any]],
    length: int,
    total: int | None,
) -> None:
    path = tmp_path_factory.getbasetemp() / "agent.json"
    path.write_text(json.dumps({"toolResultMaxLength": length}))
    told = rust.recount(messages, config=rust.AgentConfig(path), max_tokens=total)
    assert told == rust.recount(messages, max_result_length=length, max_tokens=total)
    contents = [message["content"] for message in told.messages]
    counts = list(rust.count_message_tokens(told.messages))
    assert counts == [count_tokens(text, "o200k_base") for text in contents]
    assert total is None or sum(counts) == told.report.tokens_after <= total


def test_the_history_itself_takes_the_configuration(rust: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "agent.json"
    path.write_text('{"toolResultMaxLength": 5}')
    calls = [{"name": "f", "result": "x" * 50}]
    told = rust.recount(
        [{"role": "user", "content": "q"}], tool_calls=calls, config=rust.AgentConfig(path)
    )
    assert "xxxxxx" not in told.messages[-1]["content"]
    with pytest.raises(rust.ConfigError):
        rust.recount([], config="agent.json")
