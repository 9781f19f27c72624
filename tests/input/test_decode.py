"""Bytes to objects: request bodies, arrays and JSONL, what is skipped, and where an error is."""

import json
import math
from typing import Any

import pytest
from support.rows import for_each

from toolcarry._input.document import decode_messages, open_body
from toolcarry._input.json import compact_json, loads_arguments
from toolcarry.errors import InputError

HI = {"role": "user", "content": "hi"}
LINE = json.dumps(HI).encode()


@for_each(
    "body",
    [
        b'{"model": "m", "messages": [' + LINE + b"]}",
        b"[" + LINE + b"]",
        LINE,
        LINE + b"\n",
        b"\n\n" + LINE + b"\r\n",
        b"\xef\xbb\xbf" + LINE,
        b"\xef\xbb\xbf[" + LINE + b"]",
    ],
)
def test_one_message(body: bytes) -> None:
    messages, skipped_lines = decode_messages(body)
    assert [message for message in messages if message] == [HI]
    assert skipped_lines == ()


def test_lines() -> None:
    assert decode_messages(LINE + b"\n\n" + LINE + b"\n") == ([HI, {}, HI], ())


@for_each(
    "bad", [b"{", b'{"a": 1', b"not json", b"7", b"null", b"[]", b'"x"', b"\xff", b"{}}", b"NaN"]
)
def test_a_bad_line_is_skipped_and_counted(bad: bytes) -> None:
    assert decode_messages(LINE + b"\n" + bad + b"\n" + LINE + b"\n") == ([HI, {}, HI], (2,))


def test_the_last_line_may_be_cut() -> None:
    assert decode_messages(LINE + b"\n" + LINE[:20]) == ([HI, {}], (2,))


def test_the_first_line_may_be_bad() -> None:
    assert decode_messages(b'{"cut": "x\n' + LINE + b"\n" + LINE) == ([{}, HI, HI], (1,))


def test_a_line_nested_too_deep_is_skipped() -> None:
    deep = b'{"a":' * 200 + b"1" + b"}" * 200
    assert decode_messages(LINE + b"\n" + deep + b"\n" + LINE) == ([HI, {}, HI], (2,))


def test_a_body_of_one_request_in_lines() -> None:
    request = b'{"messages": [' + LINE + b"]}"
    assert decode_messages(request + b"\nbad\n") == ([HI], (2,))


@for_each(
    ("body", "message", "position"),
    [
        (b"", "not JSON at byte 0", 0),
        (b"   ", "not JSON at byte 3", 3),
        (b"{", "not JSON at byte 1", 1),
        (b'{"messages": [}', "not JSON at byte 14", 14),
        (b'{"a": tru}', "not JSON at byte 6", 6),
        (b'["a', "not JSON at byte 1: unterminated string", 1),
        (b'["a\n"]', "not JSON at byte 3: invalid control character", 3),
        (b'[{"a": NaN}]', "not JSON at byte 7: NaN is not a number", 7),
        (b'["Infinity", -Infinity]', "not JSON at byte 13: -Infinity is not a number", 13),
        (b'{"a": "\xff"}', "not UTF-8 at byte 7", 7),
        (b"\xef\xbb\xbf{", "not JSON at byte 4", 4),
        (b'{"\xc3\xa9": x}', "not JSON at byte 7", 7),
        (b"7", "neither an object nor an array, but int", 0),
        (b'"x"', "neither an object nor an array, but str", 0),
        (b"null", "neither an object nor an array, but NoneType", 0),
        (b"[" * 129 + b"]" * 129, "nested deeper than 128 at byte 128", 128),
        (b'{"messages": [{"content": "[[[", "x": ' + b"[" * 130 + b"]" * 130 + b"}]}", "nested deeper than 128 at byte 163", 163),
        (b"\n".join([b'{"messages": []}'] * 2), "line 2 is a request of its own: many conversations", 1),
        (b"\n".join([LINE, b"", b'{"messages": []}']), "line 3 is a request of its own: many conversations", 2),
        (b"bad\nworse\n", "not JSON at byte 0", 0),
    ],
)  # fmt: skip
def test_errors_and_where_they_are(body: bytes, message: str, position: int) -> None:
    with pytest.raises(InputError) as caught:
        decode_messages(body)
    assert str(caught.value).startswith(message)
    assert not str(caught.value).endswith(" at")
    assert caught.value.position == position


def test_nesting_of_128_is_allowed() -> None:
    decode_messages(b"[" * 128 + b"]" * 128)
    text = b'[{"content": "' + b"[" * 1_000 + b'"}]'
    assert decode_messages(text)[0] == [{"content": "[" * 1_000}]


