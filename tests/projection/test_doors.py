"""Objects and bytes have the same projection, and bytes that are no request come back unchanged."""

import json
import re
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.providers.validity import PROVIDERS
from support.strategies import conversations as strategies
from support.strategies import policies as strategies_policies
from support.strategies.requests import broken_requests, requests
from support.strategies.texts import json_values

from toolcarry import ProjectPolicy
from toolcarry.types import ProjectReport
from toolcarry.types.values import CallFacts

policies = strategies_policies.projections
OF_BYTES = (
    "stable_prefix_tokens",
    "cache_break_tokens",
    "written_tokens",
    "read_tokens",
    "unchanged_tokens",
    "write_tokens_saved",
    "read_tokens_saved",
)
"""The estimates that are made from the bytes of a body, with its spaces, but of objects from their texts."""


def spelled(messages: list[Any], spelling: str) -> bytes:
    """A body, spelled in one of several ways."""
    if spelling == "plain":
        return json.dumps(messages, ensure_ascii=False).encode("utf-8", "surrogatepass")
    text = json.dumps(messages, indent=1)
    if spelling == "odd":  # no literal of JSON has an o
        text = text.replace("o", "\\u006f").replace("/", "\\/")
    return text.encode()


spellings = st.sampled_from(["escaped", "odd"])


def counts(report: ProjectReport) -> dict[str, Any]:
    return {key: value for key, value in report.to_dict().items() if key not in OF_BYTES}


def check(
    api: ModuleType, messages: list[Any], policy: ProjectPolicy, cut: int, spelling: str
) -> None:
    """Compare the projections of objects and of bytes, the first one and the one after it."""
    previous, previous_of_bytes = None, None
    for given_messages in (messages[:cut], messages):
        body = spelled(given_messages, spelling)
        found = api.project(json.loads(body), policy=policy, previous=previous)
        written = api.project_body(body, policy=policy, previous=previous_of_bytes)
        assert json.loads(written.body) == found.messages
        assert counts(written.report) == counts(found.report)
        assert written.decisions.made == found.decisions.made
        previous, previous_of_bytes = found.decisions, written.decisions


@examples(400)
@given(messages=strategies.transcripts, policy=policies, cut=st.integers(0, 20), spelling=spellings)
def test_generated_conversations(
    api: ModuleType, messages: list[Any], policy: ProjectPolicy, cut: int, spelling: str
) -> None:
    check(api, messages, policy, cut, spelling)


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data(), policy=policies, spelling=spellings)
def test_requests(
    api: ModuleType, provider: str, data: st.DataObject, policy: ProjectPolicy, spelling: str
) -> None:
    messages = data.draw(requests(provider) | broken_requests(provider))
    check(api, messages, policy, data.draw(st.integers(0, 9)), spelling)


@examples(200)
@given(messages=strategies.tangles, policy=policies, spelling=spellings)
def test_tangles(
    api: ModuleType, messages: list[Any], policy: ProjectPolicy, spelling: str
) -> None:
    check(api, messages, policy, 3, spelling)


@examples(200)
@given(messages=strategies.transcripts, policy=policies, data=st.data())
def test_known_facts_about_calls(
    backend: Any, messages: list[Any], policy: ProjectPolicy, data: st.DataObject
) -> None:
    """By their names decisions are kept and wholes are found, and who failed supersedes no success."""
    blocks = len(backend.extract_tool_blocks(messages))
    names = data.draw(st.permutations([f"call {number}" for number in range(blocks)]))
    known = [CallFacts(name, data.draw(st.booleans())) for name in names]
    found = backend.project(messages, policy, None, known)
    assert found.report.errors >= sum(each.is_error for each in known)
    decided = {re.split(";", reference)[0] for reference in found.decisions.made}
    assert decided | found.decisions.dropped <= {*names}
    with pytest.raises(ValueError, match="must have an entry for each block"):
        backend.project(messages, policy, None, [*known, CallFacts("one more", False)])


@given(value=json_values, policy=policies)
def test_bodies_that_are_no_requests(api: ModuleType, value: Any, policy: ProjectPolicy) -> None:
    for body, reason in (
        (json.dumps(value).encode()[:-1] + b"\x01", "not JSON: byte"),
        (json.dumps({"messages": value}).encode()[:-1], "not JSON: byte"),
        (b'{"messages": [NaN]}', "not JSON: byte 14"),
        (b"[" * 200 + b"]" * 200, "nested too deep: byte 128"),
        (b'"\xff"', "not JSON: byte 1"),
        (b"\x1f\x8b", "compressed"),
        (b"{}", "no messages"),
        (b"", "not JSON: byte 0"),
    ):
        found = api.project_body(body, policy=policy)
        assert found.body is body
        assert found.report.untouched.startswith(reason)
