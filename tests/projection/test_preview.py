"""Previews of texts and of the results in a stream: for display alone, and told from the results."""

import asyncio
import json
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


def whole_events(text: str) -> dict[str, dict[str, Any]]:
    """Messages, parts and events that hold a result as a whole, by their producers."""
    block = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": text}],
    }
    user = {"role": "user", "content": [{"type": "text", "text": "See:"}, block]}
    ai_sdk = {"type": "tool-result", "toolCallId": "t1", "toolName": "Bash"}
    invocation = {
        "state": "result",
        "toolCallId": "t1",
        "toolName": "Bash",
        "result": {"log": text},
    }
    ui = {"type": "tool-Bash", "toolCallId": "t1", "state": "output-available", "output": text}
    gemini = {"functionResponse": {"id": "t1", "name": "Bash", "response": {"log": text}}}
    bedrock = {"toolResult": {"toolUseId": "t1", "content": [{"json": {"rows": [text]}}]}}
    langchain = {"type": "tool", "tool_call_id": "t1", "content": text}
    return {
        "anthropic": user,
        "anthropic, messages": {"messages": [{"role": "user", "content": "Go."}, user]},
        "claude code": {"type": "user", "uuid": "u", "message": user, "toolUseResult": {"stdout": text}},
        "claude code, file": {"type": "user", "tool_use_result": {"type": "text", "file": {"content": text}}, "message": user},
        "chat": {"role": "tool", "tool_call_id": "t1", "content": [{"type": "text", "text": text}]},
        "ollama": {"role": "tool", "tool_name": "t1", "content": text},
        "responses": {"type": "function_call_output", "call_id": "t1", "output": text},
        "ai sdk 4": {**ai_sdk, "result": {"log": text}},
        "ai sdk 5": {"role": "tool", "content": [{**ai_sdk, "output": {"type": "text", "value": text}}]},
        "ai sdk 5, json": {**ai_sdk, "output": {"type": "json", "value": {"rows": [{"log": text}]}}},
        "ai sdk 5, content": {**ai_sdk, "output": {"type": "content", "value": [{"type": "text", "text": text}]}},
        "ai sdk, stream": {"type": "tool-output-available", "toolCallId": "t1", "output": text},
        "ai sdk, failure": {"type": "tool-output-error", "toolCallId": "t1", "errorText": text},
        "ui message": {"role": "assistant", "parts": [{"type": "step-start"}, ui]},
        "ui message, dynamic": {"role": "assistant", "parts": [{**ui, "type": "dynamic-tool", "toolName": "Bash"}]},
        "ui message 4": {"role": "assistant", "toolInvocations": [invocation]},
        "ui message 4, part": {"role": "assistant", "parts": [{"type": "tool-invocation", "toolInvocation": invocation}]},
        "ag-ui": {"type": "TOOL_CALL_RESULT", "toolCallId": "t1", "content": text, "role": "tool"},
        "ag-ui, snapshot": {"type": "MESSAGES_SNAPSHOT", "messages": [{"role": "tool", "toolCallId": "t1", "content": text}]},
        "gemini": {"role": "user", "parts": [gemini]},
        "gemini, answer": {"candidates": [{"content": {"parts": [{"codeExecutionResult": {"id": "t1", "output": text}}]}}]},
        "bedrock": {"role": "user", "content": [bedrock]},
        "langchain": langchain,
        "langchain, constructor": {"type": "constructor", "kwargs": langchain},
        "mcp": {"jsonrpc": "2.0", "id": "t1", "result": {"content": [{"type": "text", "text": text}], "structuredContent": {"log": text}}},
    }  # fmt: skip


