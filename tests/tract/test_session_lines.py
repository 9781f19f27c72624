"""The lines of session files as parts: both backends agree on every line."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each
from support.strategies import conversations as strategies
from support.strategies import formats as strategies_shapes
from support.strategies.texts import json_values

from toolcarry._input.json import dump_canonical
from toolcarry.model.session_lines import LinePart

Both = tuple[ModuleType, ModuleType]

JSON = json_values | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=12,
)
MESSAGES = st.one_of(*strategies_shapes.FAMILIES.values())


def lines_of(messages: list[Any]) -> list[bytes]:
    """Return messages as two writers write them; one escapes all non-ASCII characters."""
    written = [json.dumps(message, ensure_ascii=False) for message in messages]
    utf8 = [text.encode("utf-8", "surrogatepass") + b"\n" for text in written]
    return [*utf8, *[json.dumps(message).encode() for message in messages]]


def check(both: Both, lines: list[bytes]) -> None:
    python, rust = [outcome(kernels, lines) for kernels in both]
    assert python == rust


def outcome(kernels: ModuleType, lines: list[bytes]) -> Any:
    try:
        return kernels.read_lines(lines)
    except ValueError as error:
        return type(error), str(error)


@given(strategies.transcripts | strategies.sessions())
def test_generated_conversations(both: Both, messages: list[Any]) -> None:
    check(both, lines_of(messages))


@given(st.lists(MESSAGES, max_size=3))
def test_messages_of_every_shape(both: Both, messages: list[Any]) -> None:
    check(both, lines_of(messages))
    check(both, lines_of([{"uuid": "u", "message": message} for message in messages]))


@given(JSON, st.booleans())
def test_arguments_of_any_kind(both: Both, arguments: Any, is_text: bool) -> None:
    given = json.dumps(arguments) if is_text else arguments
    call = {"type": "tool_use", "id": "t1", "name": "Run", "input": given}
    chat = {"id": "t1", "function": {"name": "Run", "arguments": given}}
    for message in (
        {"role": "assistant", "content": [{"type": "text", "text": "I run it."}, call, call]},
        {"role": "assistant", "content": None, "tool_calls": [chat]},
    ):
        for line in lines_of([message]):
            check(both, [line])


@given(st.binary(max_size=30), JSON)
def test_any_line(both: Both, data: bytes, value: Any) -> None:
    check(both, [data, data + b"\n", *lines_of([value])])


CALL = b'{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Run","input":%b}]}'
RESULT = b'{"role":"tool","tool_call_id":"a","content":"%b"}'


@for_each(
    "line",
    [
        *(b"", b"\n", b" \t\r\n\x0b\x0c", b"\xa0", b"\xef\xbb\xbf", b"null", b"[]", b"{}", b"{", b'"a"'),
        *(b'\xef\xbb\xbf{"role":"user","content":"a"}', b'{"role":"user","content":"a"} ', b'{"role":"user"}x'),
        *(b'{"role":"user","content":"\xff"}', b'{"role":"user","content":"\\ud83d"}'),
        *(b'{"role":"user","role":"tool","content":"a"}', b'{"role":null,"uuid":1,"content":"a"}'),
        *(b'{"message":{}}', b'{"message":{},"role":"user","content":"a"}', b'{"uuid":"u","role":"user","content":"a"}'),
        *(b'{"message":[],"content":"a"}', b'{"message":{"role":"system","content":"a"}}', b'{"role":"developer","content":"a"}'),
        *[CALL % given for given in (
            b"-0", b"0", b"1.0", b"1e999", b"1E5", b"-1", b"9223372036854775807", b"9223372036854775808", b"1" * 400,
            b'{"b":1,"a":2,"b":3}', b'{"\\u00e9":1,"\xc3\xa9":2,"z":3}', b'{"\\ud800":1,"\\uffff":2,"\\ud83d\\ude00":3}',
            b'{"a":-0}', b'{"a":[1.5,0.1]}', b'"[1, 2"', b'"{\\"a\\": 1}"', b'""', b'" "', b"[" * 140 + b"]" * 140, b'{"a":NaN}',
            b'"\\u007f\\u0000\\/\\b\\f\\n\\r\\t\\\\"',
        )],
        *[RESULT % text for text in (
            b"", b"... [truncated]", b"x" * 1_990 + b"[truncated] " + b"y" * 4_000, b"[toolcarry: cleared; whole: a]",
            b"x" * 3_000 + b"[truncated]" + b"y" * 3_000, b"a <response clipped>", b"\xe6\xbc\xa2" * 2_000 + b"... [truncated]",
        )],
    ],
)  # fmt: skip
def test_odd_lines(both: Both, line: bytes) -> None:
    check(both, [line])
    check(both, [line, CALL % b"{}"])


def test_a_call_is_written_as_metadata_has_it(backend: ModuleType) -> None:
    arguments = {"b": [1, None, True], "a": {"é": "漢\n"}, "A": ""}
    (parts,) = backend.read_lines([CALL % orjson.dumps(arguments)])
    call = {"id": "a", "name": "Run", "arguments": arguments}
    written = dump_canonical({"tool_calls": [call]})
    assert parts == [LinePart(1, "assistant", 0, written[14:-1], (("a", "Run"),))]


def test_many_lines_at_once(both: Both) -> None:
    """So that the interpreter is released, and lines that only the fallback reads stand between others."""
    lines = [CALL % (b'{"a":%d.5}' % number if number % 3 else b"{}") for number in range(2_000)]
    check(both, lines)


def test_real_sessions(both: Both, real_transcripts: Path) -> None:
    for path in sorted(real_transcripts.glob("**/*.jsonl")):
        check(both, path.read_bytes().splitlines(keepends=True))
