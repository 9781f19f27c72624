"""Problems of other systems' users: each ``cases/hard/*.json`` describes a situation and the expected result.

The format is described in ``cases/README.md``, for other projects, too. Objects and bytes are
tested on both backends; where a case and the library disagree, the case was thought about.
"""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.goldens.inputs import expand
from support.rows import for_each

from toolcarry import CarryPolicy, ToolBlock
from toolcarry.types import Report

Case = dict[str, Any]

PATHS = sorted((Path(__file__).parents[1] / "cases").glob("hard/*.json"))

PAIRING = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
BESIDE_TOOLS = (21, 22, 23)
DEDUPLICATION = (24, 25, 26, 27, 28, 29)
TEXT_SAFETY = (30, 31, 32, 33, 34)
SIZE = (35, 36, 37, 38, 39, 40)
COVERED = {*PAIRING, *BESIDE_TOOLS, *DEDUPLICATION, *TEXT_SAFETY, *SIZE}

INPUTS = {"input", "lines", "body"}
FIELDS = {"about", "case", "thread", "policy", "expected", *INPUTS}
EXPECTED_FIELDS = {"blocks", "report", "context", "skipped_lines"}
BLOCK_FIELDS = {"tool_name", "call_id", "position", "tool_use", "tool_result"}
BLOCK_DEFAULTS = {"scope": "", "is_error": False, "second_results": [], "is_active": True}


def load(path: Path) -> Case:
    case: Case = expand(json.loads(path.read_text("utf-8")))
    return case


WITH_INPUT = [path for path in PATHS if "input" in load(path)]


def document_of(case: Case) -> Any:
    """Return the document that the paths of a case point into."""
    (given,) = case.keys() & INPUTS
    return case[given]


def bytes_of(case: Case) -> bytes:
    if "lines" in case:
        return "\n".join(map(line_of, case["lines"])).encode()
    return json.dumps(document_of(case)).encode()


def line_of(line: str | dict[str, Any]) -> str:
    """Return a line as it is written in the file: a text unchanged, an object as JSON."""
    return line if isinstance(line, str) else json.dumps(line)


def resolve(document: Any, path: str | None) -> Any:
    """Return the value at a JSON Pointer; a text on its path is decoded as JSON."""
    if path is None:
        return None
    found = document
    for name in path.split("/")[1:]:
        found = found[int(name) if isinstance(found, list) else name]
        if isinstance(found, str):
            found = json.loads(found)
    return found


def policy_of(case: Case) -> CarryPolicy:
    return CarryPolicy(**case.get("policy", {}))


def check_blocks(blocks: list[ToolBlock], case: Case) -> None:
    document = document_of(case)
    assert [described(block) for block in blocks] == [
        with_objects(expected, document) for expected in case["expected"]["blocks"]
    ]


def described(block: ToolBlock) -> dict[str, Any]:
    """A block in the words of the cases, with the wire's objects where they have paths."""
    names = ("tool_name", "call_id", "position", "scope", "is_error", "tool_use", "tool_result")
    found = {name: getattr(block, name) for name in names}
    second_results = list(block.notes.second_results)
    return found | {"second_results": second_results, "is_active": block.notes.is_active}


def with_objects(expected: dict[str, Any], document: Any) -> dict[str, Any]:
    found = BLOCK_DEFAULTS | expected
    for name in ("tool_use", "tool_result"):
        found[name] = resolve(document, found[name])
    found["second_results"] = [resolve(document, path) for path in found["second_results"]]
    return found


def check_carried(text: str, report: Report, case: Case) -> None:
    expected = case["expected"]
    assert (text.split("\n") if text else []) == expected["context"]
    counts = report.to_dict()
    assert {name: counts[name] for name in expected["report"]} == expected["report"]
    assert counts["skipped_lines"] == expected.get("skipped_lines", [])


@for_each("path", WITH_INPUT, ids=lambda path: path.stem)
def test_objects(api: ModuleType, path: Path) -> None:
    case, policy = load(path), policy_of(load(path))
    blocks = api.extract_tool_blocks(case["input"])
    check_blocks(blocks, case)
    carried = api.carry(case["input"], policy=policy)
    check_carried(carried.text, carried.report, case)
    kept = api.deduplicate_tools(blocks, rules=policy.rules)
    assert api.format_tool_context(kept, policy=policy) == carried.text
    assert case == load(path)  # nothing was written into the input


@for_each("path", WITH_INPUT, ids=lambda path: path.stem)
def test_blocks_hold_the_objects_of_the_input(api: ModuleType, path: Path) -> None:
    """Equal objects may occur twice in a conversation; a block has the one that its path names."""
    case = load(path)
    blocks = api.extract_tool_blocks(case["input"])
    for block, expected in zip(blocks, case["expected"]["blocks"], strict=True):
        assert block.tool_use is resolve(case["input"], expected["tool_use"])
        assert block.tool_result is resolve(case["input"], expected["tool_result"])


@for_each("path", PATHS, ids=lambda path: path.stem)
def test_bytes(api: ModuleType, path: Path) -> None:
    case = load(path)
    body = bytes_of(case)
    check_blocks(api.extract_tool_blocks(body), case)
    carried = api.carry(body, policy=policy_of(case))
    check_carried(carried.text, carried.report, case)


@for_each("path", PATHS, ids=lambda path: path.stem)
def test_a_case_is_well_formed(path: Path) -> None:
    case = load(path)
    expected = case["expected"]
    assert case.keys() <= FIELDS
    assert len(case.keys() & INPUTS) == 1
    assert {"about", "case", "thread"} <= case.keys()
    assert expected.keys() <= EXPECTED_FIELDS
    assert {"blocks", "report", "context"} <= expected.keys()
    assert expected["report"].keys() <= Report().to_dict().keys()
    for block in expected["blocks"]:
        assert block.keys() >= BLOCK_FIELDS
        assert block.keys() <= BLOCK_FIELDS | BLOCK_DEFAULTS.keys()


@for_each("path", PATHS, ids=lambda path: path.stem)
def test_a_path_is_named_once_and_leads_to_an_object(path: Path) -> None:
    case = load(path)
    named = []
    for block in case["expected"]["blocks"]:
        places = [block["tool_use"], block["tool_result"], *block.get("second_results", [])]
        named += [place for place in places if place is not None]
    assert all(isinstance(resolve(document_of(case), place), dict) for place in named)
    assert len(set(named)) == len(named)


@for_each("path", PATHS, ids=lambda path: path.stem)
def test_a_name_begins_with_the_number_of_its_case(path: Path) -> None:
    number, _, words = path.stem.partition("-")
    assert int(number) == load(path)["case"]
    assert len(number) == 2
    assert words


def test_every_case_is_covered() -> None:
    assert {load(path)["case"] for path in PATHS} == COVERED


@pytest.mark.parametrize("name", ["blocks", "report", "context", "skipped_lines"])
def test_a_wrong_expectation_is_noticed(api: ModuleType, name: str) -> None:
    (path,) = [path for path in PATHS if path.stem == "40-malformed-lines"]
    case = load(path)
    wrong = {"blocks": [], "report": {"walked": 9}, "context": ["[CONTEXT]"], "skipped_lines": [1]}
    case["expected"][name] = wrong[name]
    body = bytes_of(case)
    carried = api.carry(body)
    blocks = api.extract_tool_blocks(body)
    with pytest.raises(AssertionError):
        check_both(blocks, carried.text, carried.report, case)


def check_both(blocks: list[ToolBlock], text: str, report: Report, case: Case) -> None:
    check_blocks(blocks, case)
    check_carried(text, report, case)
