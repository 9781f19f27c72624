"""Properties of every context, on generated conversations and both backends."""

import contextlib
import copy
import dataclasses
import json
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from support.examples import IS_LONG, examples
from support.oracles import markdown
from support.oracles import pairing as oracle
from support.oracles.texts import as_fenced, texts_of
from support.strategies import conversations as strategies
from support.strategies import policies as strategies_policies
from support.strategies.texts import json_values

from toolcarry import NO_LIMIT, CarryPolicy
from toolcarry.fallback.tokens.count import count_tokens
from toolcarry.model.text.sanitize import clean
from toolcarry.types.values import ENCODINGS, EncodingName

ROOMY = CarryPolicy(max_chars=NO_LIMIT)
FATES = {"shown", "cut", "left_out", "superseded", "excluded"}

transcripts = strategies.transcripts
summaries = strategies.summaries
policies = strategies_policies.policies


@given(messages=transcripts)
def test_every_call_and_result_is_in_exactly_one_block(
    api: ModuleType, rust: ModuleType, messages: list[Any]
) -> None:
    events = oracle.read(messages).events
    blocks = api.extract_tool_blocks(messages)
    calls = [id(event.wire) for event in events if isinstance(event, oracle.Call)]
    results = [id(event.wire) for event in events if isinstance(event, oracle.Result)]
    assert [id(block.tool_use) for block in blocks if block.tool_use is not None] == calls
    held = [id(block.tool_result) for block in blocks if block.tool_result is not None]
    second = [id(result) for block in blocks for result in block.notes.second_results]
    assert sorted(held + second) == sorted(results)
    survey = rust.inspect(messages)
    assert (survey.duplicate_results, survey.results) == (len(second), len(results))
    assert survey.repeated_records == oracle.read(messages).repeated


@given(messages=transcripts, summary=summaries, policy=policies)
def test_the_input_stays_as_it_is(
    api: ModuleType, rust: ModuleType, messages: list[Any], summary: str, policy: CarryPolicy
) -> None:
    before = copy.deepcopy(messages)
    api.carry(messages, summary=summary, policy=policy, explain=True)
    blocks = api.extract_tool_blocks(messages)
    blocks_before = repr(blocks)
    api.deduplicate_tools(blocks, rules=policy.rules)
    api.format_tool_context(blocks, summary=summary, policy=policy)
    rust.inspect(messages)
    api.dialogue(messages)
    assert repr(messages) == repr(before)
    assert repr(blocks) == blocks_before


def budget_of(policy: CarryPolicy) -> tuple[int, Callable[[str], int]]:
    """Return the total of a policy and the function that measures text, in characters or in tokens by tiktoken."""
    if policy.max_tokens is not None:
        encoding = policy.encoding
        return policy.max_tokens, lambda text: count_tokens(text, encoding)
    return 60_000 if policy.max_chars is None else policy.max_chars, len


@given(messages=transcripts, summary=summaries, policy=policies)
def test_no_output_is_longer_than_its_budget(
    api: ModuleType, messages: list[Any], summary: str, policy: CarryPolicy
) -> None:
    total, size = budget_of(policy)
    carried = api.carry(messages, summary=summary, policy=policy)
    assert size(carried.text) <= total
    assert carried.report.chars_after == len(carried.text)
    blocks = api.extract_tool_blocks(messages)  # not deduplicated: still within the budget
    assert size(api.format_tool_context(blocks, summary=summary, policy=policy)) <= total


def totals(small: range, large: range) -> list[int]:
    """Return all of both in the long run, otherwise one in five."""
    return [*small, *large][:: 1 if IS_LONG else 5]


@examples(30)
@given(messages=transcripts, summary=summaries)
def test_every_total_holds(backend: ModuleType, messages: list[Any], summary: str) -> None:
    for total in totals(range(60, 400, 7), range(400, 2_000, 173)):
        text = backend.carry(messages, summary, CarryPolicy(max_chars=total)).context
        assert len(text) <= total


@examples(30)
@given(
    messages=transcripts,
    summary=summaries,
    encoding=st.sampled_from(ENCODINGS),
    layout=st.sampled_from(("sections", "handover")),
)
def test_token_totals_hold_and_equal_the_report(
    api: ModuleType, messages: list[Any], summary: str, encoding: EncodingName, layout: Any
) -> None:
    for total in totals(range(20, 150, 7), range(150, 800, 73)):
        policy = CarryPolicy(max_tokens=total, encoding=encoding, layout=layout)
        carried = api.carry(messages, summary=summary, policy=policy)
        report = carried.report
        assert report.tokens_after == count_tokens(carried.text, encoding) <= total
        assert len(report.block_tokens) <= report.shown
        if layout == "sections":  # a line of a hand-over may be about several blocks
            assert len(report.block_tokens) == report.shown
        assert sum(report.message_tokens.values()) <= report.tokens_after
        blocks = {block.position for block in api.extract_tool_blocks(messages)}
        assert report.message_tokens.keys() <= blocks


