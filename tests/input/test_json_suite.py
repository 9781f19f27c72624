"""Valid and invalid JSON, case by case, in the categories of the known test suites.

``grammar.jsonl`` holds what the standard settles, ``decided.jsonl`` what it leaves open and what is done here, with the
reason. A case gives its document as ``text``, as ``hex``, or as ``parts`` that are each repeated. It is read as a whole
body and as a value in the input of a tool call, or as one of them alone (``in``).
"""

import json
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson
import pytest
from support.builders.bodies import check_same, outcome
from support.rows import for_each

from toolcarry import InputError
from toolcarry._input.json import loads_any_depth
from toolcarry._input.json_parts import LARGE
from toolcarry._input.json_slowly import parse_integer

Both = tuple[ModuleType, ModuleType]
Case = dict[str, Any]

FOLDER = Path(__file__).parents[1] / "cases" / "json"
RECORD = b'{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{"value":%b}}]}'
PLACES = {"body": b"%b", "input": b'{"messages":[' + RECORD + b"]}"}
NO_JSON = ("not JSON at byte", "not UTF-8 at byte", "nested deeper than 128 at byte")


def cases(name: str) -> list[Case]:
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def document(case: Case) -> bytes:
    if "hex" in case:
        return bytes.fromhex(case["hex"])
    text = "".join(part * times for part, times in case.get("parts", ())) or case["text"]
    return text.encode()


def placed(expect: str) -> list[Any]:
    """Every case that is expected to be so, in every place that it is for."""
    all_cases = product(cases("grammar") + cases("decided"), PLACES)
    return [
        pytest.param(place, document(case), id=f"{case['name']}, as {place}")
        for case, place in all_cases
        if case["expect"] == expect and case.get("in", place) == place
    ]


def read_by_python(data: bytes) -> Any:
    """The value that Python's own decoder gives, with integers as they are read here."""
    return json.loads(data.decode("utf-8-sig"), parse_int=parse_integer)


@for_each(("place", "given"), placed("accept"))
def test_accepted(both: Both, place: str, given: bytes) -> None:
    body = PLACES[place] % given
    check_same(both, body)
    for backend in both:
        if place == "input":
            (block,) = backend.extract_tool_blocks(body)
            assert repr(block.tool_use["input"]["value"]) == repr(read_by_python(given))
        else:  # JSON, though it may be no conversation
            found = outcome(backend.extract_tool_blocks, body)
            assert isinstance(found, str) or not found[1].startswith(NO_JSON)


@for_each(("place", "given"), placed("refuse"))
def test_refused(both: Both, place: str, given: bytes) -> None:
    """It is an error as a whole body; as a line between others, it is skipped."""
    body = PLACES[place] % given
    check_same(both, body)
    for backend in both:
        kind, message, position = outcome(backend.extract_tool_blocks, body)
        assert kind is InputError
        assert message.startswith(NO_JSON)
        assert 0 <= position <= len(body)
    record = RECORD % b"1"
    check_same(both, b"\n".join([record, body, record]))


def test_the_cases_are_many_and_of_different_names() -> None:
    grammar, decided = cases("grammar"), cases("decided")
    names = [case["name"] for case in grammar + decided]
    assert len(set(names)) == len(names) > 250
    assert all(case["why"] for case in decided)


def values_of(data: bytes) -> Any:
    """The value of a document, written so that types of numbers count; ``None`` if it is refused, or too deep."""
    try:
        return repr(loads_any_depth(data))
    except (InputError, RecursionError):
        return None


PADDING = LARGE
LARGE_PLACES = {
    "the document": (b"", b" " * PADDING),
    "after blanks": (b" " * PADDING, b""),
    "a member": (b'{"a":"' + b"x" * PADDING + b'","b":', b"}"),
    "an item": (b'["' + b"x" * PADDING + b'",', b"]"),
    "an item of a member": (b'{"a":["' + b"x" * PADDING + b'",', b"]}"),
    "next to a large member": (b'{"b":', b',"a":["' + b"x" * PADDING + b'"]}'),
    "hidden by a large member": (b'{"a":', b',"a":["' + b"x" * PADDING + b'"]}'),
}


@pytest.mark.slow  # hundreds of documents of a megabyte
@pytest.mark.parametrize("place", LARGE_PLACES)
def test_a_large_document_has_the_values_of_a_small_one(place: str) -> None:
    """Large documents are decoded in parts."""
    before, after = LARGE_PLACES[place]
    short = [
        part.replace(b" " * PADDING, b" ").replace(b"x" * PADDING, b"x") for part in (before, after)
    ]
    for case in cases("grammar") + cases("decided"):
        given = document(case)
        if case.get("in") != "input" and not given.startswith(b"\xef\xbb\xbf"):
            expected = values_of(short[0] + given + short[1])
            found = values_of(before + given + after)
            if expected is not None and found is not None:
                found = found.replace("x" * PADDING, "x")
            assert found == expected, case["name"]


def test_the_text_of_a_large_array_may_stand_in_a_string_too() -> None:
    array = b"[" + b"1" * 40 + b"," + b" " * PADDING + b"2]"
    for body in (b'{"a":"%b","b":%b}', b'{"b":%b,"a":"%b"}', b'{"b":%b,"b":%b}'):
        given = body % (array, array)
        assert loads_any_depth(given) == orjson.loads(given)


def test_keys_of_a_large_document_are_checked_as_in_a_small_one() -> None:
    for key in (b'"a\nb"', b'"a\\nb"', b'"\xff"', b'"\\ud800"', b'"\\u0000"', b"a", b'"\xc3\xa9"'):
        for other in (b'"c"', key):
            body = b'{%b:1,%b:["%%b"]}' % (other, key)
            expected = values_of(body % b"x")
            found = values_of(body % (b"x" * PADDING))
            assert (found and found.replace("x" * PADDING, "x")) == expected, key
