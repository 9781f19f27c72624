"""Python and Rust give identical projections, from objects and from bytes, for generated valid and broken requests."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import wire
from support.examples import examples
from support.providers.validity import PROVIDERS
from support.strategies import conversations as strategies
from support.strategies import policies as strategies_policies
from support.strategies.requests import broken_requests, requests
from support.strategies.texts import json_values

from toolcarry import Decisions, Policy
from toolcarry._pure.projection.marker import ARGUMENT

Both = tuple[ModuleType, ModuleType]

policies = strategies_policies.projections
KEYS = ("messages", "input", "contents", "history", "steps")


def check(both: Both, messages: list[Any], policy: Policy, previous: Decisions | None) -> Any:
    """Compare both kernels on messages; what they give, which is the caller's own where nothing changes."""
    python, rust = both
    expected = python.project(messages, policy, previous)
    found = rust.project(messages, policy, previous)
    assert found == expected
    assert repr(found) == repr(expected)  # the order of members and decisions, too
    own = {id(message) for message in messages}
    for new, reference in zip(found[0] or (), expected[0] or (), strict=True):
        assert (id(new) in own) == (id(reference) in own)
    return found


def check_body(both: Both, body: bytes, policy: Policy, previous: Decisions | None) -> Any:
    """Compare both kernels on a body."""
    python, rust = both
    expected = python.project_body(body, policy, previous)
    found = rust.project_body(body, policy, previous)
    assert found == expected
    assert repr(found) == repr(expected)
    return found


SPELLINGS = ("plain", "escaped", "odd")


def spelled(value: Any, indent: int | None, spelling: str) -> bytes:
    """A body, spelled in one of several ways."""
    if spelling == "plain":
        return json.dumps(value, indent=indent, ensure_ascii=False).encode("utf-8", "replace")
    text = json.dumps(value, indent=indent)
    if spelling == "odd":  # no literal of JSON has an o
        text = text.replace("o", "\\u006f").replace("/", "\\/")
    return text.encode()


bodies = st.builds(
    lambda messages, key, frame, indent, spelling: spelled(
        messages if key is None else {**frame, key: messages}, indent, spelling
    ),
    strategies.transcripts,
    st.none() | st.sampled_from(KEYS),
    st.dictionaries(
        st.sampled_from(("model", "system", "tools", "previous_response_id")), json_values
    ),
    st.none() | st.integers(0, 2),
    st.sampled_from(SPELLINGS),
)


@examples(400)
@given(messages=strategies.transcripts, policy=policies, cut=st.integers(0, 20))
def test_generated_conversations(both: Both, messages: list[Any], policy: Policy, cut: int) -> None:
    first = check(both, messages[:cut], policy, None)
    check(both, messages, policy, first[2])
    check(both, messages, policy, None)


@examples(400)
@given(body=bodies, policy=policies)
def test_generated_bodies(both: Both, body: bytes, policy: Policy) -> None:
    found = check_body(both, body, policy, None)
    if found[2] is not None:
        check_body(both, body, policy, found[2])


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data(), policy=policies)
def test_requests(both: Both, provider: str, data: st.DataObject, policy: Policy) -> None:
    messages = data.draw(requests(provider) | broken_requests(provider))
    found = check(both, messages, policy, None)
    check(both, messages, policy, found[2])
    spelling = data.draw(st.sampled_from(SPELLINGS[1:]))
    body = spelled(messages, data.draw(st.none() | st.just(1)), spelling)
    check_body(both, body, policy, None)


@examples(200)
@given(messages=strategies.tangles, policy=policies)
def test_tangles(both: Both, messages: list[Any], policy: Policy) -> None:
    check(both, messages, policy, None)
    check_body(both, json.dumps(messages).encode(), policy, None)


@examples(200)
@given(messages=strategies.transcripts, policy=policies, data=st.data())
def test_known_facts_about_calls(
    both: Both, messages: list[Any], policy: Policy, data: st.DataObject
) -> None:
    """By their names decisions are kept and wholes are found, and who failed supersedes no success."""
    python, rust = both
    blocks = len(python.extract_tool_blocks(messages))
    names = data.draw(st.permutations([f"call {number}" for number in range(blocks)]))
    known = [(name, data.draw(st.booleans())) for name in names]
    expected = python.project(messages, policy, None, known)
    assert rust.project(messages, policy, None, known) == expected
    _, report, decisions = expected
    assert report.errors >= sum(is_error for _, is_error in known)
    decided = {reference.partition(ARGUMENT)[0] for reference in decisions.made}
    assert decided | decisions.dropped <= {*names}
    for kernels in both:
        with pytest.raises(
            ValueError, match=r"argument 2 is longer|must have an entry for each block"
        ):
            kernels.project(messages, policy, None, [*known, ("one more", False)])


@given(value=json_values, policy=policies)
def test_bodies_that_are_no_requests(both: Both, value: Any, policy: Policy) -> None:
    for body in (
        json.dumps(value).encode(),
        json.dumps({"messages": value}).encode(),
        json.dumps({"messages": [value]}).encode(),
        json.dumps(value).encode()[:-1],
        b"\xef\xbb\xbf" + json.dumps([value]).encode(),
        b"\x1f\x8b",
        b"",
    ):
        check_body(both, body, policy, None)


UNITS = {
    "contractions": "don't we'll ",
    "one word after another": "a1b2c3d4",
    "capitals": "aBcDeF ",
    "spaces": " " * 128,
    "dashes": "-" * 128,
    "equal signs": "=" * 64 + "\n",
    "umlauts": "a\u00e9b\u00e9c ",
    "marks": "a\u0301b\u0301 ",
    "chinese": "\u8d44\u5229\u5728\u666f",
    "surrogates": "\ud800 a",
    "base64": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=",
    "apostrophes": "'a'b'c ",
    "digits": "1234 ",
}


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_texts_near_the_least_saving(both: Both, unit: str) -> None:
    """Rust counts no tokens where a bound is enough; Python always counts."""
    newest = wire.read("a.py", "x", "t9")
    for count in (*range(1, 90), 120, 200, 300, 500):
        messages = [*wire.read("a.py", unit * count, "t1"), *newest]
        check(both, messages, Policy(), None)
        check(both, messages, Policy(max_tool_result_chars=max(len(unit) * count - 40, 0)), None)