@given(messages=transcripts, summary=summaries, policy=policies)
def test_the_newest_come_first(
    api: ModuleType, messages: list[Any], summary: str, policy: CarryPolicy
) -> None:
    policy = dataclasses.replace(policy, layout="sections")
    fates = api.carry(messages, summary=summary, policy=policy, explain=True).fates
    surviving = [fate.fate for fate in fates if fate.fate not in ("superseded", "excluded")]
    is_shown = [fate != "left_out" for fate in surviving]
    assert is_shown == sorted(is_shown)
    limits = [rule.max_result_chars for rule in policy.rules if policy.rules != "careful"]
    if {policy.max_result_chars, policy.max_result_tokens, *limits} == {None}:
        assert "cut" not in surviving[surviving.count("left_out") + 1 :]


@given(messages=transcripts, summary=summaries, policy=policies)
def test_every_block_has_a_fate_and_every_drop_a_reason(
    api: ModuleType, messages: list[Any], summary: str, policy: CarryPolicy
) -> None:
    blocks = api.extract_tool_blocks(messages)
    fates = api.carry(messages, summary=summary, policy=policy, explain=True).fates
    report = api.carry(messages, summary=summary, policy=policy).report
    assert [(f.position, f.call_id, f.tool_name, f.scope) for f in fates] == [
        (b.position, b.call_id, b.tool_name, b.scope) for b in blocks
    ]
    assert all(fate.fate in FATES for fate in fates)
    assert all(bool(fate.reason) == (fate.fate != "shown") for fate in fates)
    walked = [fate for fate in fates if "walk came here" not in fate.reason]
    count = [fate.fate for fate in walked].count
    assert report.walked == len(walked)
    assert report.walked_all == (len(walked) == len(fates)) or not report.walked_all
    assert report.shown == count("shown") + count("cut")
    assert report.cut == count("cut")
    assert report.left_out == count("left_out")
    assert sum(report.superseded.values()) == count("superseded")
    assert sum(report.excluded.values()) == count("excluded")
    assert all((*report.superseded, *report.excluded))


@given(messages=transcripts, summary=summaries, policy=policies)
def test_the_steps_one_by_one_are_carry(
    api: ModuleType, messages: list[Any], summary: str, policy: CarryPolicy
) -> None:
    # A hand-over of blocks has no requests of the user.
    policy = dataclasses.replace(policy, layout="sections")
    blocks = api.deduplicate_tools(api.extract_tool_blocks(messages), rules=policy.rules)
    text = api.format_tool_context(blocks, summary=summary, policy=policy)
    assert text == api.carry(messages, summary=summary, policy=policy).text


@given(messages=transcripts, summary=summaries, policy=policies)
def test_no_marker_line_can_be_forged(
    api: ModuleType, messages: list[Any], summary: str, policy: CarryPolicy
) -> None:
    text = api.carry(messages, summary=summary, policy=policy).text
    if text:
        inner = text.removeprefix(f"{markdown.OPEN}\n").removesuffix(f"\n{markdown.CLOSE}")
        assert text == f"{markdown.OPEN}\n{inner}\n{markdown.CLOSE}"
        assert text.count(markdown.OPEN) == text.count(markdown.CLOSE) == 1
        assert clean(inner) == inner


ORDER = {"read": 0, "edit": 1, "command": 2, "other": 3}


@examples(200)
@given(messages=transcripts, policy=strategies_policies.roomy)
def test_every_shown_result_is_exactly_one_code_block(
    api: ModuleType, messages: list[Any], policy: CarryPolicy
) -> None:
    blocks = api.deduplicate_tools(api.extract_tool_blocks(messages), rules=policy.rules)
    active = [block for block in blocks if block.notes.is_active]
    active.sort(key=lambda block: ORDER[(block.dedup_key or "other").partition(":")[0]])
    shown = markdown.shown_blocks(api.carry(messages, policy=policy).text)
    assert len(shown) == len(active)
    for block, found in zip(active, shown, strict=True):
        expected = [as_fenced(text) for text in texts_of(block)]
        assert [content for _, content in found.fences] == expected


