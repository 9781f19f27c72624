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

import pytest
from support.builders.bodies import check_same, outcome

from toolcarry import InputError
from toolcarry._input.json import parse_integer

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


@pytest.mark.parametrize(("place", "given"), placed("accept"))
def test_accepted(both: Both, backend: ModuleType, place: str, given: bytes) -> None:
    check_same(both, PLACES[place] % given)
    if place == "input":
        (block,) = backend.extract_tool_blocks_body(PLACES[place] % given)
        assert repr(block.tool_use["input"]["value"]) == repr(read_by_python(given))
    else:  # JSON, though it may be no conversation
        found = outcome(backend.extract_tool_blocks_body, given)
        assert isinstance(found, str) or not found[1].startswith(NO_JSON)


@pytest.mark.parametrize(("place", "given"), placed("refuse"))
def test_refused(both: Both, backend: ModuleType, place: str, given: bytes) -> None:
    body = PLACES[place] % given
    check_same(both, body)
    kind, message, position = outcome(backend.extract_tool_blocks_body, body)
    assert kind is InputError
    assert message.startswith(NO_JSON)
    assert 0 <= position <= len(body)


@pytest.mark.parametrize(("place", "given"), placed("refuse"))
def test_refused_between_lines(both: Both, place: str, given: bytes) -> None:
    """A line that is refused as a whole body is skipped between other lines."""
    record = RECORD % b"1"
    check_same(both, b"\n".join([record, PLACES[place] % given, record]))


def test_the_cases_are_many_and_of_different_names() -> None:
    grammar, decided = cases("grammar"), cases("decided")
    names = [case["name"] for case in grammar + decided]
    assert len(set(names)) == len(names) > 250
    assert all(case["why"] for case in decided)
