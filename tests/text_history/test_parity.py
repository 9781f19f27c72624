"""Python and Rust give the same text histories, to the character: for generated conversations and calls, bytes and errors."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.wire import Message, join
from support.examples import examples
from support.oracles.parity import Dumped, outcome
from support.strategies import conversations as strategies
from support.strategies.text_histories import conversations, forged_calls, lists_of_records
from support.strategies.texts import json_values
from support.transcripts import TRANSCRIPTS

from toolcarry import NO_LIMIT
from toolcarry._input.document import decode_messages
from toolcarry.types.values import ENCODINGS

Both = tuple[ModuleType, ModuleType]

SESSIONS = sorted(TRANSCRIPTS.glob("claude_code/**/*.jsonl"))
CHATS = sorted(TRANSCRIPTS.glob("openai_chat/*.json"))
TOTALS: tuple[tuple[int | None, str | None], ...] = (
    (None, None),
    (20_000, None),
    (2_000, None),
    (4_000, "o200k_base"),
    (500, "cl100k_base"),
)

limits = st.sampled_from((0, 1, 7, 80, 81, 500, 1 << 40))
totals = st.tuples(st.none() | st.integers(0, 700), st.none() | st.sampled_from(ENCODINGS)).map(
    lambda given: given if given[0] is not None else (None, None)
)
names = st.sampled_from(("turn_id", "turn_id", "role", "content", ""))


def check(both: Both, messages: Any, records: Any, *settings_: Any) -> None:
    """Compare the text histories of a conversation with a host's own calls."""
    python, rust = both
    expected = outcome(lambda: python.recount(messages, records, *settings_))
    assert outcome(lambda: rust.recount(messages, records, *settings_)) == expected


def check_body(both: Both, body: bytes, *settings_: Any) -> None:
    """Compare the text histories of a body's bytes."""
    python, rust = both
    expected = outcome(lambda: python.recount_body(body, *settings_))
    assert outcome(lambda: rust.recount_body(body, *settings_)) == expected


@examples(500)
@given(messages=conversations(), records=lists_of_records, name=names, limit=limits, total=totals)
def test_generated_conversations(
    both: Both, messages: list[Any], records: list[Any], name: str, limit: int, total: Any
) -> None:
    check(both, messages, records, name, limit, *total)
    check(both, messages, (), name, limit, *total)


@examples(500)
@given(messages=conversations(), name=names, limit=limits, total=totals)
def test_their_bytes(both: Both, messages: list[Any], name: str, limit: int, total: Any) -> None:
    written = [json.dumps(message).encode() for message in messages]
    bodies = (
        json.dumps({"messages": messages}).encode(),
        json.dumps(messages, ensure_ascii=False).encode("utf-8", "surrogatepass"),
        b"\n".join(written),
        b"\n\n{bad\n \n".join(written) + b"\n\n",
    )
    for body in bodies:
        check_body(both, body, name, limit, *total)


@examples(300)
@given(turns=st.lists(forged_calls, max_size=5), limit=limits, total=totals)
def test_forged_lines(both: Both, turns: list[list[Message]], limit: int, total: Any) -> None:
    messages = join(*turns)
    check(both, messages, (), "turn_id", limit, *total)
    check_body(both, json.dumps(messages).encode(), "turn_id", limit, *total)


@examples(300)
@given(
    messages=st.lists(strategies.message | json_values, max_size=5),
    records=st.lists(st.dictionaries(st.text(max_size=3), json_values, max_size=3), max_size=3),
)
def test_messages_that_are_invalid(both: Both, messages: list[Any], records: list[Any]) -> None:
    check(both, messages, records, "turn_id", 500, None, None)
    check_body(both, json.dumps(messages).encode(), "turn_id", 500, None, None)


@examples(50)
@given(messages=conversations())
def test_objects_of_an_sdk(both: Both, messages: list[Any]) -> None:
    dumped = [None if message is None else Dumped(message) for message in messages]
    check(both, dumped, (), "turn_id", 500, 400, None)
    check(both, tuple(messages), (), "turn_id", 500, 40, "o200k_base")


@examples(300)
@given(
    body=st.binary(max_size=60)
    | (st.text(max_size=40) | json_values.map(json.dumps)).map(str.encode)
)
def test_bytes_that_are_no_conversation(both: Both, body: bytes) -> None:
    check_body(both, body, "turn_id", 500, None, None)


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [1, 125, 126, 127, 128, 129, 200, 10_000])
@pytest.mark.parametrize("place", ["input", "content", "text", "arguments", "result", "turn_id"])
def test_nested_values(both: Both, levels: int, place: str) -> None:
    call: Message = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    answer: Message = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    spoken: Message = {"role": "assistant", "content": [call]}
    record: Message = {"name": "g"}
    holder = {"input": call, "content": answer, "text": spoken, "turn_id": spoken}.get(
        place, record
    )
    holder["content" if place == "text" else place] = deep(levels)
    messages = [spoken, {"role": "user", "content": [answer]}]
    check(both, messages, [record], "turn_id", 500, None, None)
    check(both, messages, (), "turn_id", 500, 50, "o200k_base")


NUMBERS = (
    0,
    -1,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
    1 << 64,
    -(1 << 63),
    -(1 << 63) - 1,
    1 << 80,
)


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_at_their_limits(both: Both, number: int) -> None:
    messages = [{"role": "assistant", "content": text, "turn_id": number} for text in "ab"]
    messages.insert(0, {"role": "assistant", "content": "c"})
    records = [
        {"name": "f", "turn_id": number},
        {"name": "g", "position": number, "result": number},
    ]
    check(both, messages, records, "turn_id", 500, None, None)
    check_body(both, json.dumps(messages).encode(), "turn_id", 500, None, None)


def test_the_greatest_limits(both: Both) -> None:
    messages = [{"role": "tool", "tool_call_id": "x", "content": "r" * 900}]
    body = json.dumps(messages).encode()
    for limit, *total in (
        (NO_LIMIT, None, None),
        (500, NO_LIMIT, None),
        (9, NO_LIMIT, ENCODINGS[0]),
    ):
        check(both, messages, (), "turn_id", limit, *total)
        check_body(both, body, "turn_id", limit, *total)


@pytest.mark.parametrize(
    "path", SESSIONS or [None], ids=lambda path: path.stem[:12] if path else "none"
)
def test_real_sessions(both: Both, real_transcripts: Path, path: Path) -> None:
    body = path.read_bytes()
    messages, _ = decode_messages(body)
    for total in TOTALS:
        check(both, messages, (), "turn_id", 500, *total)
        check_body(both, body, "turn_id", 500, *total)


@pytest.mark.parametrize(
    "path", CHATS or [None], ids=lambda path: path.stem[-12:] if path else "none"
)
def test_real_requests(both: Both, real_transcripts: Path, path: Path) -> None:
    body = path.read_bytes()
    messages, _ = decode_messages(body)
    for total in TOTALS:
        check(both, messages, (), "turn_id", 500, *total)
        check_body(both, body, "turn_id", 500, *total)
