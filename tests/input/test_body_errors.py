"""Bytes without a conversation: both backends refuse the same ones, with the same message and offset."""

import itertools
import json
from types import ModuleType

import pytest
from support.builders.bodies import MARK, STRUCTURAL, check_same
from support.builders.wire import bash, join, turn, use
from support.rows import for_each

from toolcarry import CarryPolicy, InputError

Both = tuple[ModuleType, ModuleType]

BODY = json.dumps(
    {"model": "m", "messages": join(bash("ls", "a\n\u00e9"), turn("f", {"a": [1.5]}))}
)


def call_with(given: bytes) -> bytes:
    """A call whose input is written as given."""
    return (
        b'{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":%b}]}'
        % given
    )


def chat_with(arguments: str) -> bytes:
    """A call of another shape, whose arguments are JSON in a text."""
    call = {"id": "c1", "function": {"name": "f", "arguments": arguments}}
    return json.dumps([{"role": "assistant", "tool_calls": [call]}]).encode()


def deep(levels: int, inside: bytes = b"1") -> bytes:
    return b"[" * levels + inside + b"]" * levels


LINE = call_with(b'{"a":1}')
OTHER = call_with(b'{"b":2}')
VALUES: dict[str, bytes] = {
    "a number": b"1",
    "a text": b'"x"',
    "nothing": b"null",
    "a list": b"[1, 2]",
    "minus zero": b"-0",
    "minus zero within": b'{"a": -0, "b": -0.0, "c": 0e0, "d": -0e-0}',
    "64 bits": b'{"a": 9223372036854775807, "b": -9223372036854775808, "c": 18446744073709551615}',
    "beyond 64 bits": b'{"a": 18446744073709551616, "b": -9223372036854775809, "c": 1' + b"0" * 40 + b"}",
    "300 digits": b'{"a": ' + b"7" * 300 + b"}",
    "400 digits": b'{"a": ' + b"7" * 400 + b"}",
    "4300 digits": b'{"a": -' + b"7" * 4_300 + b"}",
    "4301 digits": b'{"a": -' + b"7" * 4_301 + b"}",
    "5000 digits": b'{"a": ' + b"7" * 5_000 + b"}",
    "5000 digits of a float": b'{"a": ' + b"7" * 5_000 + b'.5, "b": 0.' + b"3" * 5_000 + b"}",
    "5000 digits of an exponent": b'{"a": 1e' + b"0" * 5_000 + b"1}",
    "beyond all floats": b'{"a": 1e999, "b": -1E+999, "c": 1e-999}',
    "floats": b'{"a": 1.0, "b": 1e2, "c": 0.1e-6, "d": 123456789012345680000.0, "e": 5e-324}',
    "not a number": b'{"a": NaN}',
    "no end": b'{"a": [Infinity]}',
    "no end below": b'{"a": -Infinity}',
    "words of no number in texts": b'{"NaN": "Infinity \\" NaN", "b": -Infinity}',
    "a lone surrogate": b'{"a\\ud800": "\\udc00", "b": "\\ud83d\\ude00 \\ude00\\ud83d"}',
    "a surrogate and an escape": b'{"a": "\\ud83d\\n", "b": "\\ud83d\\u0041", "c": "\\ud83d\\ud83d\\ude00"}',
    "no UTF-8 in what is read": b'{"a": "\xff"}',
    "no UTF-8 in a key": b'{"\xc3": 1}',
    "a surrogate in UTF-8": b'{"a": "\xed\xa0\x80"}',
    "too long a form in UTF-8": b'{"a": "\xc0\x80"}',
    "beyond Unicode": b'{"a": "\xf4\x90\x80\x80"}',
    "a cut character": b'{"a": "\xe2\x82"}',
    "an unknown escape": b'{"a": "\\x41"}',
    "a cut escape": b'{"a": "\\u12"}',
    "an escape of other digits": b'{"a": "\\u\xef\xbc\x91234"}',
    "a control": b'{"a": "\x01"}',
    "a newline in a text": b'{"a": "x\ny"}',
    "keys that are written twice": b'{"a": 1, "\\u0061": 2, "b": 3, "a": 4, "": 5, "": 6}',
    "wide keys that are written twice": '{"\u00e9": 1, "\\u00e9": 2, "\U0001f600": 3, "\\ud83d\\ude00": 4}'.encode(),
    "deep in what does not count": b'{"a": ' + deep(200) + b', "a": 1}',
    "deeper than anyone reads": b'{"a": ' + deep(10_000) + b"}",
    "deep and not closed": b'{"a": ' + b"[" * 10_000,
}  # fmt: skip
VALUES |= {f"{levels} levels": deep(levels) for levels in (122, 123, 124, 125, 128, 129)}


