"""Converting: the same calls and results in another provider's shape, and back."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.sources import HAVE_ERRORS, SOURCES
from support.builders.sources_providers import (
    CODE,
    DIALOGUE,
    FAILURE,
    LIST,
    PASSED,
    READ,
    TEST,
    asked,
    function_call,
    output,
    responded,
    said,
    text,
    tool_result,
    tool_use,
)
from support.builders.wire import assistant, user
from support.oracles.conversions import (
    MARK_ERRORS,
    TARGETS,
    Held,
    check_shape,
    conversation_in,
    held,
    kinds,
    without_ids,
    without_names,
)
from support.strategies.conversations import transcripts
from support.transcripts import FILES

from toolcarry import Converted, convert, dialogue
from toolcarry._input.document import decode_messages
from toolcarry.api.convert import Target
from toolcarry.api.convert.read import plain_messages

BLOCKS = [
    Held("", "read", READ, (CODE.strip(),), False),
    Held("", "bash", LIST, (FAILURE,), False),
    Held("", "bash", TEST, (PASSED,), False),
]
HARD = {
    path.stem: case
    for path in sorted((Path(__file__).parents[1] / "cases" / "hard").glob("*.json"))
    if "lines" not in (case := json.loads(path.read_text("utf-8")))  # not one document
    and "$repeat" not in json.dumps(case)
}

targets = st.sampled_from(TARGETS)
each_target = pytest.mark.parametrize("to", TARGETS)
each_source = pytest.mark.parametrize("source", SOURCES)


def check_same(messages: Any, to: Target) -> Converted:
    """The conversation holds the same in another shape, by the rules of that shape, and in all shapes again."""
    wanted = held(plain_messages(messages))
    converted = convert(messages, to=to)
    check_shape(converted)
    if "changed_name" in kinds(converted):
        new = [block.name for block in held(converted.messages)]
        wanted = [block._replace(name=name) for block, name in zip(wanted, new, strict=True)]
    assert without_ids(held(converted.messages)) == without_ids(wanted)
    if to != "ollama" and "changed_id" not in kinds(converted):
        ids = [
            (block.call_id, now.call_id)
            for block, now in zip(wanted, held(converted.messages), strict=True)
        ]
        assert all(was in ("", now) for was, now in ids)
    return converted


@each_source
@each_target
def test_every_shape_in_every_other(source: str, to: Target) -> None:
    converted = check_same(SOURCES[source], to)
    assert without_ids(held(converted.messages)) == BLOCKS
    turns = [line for line in dialogue(converted.messages).split("\n") if line in DIALOGUE]
    assert tuple(turns) == DIALOGUE
    assert ("is_error" in kinds(converted)) is (source in HAVE_ERRORS and to not in MARK_ERRORS)


@each_target
@pytest.mark.parametrize("back", TARGETS)
@pytest.mark.parametrize("source", TARGETS)
def test_there_and_back(source: Target, to: Target, back: Target) -> None:
    there = convert(SOURCES[source], to=to)
    again = check_same(there.messages, back)
    if "ollama" not in (source, to, back) and source != "gemini":
        assert [block.call_id for block in held(again.messages)] == ["t1", "t2", "t3"]


@each_source
@pytest.mark.parametrize("to", MARK_ERRORS)
def test_failed_results_keep_their_content(source: str, to: Target) -> None:
    converted = convert(SOURCES[source], to=to)
    failed = [block.is_error for block in held(converted.messages)]
    assert failed == [False, source in HAVE_ERRORS, False]


@each_target
def test_a_conversion_converted_is_itself(to: Target) -> None:
    for messages in SOURCES.values():
        converted = convert(messages, to=to)
        assert convert(converted.messages, to=to).messages == converted.messages


@each_source
@each_target
def test_bytes_and_objects(source: str, to: Target) -> None:
    messages = SOURCES[source]
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    converted = convert(messages, to=to)
    for body in (lines, json.dumps(messages).encode(), json.dumps({"messages": messages}).encode()):
        assert convert(body, to=to) == converted


@each_target
def test_parallel_calls_stay_together(to: Target) -> None:
    messages = convert(SOURCES["claude code"], to=to).messages
    if to == "responses":
        kept = [item.get("type", item.get("role")) for item in messages[2:6]]
        assert kept == ["function_call"] * 2 + ["function_call_output"] * 2
        return
    calls = json.dumps(messages[1])
    assert sum(map(calls.count, ('"tool_use"', '"arguments"', '"args"', '"toolUse"'))) == 2


@given(transcripts, targets, targets)
def test_nothing_is_lost(messages: list[Any], to: Target, back: Target) -> None:
    before = copy.deepcopy(messages)
    converted = check_same(messages, to)
    assert repr(messages) == repr(before)
    again = check_same(converted.messages, back)
    wanted = without_ids(held(plain_messages(messages)))
    found = without_ids(held(again.messages))
    if "changed_name" in kinds(converted) | kinds(again):
        wanted, found = without_names(wanted), without_names(found)
    assert found == wanted


@given(transcripts, targets)
def test_orphans_are_reported(messages: list[Any], to: Target) -> None:
    told = [loss.kind for loss in convert(messages, to=to).losses]
    blocks = held(plain_messages(messages))
    assert told.count("orphan_call") == sum(not block.texts for block in blocks)
    assert told.count("orphan_result") == sum(block.name == "a result" for block in blocks)
    assert told.count("second_result") == sum(max(len(block.texts) - 1, 0) for block in blocks)


@pytest.mark.parametrize("case", HARD.values(), ids=HARD)
@each_target
def test_hard_cases(case: dict[str, Any], to: Target) -> None:
    messages, _ = decode_messages(json.dumps(case.get("input") or case["body"]).encode())
    check_same(messages, to)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name[:40])
def test_real_conversations(path: Path, real_transcripts: Path) -> None:
    messages = conversation_in(path)
    for to in TARGETS:
        converted = check_same(messages, to)
        check_same(converted.messages, "anthropic")
        json.dumps(converted.to_dict())


@pytest.mark.slow
def test_a_long_conversation_takes_linear_time() -> None:
    """Repeated ids and late results must not make a conversion scan the whole conversation again and again."""
    items = [
        item
        for _ in range(5_000)
        for item in (function_call("call_0", "f", {}), output("call_0", "x"))
    ]
    late = [function_call("c", "f", {}) for _ in range(5_000)]
    for messages in (items, late, [said("user", [text("x")] * 20_000)]):
        assert len(convert(messages, to="anthropic").messages) >= 1


def nameless(family: str) -> list[Any]:
    """A call without a name, in the shape of each target."""
    function = {"name": "", "arguments": "{}"}
    calls: dict[str, list[Any]] = {
        "anthropic": [
            assistant({"type": "tool_use", "id": "t", "name": "", "input": {}}),
            user({"type": "tool_result", "tool_use_id": "t", "content": "x"}),
        ],
        "openai": [
            {
                "role": "assistant",
                "tool_calls": [{"id": "t", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "t", "content": "x"},
        ],
        "ollama": [
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": function | {"arguments": {}}}],
            },
            {"role": "tool", "tool_name": "", "content": "x"},
        ],
        "responses": [
            {"type": "function_call", "call_id": "t"} | function,
            {"type": "function_call_output", "call_id": "t", "output": "x"},
        ],
        "gemini": [
            {"role": "model", "parts": [asked("", {})]},
            {"role": "user", "parts": [responded("", {"output": "x"})]},
        ],
        "bedrock": [assistant(tool_use("t", "", {})), user(tool_result("t", "x"))],
    }
    return calls[family]


@pytest.mark.parametrize("target", TARGETS)
def test_a_call_without_a_name_gets_one_in_its_own_shape_too(target: Target) -> None:
    written = json.dumps(check_same(nameless(target), target).messages)
    assert '"name": "unknown"' in written
    assert '"name": ""' not in written