@pytest.mark.parametrize("producer", whole_events(""))
def test_a_whole_result_is_limited_whoever_made_it(
    producer: str, caplog: pytest.LogCaptureFixture
) -> None:
    given, copy = whole_events(LONG + "x")[producer], whole_events(LONG + "x")[producer]
    (shown,) = limit_events([given], 90)
    assert given == copy
    assert max(map(len, texts(shown))) < len(LONG)
    assert sum(map(len, texts(shown))) < 600
    (line,) = {text.rpartition("\n")[2] for text in texts(shown) if "toolcarry: preview" in text}
    assert line.endswith("characters; whole: t1]")
    assert '"preview": true' in json.dumps(shown)
    short = whole_events("3 passed")[producer]
    assert next(limit_events([short], 90)) is short
    (again,) = limit_events([shown], 600)
    assert again is shown
    assert not caplog.text


def test_media_and_arguments_stay(caplog: pytest.LogCaptureFixture) -> None:
    image = {"image": {"format": "png", "source": {"bytes": "iVBO" * 900}}}
    events = [
        {"type": "tool-input-available", "toolCallId": "t1", "input": {"content": LONG}},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "input": {"text": LONG}}],
        },
        {"role": "assistant", "content": LONG},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [image]}}]},
        {"type": "tool-Bash", "toolCallId": "t1", "state": "input-available", "input": {"a": LONG}},
    ]
    assert all(new is old for new, old in zip(limit_events(events, 90), events, strict=True))
    assert not caplog.text


def test_what_may_be_a_result_of_another_structure_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    event = {"type": "observation", "tool_call_id": "t1", "observed": {"lines": [LONG]}}
    assert all(new is event for new in limit_events([event, event], 90))
    assert len(caplog.records) == 1
    assert "'observation'" in caplog.text
    assert LONG[:20] not in caplog.text


@pytest.mark.parametrize(
    "result",
    [
        {"tools": [{"name": "read", "description": LONG, "inputSchema": {"type": "object"}}]},
        {"protocolVersion": "2025-06-18", "instructions": LONG},
        {"contents": [{"uri": "file:///a", "text": LONG}]},
        {"content": LONG},
        LONG,
    ],
)
def test_other_answers_of_mcp_stay(result: Any) -> None:
    event = {"jsonrpc": "2.0", "id": 1, "result": result}
    assert next(limit_events([event], 90)) is event


def test_short_strings_of_data_stay() -> None:
    data = {"log": LONG, "status": "failed", "code": "E1", "rows": [{"id": "r1", "text": LONG}]}
    part = {"type": "text", "text": LONG}
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"content": [part], "structuredContent": data}}
    item = {"type": "tool-output-available", "toolCallId": "t1", "output": data}
    (mcp, output) = limit_events([answer, item], 90)
    for shown in (mcp["result"]["structuredContent"], output["output"]):
        assert (shown["status"], shown["code"], shown["rows"][0]["id"]) == ("failed", "E1", "r1")
        assert len(shown["log"]) < 200
    assert "toolcarry: preview" in mcp["result"]["content"][-1]["text"]
    assert output["metadata"]["shown"] <= 90
    assert "toolcarry: preview" in json.dumps(output)


def test_many_short_strings_are_limited() -> None:
    event = {"type": "tool-output-available", "toolCallId": "t1", "output": {"rows": ["abc"] * 900}}
    (shown,) = limit_events([event], 90)
    assert sum(map(len, texts(shown["output"]))) < 200


@pytest.mark.parametrize(
    "copy", [LONG, {"stdout": LONG, "stderr": "E1"}, [{"type": "text", "text": LONG}]]
)
def test_the_second_copy_of_claude_code_says_that_it_is_a_preview(copy: Any) -> None:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "3 passed"}
    message = {"role": "user", "content": [block]}
    event = {"type": "user", "uuid": "u", "message": message, "toolUseResult": copy, "metadata": {"a": 1}}  # fmt: skip
    (shown,) = limit_events([event], 90)
    assert shown["message"] is message
    (line,) = {text for text in texts(shown["toolUseResult"]) if "toolcarry: preview" in text}
    assert line.endswith("characters; whole: t1]")
    assert shown["metadata"]["a"] == 1
    assert has_preview(shown)
    assert isinstance(copy, str | list) or shown["toolUseResult"]["stderr"] == "E1"
