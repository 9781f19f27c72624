"""The end of an answer, by which its recording is closed: never a member of an argument that looks like it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcarry.integrations.response import Replay, WatchedResponse

ARGUMENTS: list[dict[str, Any]] = [
    {"done": True},
    {"done": True, "title": "x"},
    {"list": [{"a": {}}], "done": True},
    {"title": "x\n", "note": '"done": true', "done": True},
    {"a": {"b": {"done": True}}},
]


def ends(kind: str, chunks: Sequence[bytes], length: int | None = None) -> list[int]:
    """Return after how many chunks the answer counted as ended."""
    found: list[int] = []
    count = 0

    async def send(_: Any) -> None: ...

    async def receive() -> Any: ...

    async def done() -> None:
        found.append(count)

    async def pass_on() -> None:
        nonlocal count
        watched = WatchedResponse(send, Replay([], receive), done)
        headers = [(b"Content-Type", kind.encode())]
        if length is not None:
            headers.append((b"content-length", str(length).encode()))
        await watched.send({"type": "http.response.start", "status": 200, "headers": headers})
        for chunk in chunks:
            count += 1
            await watched.send({"type": "http.response.body", "body": chunk, "more_body": True})
        count += 1
        await watched.send({"type": "http.response.body", "body": b""})

    asyncio.run(pass_on())
    return found


def cut(raw: bytes, places: Sequence[int]) -> list[bytes]:
    edges = [0, *sorted(place % len(raw) for place in places), len(raw)]
    return [raw[start:end] for start, end in pairwise(edges)]


@given(
    arguments=st.sampled_from(ARGUMENTS),
    places=st.lists(st.integers(0, 10_000), max_size=5),
    indent=st.sampled_from([None, 0, 2]),
    has_length=st.booleans(),
)
def test_an_argument_does_not_end_an_answer_in_one_piece(
    arguments: Any, places: list[int], indent: int | None, has_length: bool
) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "todo", "input": arguments}
    content = [use, {"type": "text", "text": "The rest."}]
    answer = {"type": "message", "role": "assistant", "content": content}
    raw = json.dumps(answer, indent=indent).encode()
    chunks = cut(raw, places)
    found = ends("application/json", chunks, len(raw) if has_length else None)
    assert len(found) == 1
    assert sum(map(len, chunks[: found[0]])) == len(raw)


@given(
    arguments=st.lists(st.sampled_from(ARGUMENTS), min_size=1, max_size=3),
    places=st.lists(st.integers(0, 10_000), max_size=9),
    order=st.booleans(),
)
def test_an_argument_does_not_end_a_stream_of_lines(
    arguments: list[Any], places: list[int], order: bool
) -> None:
    def line(message: Any, is_done: bool) -> bytes:
        members: list[tuple[str, Any]] = [("message", message), ("done", is_done)]
        return json.dumps(dict(members if order else members[::-1])).encode() + b"\n"

    called = [
        {"role": "assistant", "tool_calls": [{"function": {"name": "todo", "arguments": each}}]}
        for each in arguments
    ]
    raw = b"".join(line(message, is_done=False) for message in called)
    raw += line({"role": "assistant", "content": ""}, is_done=True)
    chunks = cut(raw, places)
    (found,) = ends("application/x-ndjson; charset=utf-8", chunks)
    assert sum(map(len, chunks[:found])) == len(raw)
    assert found <= len(chunks)


@pytest.mark.parametrize("end", ["event: message_stop\n", "data: [DONE]\n\n"])
def test_the_last_event_of_a_stream_ends_it_before_the_connection(end: str) -> None:
    assert ends("text/event-stream", [b"data: {}\n\n", end.encode(), b"\n", b"\n"]) == [2]


def test_a_long_line_in_small_chunks_takes_linear_time() -> None:
    text = json.dumps({"message": {"content": "x" * 1_000_000}, "done": True}).encode() + b"\n"
    chunks = [text[start : start + 20] for start in range(0, len(text), 20)]
    assert ends("application/x-ndjson", chunks) == [len(chunks)]
