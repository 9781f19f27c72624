"""Streams that are held back until it is known who they are for: the client has the head, and what is surely its own."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

import pytest

from toolcarry.config import History
from toolcarry.integrations.asgi import SENT, SentRequest
from toolcarry.integrations.proxy.held_answer import COMMENT, HeldAnswer
from toolcarry.integrations.proxy.retrieval import KeptResults, Retrieval

PATHS = {
    "anthropic": "/v1/messages",
    "openai": "/v1/chat/completions",
    "responses": "/v1/responses",
    "ollama": "/api/chat",
}
SSE = b"text/event-stream"
OWN = "read_tool_result"


def lines(style: str, events: list[Any]) -> list[bytes]:
    written = [json.dumps(event).encode() for event in events]
    return (
        [each + b"\n" for each in written]
        if style == "ollama"
        else [b"data: %b\n\n" % each for each in written]
    )


def thinking(style: str, text: str) -> list[Any]:
    """The events of a thought, word by word, with what comes before them."""
    words = [f"{word} " for word in text.split()]
    if style == "anthropic":
        start = [
            {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "thinking", "thinking": ""},
            },
        ]
        return start + [
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "thinking_delta", "thinking": word},
            }
            for word in words
        ]
    if style == "responses":
        start = [{"type": "response.created", "response": {"output": []}}]
        return start + [
            {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": word}
            for word in words
        ]
    if style == "openai":
        first = [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}]
        return first + [
            {"choices": [{"index": 0, "delta": {"reasoning_content": word}, "finish_reason": None}]}
            for word in words
        ]
    return [
        {"message": {"role": "assistant", "content": "", "thinking": word}, "done": False}
        for word in words
    ]


def asking(style: str) -> list[Any]:
    """The events of a call that the proxy answers."""
    given = {"ref": "t1"}
    if style == "anthropic":
        return [
            {"type": "content_block_stop", "index": 0},
            {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "k1", "name": OWN, "input": {}}},
            {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": json.dumps(given)}},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            {"type": "message_stop"},
        ]  # fmt: skip
    call = {
        "id": "k1",
        "type": "function",
        "function": {"name": OWN, "arguments": json.dumps(given)},
    }
    if style == "openai":
        return [
            {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **call}]}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        ]
    if style == "responses":
        item = {
            "type": "function_call",
            "call_id": "k1",
            "name": OWN,
            "arguments": json.dumps(given),
        }
        return [
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"status": "completed", "output": [item]}},
        ]
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": OWN, "arguments": given}}],
    }
    return [
        {"message": message, "done": False},
        {"message": {"role": "assistant", "content": ""}, "done": True},
    ]


def saying(style: str, text: str) -> list[Any]:
    if style == "anthropic":
        return [
            {
                "type": "content_block_start",
                "index": 1,
                "content_block": {"type": "text", "text": ""},
            },
            {
                "type": "content_block_delta",
                "index": 1,
                "delta": {"type": "text_delta", "text": text},
            },
            {"type": "message_stop"},
        ]
    if style == "responses":
        return [
            {"type": "response.output_text.delta", "delta": text},
            {"type": "response.completed", "response": {}},
        ]
    if style == "openai":
        return [{"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]}]
    return [{"message": {"role": "assistant", "content": text}, "done": True}]


def request(style: str) -> bytes:
    long = "".join(f"line {number}\n" for number in range(200))
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "Bash", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "t1", "content": long},
    ]  # fmt: skip
    key = "input" if style == "responses" else "messages"
    return json.dumps({"model": "m", key: messages, "stream": True}).encode()


class Client:
    """Sends a request through the loop, and lets the model go on once it has seen the first answer begin."""

    def __init__(self, style: str, answers: list[tuple[list[bytes], int, bytes]]) -> None:
        self.style = style
        self.answers = answers
        self.sent: list[Any] = []
        self.asked: list[Any] = []
        self.has_begun = asyncio.Event()

    async def model(self, _: Any, receive: Any, send: Any) -> None:
        self.asked.append(json.loads((await receive())["body"]))
        events, status, kind = self.answers[len(self.asked) - 1]
        headers = [(b"content-type", kind), (b"content-length", b"%d" % sum(map(len, events)))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for number, event in enumerate(events):
            await send({"type": "http.response.body", "body": event, "more_body": True})
            if number == 4 and len(self.asked) == 1:  # a model thinks for as long as it likes
                await asyncio.wait_for(self.has_begun.wait(), 5)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def take(self, message: Any) -> None:
        self.sent.append(message)
        if message.get("body") or (self.style == "ollama" and "status" in message):
            self.has_begun.set()

    async def run(self) -> None:
        body = request(self.style)
        marked = body.replace(b"line 100", b"[toolcarry: cleared, 9 characters; whole: t1]")
        scope = {
            "type": "http",
            "path": PATHS[self.style],
            "headers": [],
            SENT: SentRequest(body, None),
        }

        async def receive() -> Any:
            return {"type": "http.request", "body": marked, "more_body": False}

        app = Retrieval(self.model, KeptResults(History()), 3, Counter(), lambda: False)
        await app(scope, receive, self.take)

    def ask(self) -> bytes:
        asyncio.run(self.run())
        (start,) = [message for message in self.sent if message["type"] == "http.response.start"]
        assert self.sent[0] is start
        assert b"content-length" not in dict(start["headers"])
        assert not self.sent[-1]["more_body"]
        return b"".join(message.get("body", b"") for message in self.sent)


@pytest.mark.parametrize("style", PATHS)
def test_a_thinking_model_does_not_keep_its_client_waiting(style: str) -> None:
    """The head and the first bytes are there before the model has thought to its end."""
    kind = b"application/x-ndjson" if style == "ollama" else SSE
    first = lines(style, [*thinking(style, "I have to look this up first."), *asking(style)])
    second = lines(style, [*thinking(style, "Now I see."), *saying(style, "It is blue.")])
    client = Client(style, [(first, 200, kind), (second, 200, kind)])
    got = client.ask().replace(COMMENT, b"")
    assert len(client.asked) == 2
    assert OWN.encode() not in got
    assert b"It is blue." in got
    if style in ("openai", "ollama"):
        own = lines(style, thinking(style, "I have to look this up first."))
        assert got.startswith(own[0])
        assert got.count(b"look") == 1
    assert got.endswith(b"".join(second))


@pytest.mark.parametrize("style", PATHS)
@pytest.mark.parametrize(
    "second", [(429, b"application/json"), (200, b"application/json"), (500, SSE)]
)
def test_a_round_that_fails_gives_the_answer_before_it(
    style: str, second: tuple[int, bytes]
) -> None:
    kind = b"application/x-ndjson" if style == "ollama" else SSE
    first = lines(style, [*thinking(style, "I have to look this up."), *asking(style)])
    client = Client(style, [(first, 200, kind), ([b'{"error": "no"}'], *second)])
    assert client.ask().replace(COMMENT, b"") == b"".join(first)


def test_comments_come_once_a_second_and_between_events() -> None:
    sent: list[bytes] = []
    now = 0.0

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))

    async def hold() -> None:
        nonlocal now
        held = HeldAnswer("anthropic", frozenset((OWN,)), send, clock=lambda: now)
        await held.send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-type", SSE)]}
        )
        for event in lines("anthropic", thinking("anthropic", "word " * 40)):
            now += 0.125
            await held.send({"type": "http.response.body", "body": event[:9], "more_body": True})
            await held.send({"type": "http.response.body", "body": event[9:], "more_body": True})
        await held.release()

    asyncio.run(hold())
    assert sent.count(COMMENT) == 6
    assert sent[-1].startswith(b"data: ")
