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
    use,
)
from support.builders.wire import assistant, user
from support.examples import IS_LONG
from support.oracles.conversions import (
    MARK_ERRORS,
    TARGETS,
    Held,
    check_shape,
    conversation_in,
    held,
    kinds,
    mended,
    without_ids,
    without_names,
)
from support.strategies.conversations import transcripts
from support.transcripts import FILES

from toolcarry import Destination, _backend, check, convert, dialogue
from toolcarry._input.document import decode_messages
from toolcarry.api.convert import OTHER_DESTINATIONS
from toolcarry.api.convert.opening import plain_messages
from toolcarry.types import Converted
from toolcarry.types.shapes import Target, record_named

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
    """The conversation holds the same in another shape: all of it without a repair, and what can be sent with one."""
    wanted = held(plain_messages(messages))
    unrepaired = convert(messages, to=to, repair=False)
    assert without_ids(held(unrepaired.messages)) == without_ids(wanted)
    if to != "ollama" and "changed_id" not in kinds(unrepaired):
        ids = zip(wanted, held(unrepaired.messages), strict=True)
        assert all(block.call_id in ("", now.call_id) for block, now in ids)
    converted = convert(messages, to=to)
    assert converted.losses == unrepaired.losses
    check_shape(converted)
    check_mended(converted, wanted)
    return converted


def check_mended(converted: Converted, wanted: list[Held]) -> None:
    """The repaired conversation holds what the source does, but for what its corrections say."""
    has_strays = any(block.name == "a result" or len(block.texts) > 1 for block in wanted)
    if (
        converted.not_repaired or has_strays
    ):  # a repair may find the call that a stray result answers
        return
    found, wanted = held(converted.messages), mended(wanted)
    changes = {mend.kind for mend in converted.mends}
    if "refused_name" in changes:
        wanted, found = without_names(wanted), without_names(found)
    if "mended_arguments" in changes:
        wanted = [block._replace(arguments={}) for block in wanted]
        found = [block._replace(arguments={}) for block in found]
    if changes & {"empty_failure", "empty_result"}:
        found = [block._replace(texts=texts_of(block)) for block in found]
    if "lone_surrogate" in changes:
        wanted = [Held(*whole(tuple(block))) for block in wanted]
    assert without_ids(found) == without_ids(wanted)


def whole(value: Any) -> Any:
    """Replace the lone surrogates in a value, as a repair does."""
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in value)
    if isinstance(value, dict):
        return {whole(key): whole(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(whole(each) for each in value)
    return value


def texts_of(block: Held) -> tuple[str, ...]:
    """The texts of a block, without those that stand for an empty one."""
    return tuple("" if text in STAND_INS else text for text in block.texts)


STAND_INS = ("[Tool use failed: no output]", "(no output)")


@each_source
def test_every_shape_in_every_other(source: str) -> None:
    for to in TARGETS:
        converted = check_same(SOURCES[source], to)
        assert {mend.kind for mend in converted.mends} <= {"missing_definitions"}
        assert without_ids(held(converted.messages)) == BLOCKS
        turns = [line for line in dialogue(converted.messages).split("\n") if line in DIALOGUE]
        assert tuple(turns) == DIALOGUE
        is_marked = to in MARK_ERRORS
        assert ("is_error" in kinds(converted)) is (source in HAVE_ERRORS and not is_marked)
        if is_marked:
            failed = [block.is_error for block in held(converted.messages)]
            assert failed == [False, source in HAVE_ERRORS, False]


@each_target
def test_there_and_back(to: Target) -> None:
    for source in TARGETS:
        there = convert(SOURCES[source], to=to)
        assert convert(there.messages, to=to).messages == there.messages
        again = check_same(there.messages, source)
        if "ollama" not in (source, to) and source != "gemini":
            assert [block.call_id for block in held(again.messages)] == ["t1", "t2", "t3"]


@each_source
def test_bytes_and_objects(source: str) -> None:
    messages = SOURCES[source]
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    converted = convert(messages, to="openai")
    for body in (lines, json.dumps(messages).encode(), json.dumps({"messages": messages}).encode()):
        assert convert(body, to="openai") == converted


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
    check_same(messages, to)
    assert repr(messages) == repr(before)
    there = convert(messages, to=to, repair=False)
    check_same(there.messages, back)


@given(transcripts, st.sampled_from((*TARGETS, *OTHER_DESTINATIONS)))
def test_the_destination_takes_what_is_written(messages: list[Any], to: Any) -> None:
    converted = convert(messages, to=to)
    if converted.messages and not converted.not_repaired:
        body = json.dumps(converted.to_dict()).encode()
        assert check(body, destination=record_named(to)) == ()
    assert convert(messages, to=to, repair=False).mends == ()


@pytest.mark.parametrize("case", HARD.values(), ids=HARD)
def test_hard_cases(case: dict[str, Any]) -> None:
    messages, _ = decode_messages(json.dumps(case.get("input") or case["body"]).encode())
    for to in TARGETS:
        check_same(messages, to)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name[:40])
def test_real_conversations(path: Path, real_transcripts: Path) -> None:
    messages = conversation_in(path)
    for number, to in enumerate(TARGETS, FILES.index(path)):
        if IS_LONG or number % 2 == 0:  # else half of them for each file, and one of them back
            converted = check_same(messages, to)
            json.dumps(converted.to_dict())
            if IS_LONG or number % len(TARGETS) in (0, 1):
                check_same(converted.messages, "anthropic")


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


@each_target
def test_a_call_without_a_name_gets_one_in_its_own_shape_too(to: Target) -> None:
    written = json.dumps(check_same(nameless(to), to).messages)
    assert '"name": "unknown"' in written
    assert '"name": ""' not in written


def test_a_fallback_without_a_repair_says_so() -> None:
    messages = convert(SOURCES["openai"], to="openai", repair=False).messages[:2]
    with _backend.using("python"):
        converted = convert(messages, to="openai")
    assert converted.messages == messages
    assert converted.mends == ()
    assert converted.not_repaired.startswith("repair needs the Rust extension")
    assert convert(messages, to="openai", repair=False).not_repaired == ""


@pytest.mark.rust
def test_a_request_without_a_form_in_json_is_not_repaired() -> None:
    call = use("t1", "f", {"x": object()})
    converted = convert([user(text("Go.")), assistant(call)], to="anthropic")
    assert converted.not_repaired.startswith("not JSON: ")
    assert converted.mends == ()


@pytest.mark.rust
def test_a_destination_of_the_user() -> None:
    messages = [said("user", "Go."), function_call("call_0", "f", {}), output("call_0", "x")]
    own = Destination("gateway", "openai-chat", {"id": {"at_least": 3, "at_most": 3}})
    converted = convert(messages, to=own)
    assert converted.target == "openai"
    (mend,) = converted.mends
    assert (mend.kind, len(mend.detail)) == ("renamed_id", 3)
    assert convert(messages, to="mistral").mends[0].detail.isalnum()