@for_each("given", VALUES.values(), ids=VALUES)
def test_a_value_in_every_place(both: Both, given: bytes) -> None:
    """In a call's input, where it is read; in another member, where it is not; and in lines."""
    message = call_with(given)
    aside = b'{"role":"user","content":"hi","aside":%b}' % given
    for body in (
        b"[%b]" % message,
        b'{"messages":[%b,%b]}' % (OTHER, message),
        b'{"tools":%b,"messages":[%b]}' % (given, LINE),
        b'{"messages":[%b],"tools":%b}' % (LINE, given),
        b"[%b,%b]" % (aside, LINE),
        b"\n".join([LINE, message, aside, OTHER]),
        b"\n".join([message, b'{"messages":[%b]}' % message]),
        message,
        given,
        b"[" + given + b"]",
        MARK + b"[" + message + b"]",
    ):
        check_same(both, body)


@for_each("given", VALUES.values(), ids=VALUES)
def test_a_value_in_the_text_of_arguments(both: Both, given: bytes) -> None:
    check_same(both, chat_with(given.decode("utf-8", "replace")))
    check_same(both, chat_with(given.decode("utf-8", "surrogateescape")))
    check_same(both, chat_with(f" \n{given.decode('utf-8', 'replace')}\t"))


@for_each("levels", [*range(120, 132), 10_000])
@for_each("around", ["[%b]", '{"messages":[%b]}', "%b"])
def test_nesting(both: Both, levels: int, around: str) -> None:
    """Each form stands at another depth already."""
    check_same(both, around.encode() % call_with(b'{"a":%b}' % deep(levels)))
    check_same(both, deep(levels))
    check_same(both, chat_with(deep(levels).decode()))


