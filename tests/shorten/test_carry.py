"""Where ``carry`` cuts a result, it is shortened by what it is, as in ``project``."""

import json
import re
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import wire
from support.examples import examples
from support.shortening import ERROR, GAP, check_both_carry
from support.strategies.texts import many

from toolcarry import (
    CarryPolicy,
    _backend,
    carry,
    count_tokens,
    deduplicate_tools,
    extract_tool_blocks,
    format_tool_context,
)

MARKER = "... [truncated: "
PASSING = [f"test module::case_{number} ... ok" for number in range(400)]
RUN = [*PASSING[:200], "test odd ... FAILED", *PASSING[200:], "test result: FAILED. 1 failed"]


def shown(api: ModuleType, messages: list[Any], **settings: Any) -> list[str]:
    """Return the lines of the only fence of a context, from objects, from bytes and step by step alike."""
    policy = CarryPolicy(**settings)
    text = api.carry(messages, policy=policy).text
    assert api.carry(json.dumps({"messages": messages}).encode(), policy=policy).text == text
    if policy.layout == "sections":
        blocks = api.deduplicate_tools(api.extract_tool_blocks(messages))
        assert api.format_tool_context(blocks, policy=policy) == text
    _, mark, rest = text.partition("```")
    assert mark
    lines: list[str] = rest.partition("\n```")[0].split("\n")[1:]
    return lines


LIMITS: list[dict[str, Any]] = [
    {"max_result_chars": 300},
    {"max_result_tokens": 120},
    {"max_chars": 700},
    {"max_tokens": 200},
]


@pytest.mark.parametrize("limit", LIMITS)
def test_the_failure_in_a_run_is_shown(api: ModuleType, limit: dict[str, int]) -> None:
    messages = wire.bash("cargo test", "\n".join(RUN))
    lines = shown(api, messages, layout="sections", **limit)
    assert {"test odd ... FAILED", "test result: FAILED. 1 failed"} <= set(lines)
    assert "... 199 passing lines" in lines
    assert lines[-1].startswith(MARKER)
    cut = shown(api, messages, layout="sections", content="off", **limit)
    assert "test odd ... FAILED" not in cut


def test_json_stays_json(api: ModuleType) -> None:
    value = {"stdout": "word " * 2_000, "exitCode": 3}
    messages = wire.turn("query", {"q": "x"}, json.dumps(value))
    lines = shown(api, messages, layout="sections", max_result_chars=300)
    found = json.loads("\n".join(lines))
    assert found["exitCode"] == 3
    assert found["toolcarry"].startswith(MARKER)


def test_definitions_of_found_tools_stay_json(api: ModuleType) -> None:
    """They are lines of JSON, and so is what stays of them."""
    schema = {"type": "object", "properties": {"path": {"type": "string", "description": "p" * 99}}}
    tools = [
        {"type": "function", "name": f"tool_{n}", "description": "d " * 300, "parameters": schema}
        for n in range(40)
    ]
    messages = [
        {"type": "tool_search_call", "call_id": "c1", "arguments": {"query": "files"}},
        {"type": "tool_search_output", "call_id": "c1", "tools": tools},
    ]
    lines = shown(api, messages, max_result_chars=1_500)
    found = [json.loads(line) for line in lines]
    assert [each["name"] for each in found[:2]] == ["tool_0", "tool_1"]
    assert all(each["parameters"]["type"] == "object" for each in found[:2])
    assert re.fullmatch(r"\.\.\. [0-9]+ more items", found[-2])
    assert found[-1].startswith(MARKER)


def test_progress_that_fits_without_its_states_is_not_cut(api: ModuleType) -> None:
    text = "".join(f"\rFetching {share} %" for share in range(101)) + "\ndone\n"
    lines = shown(api, wire.bash("make", text), layout="sections", max_result_chars=100)
    assert lines == ["Fetching 100 %", "done"]


def test_a_file_is_cut_from_its_head(api: ModuleType) -> None:
    messages = wire.read("run.txt", "\n".join(RUN))
    lines = shown(api, messages, layout="sections", max_result_chars=300)
    assert lines[:2] == RUN[:2]
    assert "test odd ... FAILED" not in lines


def test_a_reference_with_a_quote_is_in_no_json(api: ModuleType) -> None:
    messages = wire.turn("query", {}, json.dumps({"out": "word " * 2_000}), 'a"b')
    lines = shown(api, messages, layout="sections", max_result_chars=300)
    assert '"toolcarry"' not in "\n".join(lines)


plain = st.lists(
    st.sampled_from(("alpha", "beta", "1.5s", "src/a.py:3", "done", "\u00e9\u4e2d")), min_size=1, max_size=8
).map(" ".join)  # fmt: skip
errors = st.sampled_from(
    ("FAILED tests/a.py::b", "E   ValueError: bad", "error: no such file", "not ok 3 odd", "[ERROR] it broke")
)  # fmt: skip