PLAIN_TOKENS = {
    "heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "fence",
    "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close",
}  # fmt: skip


@examples(200)
@given(messages=transcripts, policy=policies)
def test_a_context_is_headings_and_code_blocks_and_nothing_else(
    api: ModuleType, messages: list[Any], policy: CarryPolicy
) -> None:
    carried = api.carry(messages, policy=policy, layout="sections")
    found = markdown.tokens(carried.text)
    assert {token.type for token in found} <= PLAIN_TOKENS
    assert all(token.level == 0 for token in found if token.type in ("heading_open", "fence"))
    assert {token.tag for token in found if token.type == "heading_open"} <= {"h2", "h3"}
    sections = markdown.sections(carried.text)
    assert sections == [name for name in markdown.SECTIONS if name in sections]
    assert len(markdown.shown_blocks(carried.text)) == carried.report.shown


@examples(200)
@given(messages=transcripts, summary=summaries)
def test_a_summary_can_neither_swallow_nor_forge_a_section(
    api: ModuleType, messages: list[Any], summary: str
) -> None:
    without = markdown.outline(api.carry(messages, policy=ROOMY).text)[3:]
    carried = api.carry(messages, summary=summary, policy=ROOMY)
    found = markdown.outline(carried.text)
    if not without:
        without = markdown.outline(markdown.CLOSE) if carried.text else []
    assert found[len(found) - len(without) :] == without
    of_summary = found[: len(found) - len(without)]
    headings = [
        tag for kind, tag, _, _ in of_summary if kind == "heading_open" and tag in ("h1", "h2")
    ]
    assert headings == ["h2"] * ("## Summary" in carried.text.split("\n")[:3])


@examples(200)
@given(messages=transcripts, summary=summaries, policy=policies)
def test_bytes_and_objects_say_the_same(
    api: ModuleType, messages: list[Any], summary: str, policy: CarryPolicy
) -> None:
    assume(not re.search(r"\d{19}", json.dumps(messages)))  # a longer integer is a float in bytes
    messages = json.loads(json.dumps(messages))  # in JSON two surrogates are one character
    expected = api.carry(messages, summary=summary, policy=policy)
    body = json.dumps({"messages": messages}).encode()
    assert api.carry(body, summary=summary, policy=policy) == expected
    array = json.dumps(messages).encode()
    assert api.carry(array, summary=summary, policy=policy) == expected
    if any(messages):
        lines = b"\n".join(json.dumps(line).encode() if line else b"" for line in messages)
        assert api.carry(lines + b"\n", summary=summary, policy=policy).text == expected.text


KEYS = (
    "content", "function_call", "id", "input", "isSidechain", "message", "name", "parentUuid", "role",
    "tool_calls", "tool_use_id", "type", "uuid",
)  # fmt: skip
KINDS = ("tool", "assistant", "tool_use", "tool_result", "function", "user")

nested = st.recursive(
    json_values | st.sampled_from(KINDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=12,
)
heaps = st.lists(st.dictionaries(st.sampled_from(KEYS), nested, max_size=6) | nested, max_size=4)


@examples(300)
@given(given=heaps, policy=policies)
def test_only_our_own_errors_are_raised(
    api: ModuleType, rust: ModuleType, given: list[Any], policy: CarryPolicy
) -> None:
    wrong = [index for index, item in enumerate(given) if not isinstance(item, dict)]
    jobs = (
        lambda: api.carry(given, policy=policy).to_bytes(),
        lambda: api.carry(given, policy=policy, explain=True).fates,
        lambda: rust.inspect(given),
        lambda: api.dialogue(given),
        lambda: api.carry(json.dumps({"messages": given}).encode(), policy=policy),
    )
    for job in jobs:
        found = None
        try:
            job()
        except api.InputError as error:
            found = error
        if found is not None and "many conversations" in str(found):
            assert found.position == 0
        elif found is not None:
            assert found.position in wrong
            assert f"message {found.position} is not an object, but " in str(found)


bodies = st.binary(max_size=60) | (st.text(max_size=40) | json_values.map(json.dumps)).map(
    str.encode
)


@given(body=bodies)
def test_no_body_raises_anything_but_an_input_error(
    api: ModuleType, rust: ModuleType, body: bytes
) -> None:
    for job in (api.carry, rust.inspect, api.dialogue, api.extract_tool_blocks):
        with contextlib.suppress(api.InputError):
            job(body)
