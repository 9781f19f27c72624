"""Previews of texts and of the results in a stream: for display alone, and told from the results."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcarry import ConfigError, InputError, limit_events, preview
from toolcarry.tract import Tract
from toolcarry.tract.truncation import has_preview, is_preview
from toolcarry.types import Preview

LONG = "line of a log\n" * 100


@given(st.text(max_size=60), st.integers(0, 60), st.sampled_from(("t1", "call#2", "a b", "]", "")))
def test_a_preview_counts_rightly(text: str, limit: int, reference: str) -> None:
    shown = preview(text, limit, reference=reference)
    assert shown.total == len(text)
    assert shown.shown <= limit or not shown.is_cut
    assert text.startswith(shown.text[: shown.shown])
    assert shown.is_cut is (shown.text != text)
    assert is_preview(shown.text) or not shown.is_cut
    assert has_preview(shown.metadata)


def test_wrong_arguments() -> None:
    with pytest.raises(InputError, match="text must be a string"):
        preview(b"x", 1, reference="t1")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="limit"):
        preview("x", -1, reference="t1")
    with pytest.raises(ConfigError, match="limit"):
        list(limit_events(iter([]), -1))


@pytest.mark.parametrize("give", [lambda it: it, lambda it: it.text, lambda it: str(it.text)])
def test_the_history_refuses_a_preview(give: Callable[[Preview], Any]) -> None:
    with Tract.open(on_truncated_write="count") as tract:
        with pytest.raises(InputError):
            tract.tool_result("t1", "Bash", give(preview(LONG, 90, reference="t1")))
        assert tract.log() == []


def anthropic(text: str) -> list[dict[str, Any]]:
    block = {
        "type": "web_fetch_tool_result",
        "tool_use_id": "t1",
        "is_error": False,
        "content": text,
    }
    return [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": LONG}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": block},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_stop"},
    ]


def responses(text: str) -> list[dict[str, Any]]:
    item = {"type": "function_call_output", "call_id": "t1", "status": "completed", "output": text}
    said = {"type": "message", "content": [{"type": "output_text", "text": LONG}]}
    return [
        {"type": "response.output_text.delta", "item_id": "m1", "delta": LONG},
        {"type": "response.function_call_arguments.delta", "item_id": "f1", "delta": LONG},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r1", "output": [said, item]}},
    ]


def chat(text: str) -> list[dict[str, Any]]:
    message = {"role": "tool", "tool_call_id": "t1", "content": text}
    return [
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant", "content": LONG}}]},
        {"object": "chat.completion.chunk", "choices": [{"index": 1, "delta": message, "finish_reason": "stop"}]},
        {"object": "chat.completion", "choices": [{"index": 0, "message": message}]},
        {"choices": [], "usage": {"total_tokens": 1}},
    ]  # fmt: skip


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from texts(item)


def without(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {key: without(item, name) for key, item in value.items() if key != name}
    return [without(item, name) for item in value] if isinstance(value, list) else value


STREAMS = pytest.mark.parametrize("stream", [anthropic, responses, chat])


@STREAMS
def test_a_stream_is_limited_for_display(stream: Callable[[str], list[dict[str, Any]]]) -> None:
    given, copy = stream(LONG + "x"), stream(LONG + "x")
    shown = list(limit_events(iter(given), 90))
    assert given == copy
    assert len(shown) == len(given)
    changed = [new for new, old in zip(shown, given, strict=True) if new is not old]
    assert changed
    for event in changed:
        if event.get("type") == "content_block_stop":
            assert event["metadata"]["total"] == len(LONG) + 1
            continue
        (line,) = {text for text in texts(event) if "toolcarry: preview" in text}
        assert line.endswith("characters; whole: t1]")
    kept_events = [old for new, old in zip(shown, given, strict=True) if new is old]
    assert all(LONG + "x" not in texts(event) for event in kept_events)
    kept = without(without(shown, "metadata"), "content")
    assert without(kept, "output") == without(without(given, "content"), "output")


@STREAMS
def test_a_short_stream_stays_the_same(stream: Callable[[str], list[dict[str, Any]]]) -> None:
    given = stream("3 passed")
    assert all(new is old for new, old in zip(limit_events(iter(given), 90), given, strict=True))


@STREAMS
def test_an_asynchronous_stream(stream: Callable[[str], list[dict[str, Any]]]) -> None:
    async def events() -> AsyncIterator[dict[str, Any]]:
        for event in stream(LONG + "x"):
            yield event

    async def collect() -> list[Any]:
        return [event async for event in limit_events(events(), 90)]

    assert asyncio.run(collect()) == list(limit_events(iter(stream(LONG + "x")), 90))


def parts_of(texts: list[str]) -> dict[str, list[dict[str, Any]]]:
    """A result that comes in parts, in each format."""
    block = {"type": "tool_result", "tool_use_id": "t1", "content": ""}
    return {
        "anthropic": [
            {"type": "content_block_start", "index": 0, "content_block": block},
            *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}} for text in texts),
            {"type": "content_block_stop", "index": 0},
        ],
        "responses": [
            *({"type": "response.mcp_call_output.delta", "item_id": "t1", "delta": text} for text in texts),
            {"type": "response.mcp_call_output.done", "item_id": "t1"},
        ],
        "chat": [
            {"choices": [{"index": 0, "delta": {"role": "tool", "tool_call_id": "t1", "content": ""}}]},
            *({"choices": [{"index": 0, "delta": {"content": text}}]} for text in texts),
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        ],
    }  # fmt: skip


def part_text(event: dict[str, Any]) -> str:
    if "choices" in event:
        return str(event["choices"][0]["delta"].get("content", ""))
    delta = event.get("delta", "")
    return delta["text"] if isinstance(delta, dict) else delta


@pytest.mark.parametrize("wire", ["anthropic", "responses", "chat"])
@given(texts=st.lists(st.text(max_size=20), max_size=8), limit=st.integers(0, 60))
def test_a_result_in_parts(wire: str, texts: list[str], limit: int) -> None:
    events = parts_of(texts)[wire]
    whole = "".join(texts)
    shown = list(limit_events(iter(events), limit))
    assert len(shown) == len(events)
    text = "".join(map(part_text, shown))
    if len(whole) <= limit:
        assert all(new is old for new, old in zip(shown, events, strict=True))
        return
    assert is_preview(text)
    end = shown[-1]["choices"][0]["delta"] if wire == "chat" else shown[-1]
    told = end["metadata"]
    assert (told["preview"], told["total"], told["reference"]) == (True, len(whole), "t1")
    assert whole.startswith(text[: told["shown"]])
    assert told["shown"] <= limit


def test_memory_is_bounded() -> None:
    """The limiter asks for one event at a time, and hands it on before it asks for the next."""
    asked: list[int] = []

    def events() -> Iterator[dict[str, Any]]:
        for number in range(50):
            asked.append(number)
            yield parts_of([LONG])["responses"][0]

    for place, _ in enumerate(limit_events(events(), 90)):
        assert len(asked) == place + 1