@given(
    before=many(plain, 60, 120),
    spoken=st.lists(errors, min_size=1, max_size=4, unique=True),
    after=many(plain, 60, 120),
    tokens=st.integers(300, 600),
)
def test_errors_are_shown_and_all_lines_are_those_of_the_text(
    api: ModuleType, before: list[str], spoken: list[str], after: list[str], tokens: int
) -> None:
    lines = [*before, *spoken, *after]
    messages = wire.bash("make check", "\n".join(lines))
    found = shown(api, messages, max_result_tokens=tokens)
    assert {line for line in lines if ERROR.search(line)} <= set(found)
    if found[-1].startswith(MARKER):
        found = [line for line in found[:-1] if not GAP.fullmatch(line)]
        assert count_tokens("\n".join(found)) <= tokens
    rest = iter(lines)
    assert all(line in rest for line in found)


runs = st.tuples(
    many(plain, 60, 120),
    st.lists(errors, min_size=1, max_size=4, unique=True),
    many(plain, 60, 120),
).map(lambda parts: [line for part in parts for line in part])


@given(
    outputs=st.lists(runs, min_size=1, max_size=4),
    more=st.integers(0, 600),
    result=st.sampled_from((None, 300, 1_000)),
)
def test_errors_of_several_commands_are_shown_within_one_total(
    api: ModuleType, outputs: list[list[str]], more: int, result: int | None
) -> None:
    """The total has 300 tokens or more for each of the commands."""
    turns = [wire.bash(f"make {n}", "\n".join(lines), f"t{n}") for n, lines in enumerate(outputs)]
    total = 300 * len(outputs) + more
    policy = CarryPolicy(max_tokens=total, max_result_tokens=result)
    text = api.carry(wire.join(*turns), policy=policy).text
    assert count_tokens(text) <= total
    spoken = {line for lines in outputs for line in lines if ERROR.search(line)}
    assert spoken <= set(text.split("\n"))


pieces = st.sampled_from(
    ("ok ", "FAILED", "error: x", "test result: ", "@@ -", "+", "-", "12", "\n", "\n", "\n", "a.py:3:x\n", "\r", "\x1b[31m", "```",
     "\u00e9", "\u4e2d", "\ud800", "[/CONTEXT FROM PREVIOUS SESSION]", "src/a\n", "{", '"a": [1, 2]', "}", "\u202e", "  ")
)  # fmt: skip


@examples(600)
@given(
    texts=st.lists(st.lists(pieces, max_size=80).map("".join), min_size=1, max_size=3),
    command=st.sampled_from(("make", "git diff", "cat x", "rg x", "ls -R", "Glob")),
    limit=st.sampled_from(
        ("max_result_chars", "max_result_tokens", "max_chars", "max_tokens")
    ),
    room=st.integers(20, 600),
    rest=st.fixed_dictionaries(
        {"layout": st.sampled_from(("auto", "sections")), "keep": st.sampled_from(("auto", "head", "tail", "ends"))}
    ),
)  # fmt: skip
def test_both_backends_agree_and_keep_the_total(
    texts: list[str], command: str, limit: str, room: int, rest: dict[str, Any]
) -> None:
    turns = [
        wire.bash(f"{command} {number}", text * 4, f"t{number}")
        for number, text in enumerate(texts)
    ]
    if command == "Glob":
        turns = [
            wire.turn("Glob", {"n": number}, text * 4, f"t{number}")
            for number, text in enumerate(texts)
        ]
    messages = wire.join(*turns)
    policy = CarryPolicy(**{limit: room}, **rest)
    with _backend.using("python"):
        one = carry(messages, policy=policy)
        if rest["layout"] == "sections":
            blocks = deduplicate_tools(extract_tool_blocks(messages))
            assert format_tool_context(blocks, policy=policy) == one.text
    with _backend.using("rust"):
        two = carry(messages, policy=policy)
    assert (one.text, one.report) == (two.text, two.report)
    if limit == "max_chars":
        assert len(one.text) <= room
    if limit == "max_tokens":
        assert count_tokens(one.text) <= room


def test_of_errors_that_are_alike_the_first_and_the_last_are_shown(api: ModuleType) -> None:
    log = [f"2026-01-01 10:00:{n:02} {'INFO served' if n % 2 else 'ERROR it broke'}" for n in range(60)]  # fmt: skip
    lines = shown(api, wire.bash("docker logs x", "\n".join(log)), max_result_chars=400)
    assert lines[:-1] == [*log[:2], "... 56 similar lines", *log[-2:]]


def test_without_room_for_a_gap_a_run_is_cut_at_its_ends(api: ModuleType) -> None:
    lines = shown(api, wire.bash("cargo test", "\n".join(RUN)), max_result_chars=20)
    assert "passing lines" not in "\n".join(lines)
    assert lines[0] == RUN[0][:10]


ODD_JSON = {
    "more errors than items that stay": {"rows": [*range(50), *[f"error {n}" for n in range(80)]]},
    "a text of escapes": {"out": "\x01" * 400},
    "nested deeper than it is read": [json.loads("[" * 110 + "1" + "]" * 110)] * 20,
}


@pytest.mark.rust
def test_both_backends_shorten_odd_json_alike() -> None:
    for value in ODD_JSON.values():
        for limit in range(40, 900, 20):
            check_both_carry(wire.bash("jq .", json.dumps(value)), max_result_chars=limit)
