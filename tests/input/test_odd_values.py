"""A value of the wrong type anywhere in a message: each job reads on, or raises an ``InputError`` with the position."""

import copy
import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest
from support.builders.families import FAMILIES
from support.examples import IS_LONG
from support.rows import for_each

from toolcarry import (
    InputError,
    SummarizeTransformer,
    carry,
    convert,
    count_tokens,
    dialogue,
    extract_tool_blocks,
    inspect,
    project,
    recount,
)
from toolcarry.types.shapes import TARGETS

RICH: dict[str, list[Any]] = {
    "anthropic": [
        {"role": "user", "content": [
            {"type": "text", "text": "Look", "cache_control": {"type": "ephemeral"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
            {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "a"}]}},
            {"type": "search_result", "source": "x", "title": "y", "content": [{"type": "text", "text": "z"}]},
        ]},
        {"role": "assistant", "content": [
            {"type": "compaction", "content": "so far", "encrypted_content": "e"},
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result"}]},
            {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}, "caller": {"type": "direct"}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": False, "content": {
            "content": [{"type": "text", "text": "x"}], "structuredContent": {"result": "y"}, "_meta": {"a": 1},
        }}]},
    ],
    "anthropic_parts": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [
            {"type": "text", "text": "x"}, {"type": "image", "source": {"type": "url", "url": "https://a"}},
        ]}]},
    ],
    "bedrock": [
        {"role": "user", "content": [
            {"guardContent": {"text": {"text": "a", "qualifiers": ["query"]}}}, {"cachePoint": {"type": "default"}},
            {"searchResult": {"source": "s", "title": "t", "content": [{"text": "c"}]}},
            {"document": {"format": "txt", "name": "n", "source": {"text": "d"}}},
        ]},
        {"role": "assistant", "content": [
            {"citationsContent": {"content": [{"text": "b"}], "citations": [{"title": "t"}]}},
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
            {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}},
        ]},
        {"role": "user", "content": [
            {"toolResult": {"toolUseId": "t1", "content": [{"json": {"a": 1}}], "status": "success"}}
        ]},
    ],
    "chat": [
        {"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            {"type": "file", "file": {"filename": "a", "file_data": "data:application/pdf;base64,aGk="}},
        ]},
        {"role": "assistant", "content": None, "refusal": "no", "reasoning_content": "hm", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1'}},
            {"id": "c2", "type": "custom", "custom": {"name": "g", "input": "x"}},
        ]},
        {"role": "tool", "tool_call_id": "c1", "name": "f", "content": "data:image/png;base64,aGk="},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "x"}]},
    ],
    "responses": [
        {"type": "message", "role": "user", "content": [{"type": "input_file", "file_id": "f1"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "e"},
        {"type": "compaction", "id": "cmp", "encrypted_content": "e"},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}", "status": "completed"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "x"}]},
        {"type": "web_search_call", "id": "w", "action": {"query": "q"}, "status": "completed"},
        {"type": "shell_call", "call_id": "c2", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "c2", "output": [
            {"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]},
    ],
    "records": [
        {"type": "user", "uuid": "a", "parentUuid": None, "message": {"role": "user", "content": "hi"}},
        {"type": "assistant", "uuid": "b", "parentUuid": "a", "isSidechain": False, "message": {
            "id": "m", "role": "assistant", "content": [{"type": "text", "text": "x"}]}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": []}},
    ],
}  # fmt: skip
RICH |= {family: make("t1") for family, make in FAMILIES.items()}

DEEP: Any = 1
for _ in range(1_000):
    DEEP = [DEEP]
ODD = ([], {}, 7, None, [[]])
JOBS = [carry, inspect, dialogue, count_tokens, recount, project, extract_tool_blocks]


def paths(value: Any) -> Iterator[tuple[Any, ...]]:
    """The places in a conversation, each as the keys that lead to it."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in members:
        yield (key,)
        if isinstance(item, (dict, list)):
            yield from ((key, *path) for path in paths(item))


def changed(messages: list[Any], path: tuple[Any, ...], value: Any) -> list[Any]:
    messages = copy.deepcopy(messages)
    holder: Any = messages
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return messages


def run(job: Any, messages: Any) -> None:
    """Run a job. It must not raise anything but an ``InputError`` that says where."""
    found = error_of(job, messages)
    assert found is None or found.position is not None or "byte" in str(found), found


def error_of(job: Any, messages: Any) -> InputError | None:
    try:
        job(messages)
    except InputError as error:
        return error
    return None


RANDOM = Random(58)


def some(all_of_them: Sequence[Any]) -> Sequence[Any]:
    """Return all in the long run, otherwise one of them."""
    return all_of_them if IS_LONG else [RANDOM.choice(all_of_them)]


def switch(messages: list[Any]) -> None:
    transformer = SummarizeTransformer()
    transformer.answered("c", "a")
    given = [*messages, {"role": "user", "content": "Go on."}]
    found = transformer.on_backend_switch(given, conversation="c", backend="b")
    summary = found.report.summary
    assert summary is None or not summary.error, summary.error


@for_each("family", RICH)
def test_convert_takes_any_value_anywhere(family: str) -> None:
    messages = RICH[family]
    for path in paths(messages):
        for value in ODD:
            odd = changed(messages, path, value)
            for target in some(TARGETS):
                run(lambda given, to=target: convert(given, to=to), odd)


@pytest.mark.usefixtures("rust")
@for_each("family", RICH)
def test_jobs_take_any_value_anywhere(family: str) -> None:
    messages = RICH[family]
    for path in paths(messages):
        for value in ([], {}, 7):
            odd = changed(messages, path, value)
            for job in JOBS:
                run(job, odd)
            run(carry, json.dumps(odd).encode())


@pytest.mark.usefixtures("rust")
@for_each("family", RICH)
def test_deep_nesting_is_an_input_error_or_passes(family: str) -> None:
    messages = RICH[family]
    for path in paths(messages):
        odd = changed(messages, path, DEEP)
        for job in some(JOBS):
            run(job, odd)
        for target in some(TARGETS):
            run(lambda given, to=target: convert(given, to=to), odd)


@for_each("family", RICH)
def test_a_switch_takes_any_value_anywhere(family: str) -> None:
    messages = RICH[family]
    for path in paths(messages):
        for value in ([], {}, 7):
            run(switch, changed(messages, path, value))