@for_each(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
@for_each("levels", [129, 1_000, 100_000])
def test_deep_nesting_is_an_error_and_no_crash(opening: str, closing: str, levels: int) -> None:
    body = '{"messages": [' + opening * levels + "1" + closing * levels + "]}"
    with pytest.raises(InputError, match=r"nested deeper than 128 at byte \d+"):
        decode_messages(body.encode())
    with pytest.raises(InputError):
        decode_messages(body[: len(body) // 2].encode())


def test_lone_surrogates_are_read() -> None:
    assert decode_messages(b'[{"content": "a\\ud800b"}]')[0] == [{"content": "a\ud800b"}]
    assert decode_messages(b'[{"content": "\\ud83d\\ude00"}]')[0] == [{"content": "\U0001f600"}]


@pytest.mark.parametrize("number", [(1 << 63) - 1, -(1 << 63), (1 << 64) - 1])
def test_integers_of_64_bits_keep_their_digits(number: int) -> None:
    assert decode_messages(f'[{{"content": {number}}}]'.encode())[0] == [{"content": number}]


@pytest.mark.parametrize("number", [1 << 64, 10**30 + 1, 10**200 + 1])
def test_longer_integers_are_read(number: int) -> None:
    ((message,), _) = decode_messages(f'[{{"content": {number}}}]'.encode())
    assert message["content"] in (number, float(number))


def test_an_integer_past_all_measure_is_an_error() -> None:
    body = b'[{"content": ' + b"9" * 10_000 + b"}]"
    try:
        found, _ = decode_messages(body)
    except InputError as error:
        message = str(error)
    else:
        message = repr(found)
    assert "digits" in message or "inf" not in message


def test_the_last_of_two_keys_counts() -> None:
    assert decode_messages(b'[{"a": 1, "a": 2}]')[0] == [{"a": 2}]
    assert decode_messages(b'[{"a": 1, "a": "\\ud800"}]')[0] == [{"a": "\ud800"}]


@for_each(
    ("raw", "given"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        (None, {}),
        ("[1]", {"arguments": [1]}),
        ("bad", {"arguments": "bad"}),
        ('{"a": "\\ud800"}', {"a": "\ud800"}),
        ("\ud800", {"arguments": "\ud800"}),
        (7, {"arguments": 7}),
        ('{"a": 1}{', {"arguments": '{"a": 1}{'}),
    ],
)
def test_arguments(raw: Any, given: dict[str, Any]) -> None:
    assert loads_arguments(raw) == given


@for_each(
    ("value", "text"),
    [
        ({"b": 1, "a": [None, True, 1.5]}, '{"b":1,"a":[null,true,1.5]}'),
        ("\ud800", '"\ud800"'),
        (1 << 70, str(1 << 70)),
        ({1: 2}, '{"1":2}'),
        ("\u00e9\u2028", '"\u00e9\u2028"'),
        ([1e-7, 9.6e-5, math.inf], "[1e-7,0.000096,null]"),
        (["\ud800", 1e-7, 9.6e-5, math.inf], '["\ud800",1e-7,0.000096,null]'),
        ({"a": (1 << 70, "\x01\n/", -0.0)}, f'{{"a":[{1 << 70},"\\u0001\\n/",-0.0]}}'),
        (
            {None: 1, True: 2, 1.5: 3, (): 4, "\ud800": {}},
            '{"null":1,"true":2,"1.5":3,"\ud800":{}}',
        ),
        (
            {
                "a": {
                    1,
                }
            },
            '{"a":"{1}"}',
        ),
    ],
)
def test_compact_json(value: Any, text: str) -> None:
    assert compact_json(value) == text


def test_messages_that_are_no_array() -> None:
    with pytest.raises(InputError, match="messages is not an array, but dict"):
        decode_messages(b'{"messages": {"a": 1}}')


def test_a_cut_first_line_is_a_bad_line() -> None:
    assert decode_messages(b'{"role":"user",\n' + LINE) == ([{}, HI], (1,))


# Lines are decoded once they are asked for


def test_a_line_is_decoded_when_it_is_come_by() -> None:
    opened = open_body(b"worse\n" + LINE + b"\nbad\n" + LINE)
    assert len(opened.messages) == 4
    assert opened.skipped_lines == ()
    assert (opened.messages[3], opened.messages[2]) == (HI, {})
    assert opened.skipped_lines == (3,)
    assert opened.messages[1:] == [HI, {}, HI]
    assert opened.skipped_lines == (3,)
    assert list(opened.messages) == [{}, HI, {}, HI]
    assert opened.skipped_lines == (1, 3)


def test_a_request_among_records_is_an_error_where_it_is_come_by() -> None:
    opened = open_body(LINE + b'\n{"messages": []}\n' + LINE)
    assert opened.messages[2] == HI
    with pytest.raises(InputError, match="line 2 is a request of its own") as caught:
        opened.messages[1]
    assert caught.value.position == 1


def test_messages_of_a_record_that_are_no_array_make_no_request_of_it() -> None:
    record = b'{"role": "user", "content": "hi", "messages": 7}'
    messages, _ = decode_messages(LINE + b"\n" + record)
    assert messages == [HI, {**HI, "messages": 7}]


def test_an_index_after_the_last_line_is_not_one() -> None:
    opened = open_body(LINE + b"\n" + LINE)
    assert opened.messages[-1] == HI
    with pytest.raises(IndexError):
        opened.messages[2]


@pytest.mark.parametrize("words", [3, 200])
def test_text_with_a_record_in_it_is_no_session(words: int) -> None:
    text = b"some words\n" * (words - 1) + b'{"role": "user", "content": "hi"}\n' + b"end\n"
    with pytest.raises(InputError, match=r"^not JSON at byte 0"):
        decode_messages(text)


def test_long_words_before_records_are_bad_lines() -> None:
    body = b"x" * 100_000 + b'\n{"role": "user", "content": "hi"}\n' * 2
    messages, skipped_lines = decode_messages(body)
    assert len(messages) == 4
    assert skipped_lines[0] == 1


def test_records_after_other_lines_are_read() -> None:
    record = b'{"role": "user", "content": "hi"}\n'
    for body in (b"npm warn old\n" * 50 + record * 100, (b"# so\n" * 3 + record) * 5):
        messages, _ = decode_messages(body)
        assert sum(message != {} for message in messages) in (5, 100)
