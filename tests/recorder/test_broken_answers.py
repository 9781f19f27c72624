"""Answers at every length that may arrive of them: what is there is kept, and nothing is made up."""

from __future__ import annotations

import gzip
import json

import pytest

from toolcarry._input.answers import read_answer

TEXT = "One two three."
ARGUMENTS = '{"path": "/a"}'


def sse(*events: dict[str, object], end: bytes = b"") -> bytes:
    return (
        b"".join(b"event: x\ndata: " + json.dumps(each).encode() + b"\n\n" for each in events) + end
    )


ANTHROPIC = sse(
    {"type": "message_start", "message": {"role": "assistant", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}} for piece in ("One ", "two ", "three.")),
    {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "t1", "name": "F", "input": {}}},
    *({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": piece}} for piece in ('{"path', '": "/a"}')),
    {"type": "message_stop"},
)  # fmt: skip
CHAT = sse(
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
    *({"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in ("One ", "two ", "three.")),
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "t1", "type": "function", "function": {"name": "F", "arguments": ""}}]}}]},
    *({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}}]} for piece in ('{"path', '": "/a"}')),
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    end=b"data: [DONE]\n\n",
)  # fmt: skip
OLLAMA = b"".join(
    json.dumps({"message": {"role": "assistant", "content": piece}, "done": piece == "three."}).encode() + b"\n"
    for piece in ("One ", "two ", "three.")
)  # fmt: skip
GEMINI = sse(
    *({"candidates": [{"content": {"role": "model", "parts": [{"text": piece}]}}]} for piece in ("One ", "two ", "three.")),
    {"candidates": [{"content": {"parts": [{"functionCall": {"name": "F", "args": {}}}]}, "finishReason": "STOP"}]},
)  # fmt: skip
STREAMS = {"anthropic": ANTHROPIC, "chat": CHAT, "ollama": OLLAMA, "gemini": GEMINI}


def text_of(message: dict[str, object]) -> str:
    content = message.get("content") or message.get("parts") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)  # type: ignore[union-attr]


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_every_beginning_of_a_stream(stream: bytes) -> None:
    longest = 0
    for end in range(len(stream)):
        found = read_answer(stream[:end])
        said = text_of(found.messages[0]) if found is not None and found.messages else ""
        assert TEXT.startswith(said)
        assert len(said) >= longest
        longest = len(said)
        if found is not None and found.is_complete:
            assert end > len(stream) - 40
    whole = read_answer(stream)
    assert whole is not None
    assert whole.is_complete
    assert text_of(whole.messages[0]) == TEXT
    assert read_answer(gzip.compress(stream)) == whole
    assert read_answer(stream.replace(b"\n", b"\r\n")) == whole


def test_calls_of_a_whole_stream() -> None:
    claude, gpt = read_answer(ANTHROPIC), read_answer(CHAT)
    assert claude is not None
    assert gpt is not None
    assert claude.messages[0]["content"][1]["input"] == json.loads(ARGUMENTS)
    assert gpt.messages[0]["tool_calls"][0]["function"] == {"name": "F", "arguments": ARGUMENTS}


def test_arguments_that_were_broken_off_stay_as_text() -> None:
    found = read_answer(ANTHROPIC[: ANTHROPIC.index(b'\\": \\"/a')])
    assert found is not None
    assert found.messages[0]["content"][1]["input"] == {} or "INVALID_JSON" in str(found.messages)


@pytest.mark.parametrize(
    "body",
    [b"", b"\x8b\x02\x80brotli", b"[1, 2", b"{}", b"null", b'{"choices": [1]}', b"data: 7\n\n", b'data: {"type": "message_start"', b'data: {"choices": 1}\n\n'],
)  # fmt: skip
def test_what_is_no_answer_says_nothing(body: bytes) -> None:
    found = read_answer(body)
    assert found is None or found.messages == []


def test_of_several_choices_none_is_taken() -> None:
    choice = {"message": {"role": "assistant", "content": "a"}}
    found = read_answer(json.dumps({"choices": [choice, choice]}).encode())
    assert found is not None
    assert found.messages == []