BODIES: dict[str, bytes] = {
    "nothing": b"",
    "space": b" \n\t ",
    "a mark alone": MARK,
    "two marks": MARK + MARK + b"[]",
    "a mark behind a space": b" " + MARK + b"[]",
    "a number": b"7",
    "a text": b'"messages"',
    "null": b"null",
    "an empty array": b"[]",
    "an empty object": b"{}",
    "messages that are an object": b'{"messages": {"role": "user"}}',
    "messages that are null": b'{"messages": null}',
    "messages that are a text": b'{"messages": "x"}',
    "messages twice, the last none": b'{"messages": [], "messages": 7}',
    "messages twice, the first none": b'{"messages": 7, "m\\u0065ssages": [%b]}' % LINE,
    "messages twice": b'{"messages": [%b, %b], "messages": [%b]}' % (LINE, LINE, OTHER),
    "a number among messages": b"[%b, 7]" % LINE,
    "many kinds among messages": b'[null, %b, 7, 1.5, "x", [], true]' % LINE,
    "null as a message": b"[null]",
    "trailing garbage": b"[%b] x" % LINE,
    "a second document": b"[%b] [%b]" % (LINE, LINE),
    "a comma too many": b"[%b,]" % LINE,
    "messages within messages": b'[{"messages": [%b]}]' % LINE,
    "UTF-16": "[1]".encode("utf-16"),
    "empty objects in lines": b"{}\n{}\n",
    "empty objects in an array": b"[{}, {}]",
    "arrays in lines": b"[%b]\n[%b]" % (LINE, LINE),
    "a request in the last line": b"bad\n{}\n" + b'{"messages": [%b]}' % LINE,
    "a request behind bad lines": b"bad\n\n7\n" + b'{"messages": [%b]}\nworse' % LINE,
    "a request that is no list": b'%b\n{"messages": 7}' % LINE,
    "returns": b"%b\r%b\r" % (LINE, LINE),
    "returns and newlines": b"%b\r\n\r\n%b\r\n" % (LINE, OTHER),
    "a mark before a line": b"%b\n%b%b" % (LINE, MARK, OTHER),
    "a space and a mark before a line": b"%b\n %b%b" % (LINE, MARK, OTHER),
    "a mark in a line of its own": b"%b\n%b\n%b" % (LINE, MARK, OTHER),
    "a tab of no JSON before a line": b"%b\n\x0b%b" % (LINE, OTHER),
    "Markdown with a line": b"# Notes\n\nA record:\n%b\nand more.\n" % LINE,
    "more words than lines": b"so\nsay\n%b\nall\n" % LINE,
    "as many words as lines": b"so\n%b\nsay\n" % LINE,
    "a line and more words": b"%b\nso\nsay\nall\n" % LINE,
    "a mark and a line before words": b"\n%b%b\nso\nsay\nall\n" % (MARK, LINE),
    "a blank mark before words": b"%b\nso\nsay\n%b\n" % (MARK, LINE),
    "a form feed behind a line": b"%b\n%b\x0c" % (LINE, OTHER),
    "a form feed behind a request": b'{"messages": [%b]}\x0c' % LINE,
    "a form feed behind a message": b"%b\x0c" % LINE,
    "other space of Unicode": b"%b\n\xc2\xa0%b\n\xc2\x85\n" % (LINE, OTHER),
    "a line of space that is no JSON": b"%b\n\x0c\x0b\n%b" % (LINE, OTHER),
    "a NUL": b"%b\n\x00\n%b\x00" % (LINE, OTHER),
    "pretty and cut": json.dumps([{"a": 1}, {"b": 2}], indent=1).encode()[:-3],
    "pretty by a tab and cut": b'{"a": [\n\t1,\n2',
    "a bracket and lines": b"[\n%b\n%b" % (LINE, OTHER),
    "a comma and lines": b"[%b,\n%b" % (LINE, OTHER),
    "a comma and a space": b"[%b,\n %b" % (LINE, OTHER),
}


@for_each("body", BODIES.values(), ids=BODIES)
def test_a_body(both: Both, body: bytes) -> None:
    check_same(both, body)
    check_same(both, b"\n" + body)
    check_same(both, MARK + body)
    check_same(both, body + b"\n")


def test_a_body_that_is_cut_anywhere(both: Both, backend: ModuleType) -> None:
    body = BODY.encode()
    for end in range(len(body)):
        check_same(both, body[:end])
        with pytest.raises(InputError) as caught:
            backend.carry(body[:end], "", CarryPolicy())
        assert caught.value.position is not None


def test_a_session_that_is_cut_anywhere(both: Both) -> None:
    lines = b"\n".join([LINE, b"", b'{"uuid": "u1", "message": %b}' % OTHER, b"bad", LINE])
    for end in range(len(lines)):
        check_same(both, lines[:end])


@pytest.mark.slow
def test_a_byte_that_is_changed_anywhere(both: Both) -> None:
    """Each byte of a body in its turn gives way to a few others."""
    others = itertools.cycle(STRUCTURAL)
    body = bytearray(BODY.encode())
    for place, byte in enumerate(body.copy()):
        for other in itertools.islice(others, 4):
            body[place] = other
            check_same(both, bytes(body))
        body[place] = byte


def test_the_call_helper_writes_valid_json() -> None:
    assert json.loads(LINE)["content"] == [{**use("t1", "f"), "input": {"a": 1}}]
