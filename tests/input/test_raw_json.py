"""Bodies that are written again: what stays is copied as it is spelled."""

import json

import pytest
from support.rows import for_each

from toolcarry._input.raw_json import write_array, write_object, written_items, written_members
from toolcarry.errors import InputError
from toolcarry.integrations.tools import with_tools

SPELLINGS = [
    "123456789012345678901234567890", "-9223372036854775809", "1e400", "-1E-400", "1.10", "0.1e1", "1e+2",
    '"\\u00e9\\/"', '"\\ud800"', '{"b" : 1.0, "a": [1e400 ,2]}', "[ 1.50,{} ]", "null", "true",
]  # fmt: skip


@for_each("value", SPELLINGS)
@for_each("start", ["", "\ufeff", " \n"])
def test_members_and_items(value: str, start: str) -> None:
    body = f'{start}{{"x": {value} , "y\\u0061":[ {value},"\\ud801" ,0]}}'.encode()
    members = written_members(body)
    assert list(members) == ["x", "ya"]
    assert members["x"] == value.encode()
    assert written_items(members["ya"]) == [value.encode(), b'"\\ud801"', b"0"]
    again = write_object({**members, "z": write_array(written_items(members["ya"]))})
    assert again.count(value.encode()) == 3
    json.loads(again)


@for_each("body", [b"", b"[]", b'{"a":1', b'{"a":[1,}', b'{"a":NaN}', b"\xff"])
def test_bodies_that_are_not_objects(body: bytes) -> None:
    with pytest.raises(InputError):
        written_members(body)


def test_the_last_of_repeated_members_counts() -> None:
    assert written_members(b'{"a": 1.0, "b": 2, "a": 3.0}') == {"a": b"3.0", "b": b"2"}


@for_each("value", SPELLINGS)
def test_a_request_with_its_tools_given_back(value: str) -> None:
    body = f'{{"metadata": {{"n": {value}}}, "messages": [{value}]}}'.encode()
    tools = f'[{{"name": "f", "input_schema": {{"maximum": {value}}}}}]'.encode()
    new = with_tools(body, tools)
    assert new.count(value.encode()) == 3
    assert new.endswith(b'"tools":' + tools + b"}")


def test_marks_beyond_the_fourth_are_taken_from_the_tools() -> None:
    mark = b'"cache_control": {"type": "ephemeral"}'
    body = b'{"messages": [{%b}, {%b}, {%b}]}' % (mark, mark, mark)
    tools = b'[{"name": "f", "n": 1e400, %b}, {"name": "g", %b}]' % (mark, mark)
    new = with_tools(body, tools)
    assert json.loads(new.replace(b"1e400", b"1"))["tools"] == [
        {"name": "f", "n": 1},
        {"name": "g"},
    ]
    assert b"1e400" in new
