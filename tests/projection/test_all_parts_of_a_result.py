"""A limit on a result counts all of its parts: text, and what stands next to it."""

import json
from types import ModuleType
from typing import Any

from support.oracles.format_checks import JsonObject
from support.rows import for_each

from toolcarry import ProjectPolicy

WORDS = "lorem ipsum dolor sit amet consectetur "
LONG = WORDS * 500
ROWS = {"rows": [{"id": number, "value": "beta"} for number in range(1000)]}
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}
TEXT_SOURCE = {"type": "text", "media_type": "text/plain", "data": LONG}

ANTHROPIC: dict[str, list[JsonObject]] = {
    "search result": [{"type": "search_result", "source": "u", "title": "t", "content": [{"type": "text", "text": LONG}]}],
    "document": [{"type": "document", "source": TEXT_SOURCE}],
    "document of parts": [{"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": LONG}]}}],
    "references": [{"type": "tool_reference", "tool_name": f"a_tool_{number}"} for number in range(800)],
    "unknown": [{"type": "future", "payload": LONG}],
}  # fmt: skip


def call(content: Any, kind: str) -> list[JsonObject]:
    """A conversation in which a call got this result."""
    if kind == "anthropic":
        return [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "x", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": content}]},
        ]  # fmt: skip
    if kind == "responses":
        return [
            {"role": "user", "content": "q"},
            {"type": "function_call", "call_id": "t1", "name": "x", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "t1", "output": content},
        ]
    if kind == "gemini":
        response = {"functionResponse": {"id": "t1", "name": "x", **content}}
        return [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"functionCall": {"id": "t1", "name": "x", "args": {}}}]},
            {"role": "user", "parts": [response]},
        ]
    return [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "x", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": content}}]},
    ]  # fmt: skip


OK = {"type": "text", "text": "ok"}
LONG_TEXT = {"type": "text", "text": LONG}
CASES: list[tuple[str, Any]] = [
    *(("anthropic", [OK, *parts]) for parts in ANTHROPIC.values()),
    *(("anthropic", [*parts, OK]) for parts in ANTHROPIC.values()),
    *(("anthropic", [LONG_TEXT, *parts]) for parts in ANTHROPIC.values()),
    *(("anthropic", parts) for parts in ANTHROPIC.values()),
    *(("anthropic", [IMAGE, *parts]) for parts in ANTHROPIC.values()),
    *(("anthropic", [OK, IMAGE, *parts]) for parts in ANTHROPIC.values()),
    ("bedrock", [{"text": "ok"}, {"json": ROWS}]),
    ("bedrock", [{"json": ROWS}, {"text": LONG}]),
    ("bedrock", [{"json": ROWS}, {"json": {"text": LONG}}]),
    ("bedrock", [{"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}, {"json": ROWS}]),
    ("responses", [{"type": "input_text", "text": "ok"}, {"type": "future", "payload": LONG}]),
    ("gemini", {"response": {"output": "ok"}, "parts": [{"text": LONG}]}),
    ("gemini", {"response": {"output": LONG}, "parts": [{"text": LONG}, {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]}),
]  # fmt: skip
EACH = for_each("kind, content", CASES)


def result_of(messages: list[JsonObject]) -> str:
    return json.dumps(messages[2])


@EACH
@for_each("limit", [{"max_result_chars": 2000}, {"max_result_tokens": 500}])
def test_the_limit_holds(rust: ModuleType, kind: str, content: Any, limit: dict[str, int]) -> None:
    messages = call(content, kind)
    projected = rust.project(messages, policy=ProjectPolicy(**limit))
    text = result_of(projected.messages)
    assert len(text) < 4_500
    assert rust.count_tokens(projected.messages) < 900 + 1_700 * ("iVBOR" in text)
    assert "whole: t1" in text
    assert ("iVBOR" in result_of(messages)) is ("iVBOR" in text), "media stay"
    again = rust.project(projected.messages, policy=ProjectPolicy(**limit))
    assert again.messages == projected.messages
    body = json.dumps({"messages" if kind != "gemini" else "contents": messages}).encode()
    (_, written) = json.loads(rust.project_body(body, policy=ProjectPolicy(**limit)).body).popitem()
    assert written == projected.messages


@EACH
def test_a_result_within_the_limit_stays_as_it_is(
    rust: ModuleType, kind: str, content: Any
) -> None:
    messages = call(content, kind)
    projected = rust.project(messages, policy=ProjectPolicy(max_result_chars=200_000))
    assert projected.messages == messages


@EACH
def test_a_repaired_one_is_accepted(rust: ModuleType, kind: str, content: Any) -> None:
    if "future" in json.dumps(content):
        return
    policy = ProjectPolicy(max_result_chars=2000, repair=True)
    projected = rust.project(call(content, kind), policy=policy)
    assert rust.project(projected.messages, policy=policy).messages == projected.messages
    assert not rust.check(projected.messages)


def test_all_results_together(rust: ModuleType) -> None:
    messages = call([{"text": "ok"}, {"json": ROWS}], "bedrock")
    projected = rust.project(messages, policy=ProjectPolicy(max_all_results_chars=3_000))
    assert len(result_of(projected.messages)) < 4_500
    assert projected.report.over_budget == 0
