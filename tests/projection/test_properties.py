"""Properties of every projection, on generated conversations, on both backends, from objects and from bytes."""

import copy
import json
from types import ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.builders import wire
from support.strategies import conversations as strategies
from support.strategies import policies as strategies_policies
from support.strategies.texts import json_values

from toolcarry import NO_LIMIT, ProjectPolicy
from toolcarry.model.marker import is_marker
from toolcarry.types import Decisions

transcripts = strategies.transcripts
policies = strategies_policies.projections


def in_bytes(messages: list[Any]) -> bytes:
    """Return messages as a JSON array, with a spelling that no encoder of the library produces."""
    return json.dumps(messages, indent=1).encode()


@given(messages=transcripts, policy=policies)
def test_the_input_stays_as_it_is(
    api: ModuleType, messages: list[Any], policy: ProjectPolicy
) -> None:
    before = copy.deepcopy(messages)
    api.project(messages, policy=policy)
    assert messages == before


@given(messages=transcripts, policy=policies)
def test_projecting_a_projection_changes_nothing(
    api: ModuleType, messages: list[Any], policy: ProjectPolicy
) -> None:
    once = api.project(messages, policy=policy)
    twice = api.project(once.messages, policy=policy)
    if once.report.over_request or once.report.over_budget:
        return  # it was taken out what could be, and a last turn that was mended is another one
    assert twice.report.mends == ()
    counts_turns = policy.keep_last_turns or policy.clear_tool_inputs
    counts_mended = policy.keep_last_results or counts_turns or has_total(policy)
    assert twice.messages == once.messages or (once.report.mends and counts_mended), twice.report


def has_total(policy: ProjectPolicy) -> bool:
    totals = policy.max_all_results_chars, policy.max_all_results_tokens
    return any(total not in (None, NO_LIMIT) for total in (*totals, policy.max_request_tokens))


@given(messages=transcripts, policy=policies)
def test_decisions_made_once_are_made_again(
    api: ModuleType, messages: list[Any], policy: ProjectPolicy
) -> None:
    once = api.project(messages, policy=policy)
    again = api.project(messages, policy=policy, previous=once.decisions)
    assert again.messages == once.messages
    assert again.report.cache_break_tokens == 0


@given(messages=transcripts, policy=policies)
def test_bytes_and_objects_are_the_same(
    api: ModuleType, messages: list[Any], policy: ProjectPolicy
) -> None:
    plain = json.loads(json.dumps(messages))
    body = in_bytes(plain)
    by_objects = api.project(plain, policy=policy)
    by_bytes = api.project_body(body, policy=policy)
    assert json.loads(by_bytes.body) == by_objects.messages
    assert by_bytes.report.replacements == by_objects.report.replacements
    assert by_bytes.report.mends == by_objects.report.mends
    assert by_bytes.decisions == by_objects.decisions


words = st.text(st.sampled_from('ab \n\\"/'), max_size=200)
reads = st.lists(st.tuples(st.sampled_from(("a.py", "b.py")), words), max_size=8)
limits = st.builds(ProjectPolicy, max_result_chars=st.none() | st.integers(0, 150))


@given(reads=reads, policy=limits, indent=st.sampled_from((None, 0, 1, 3)))
def test_every_other_byte_stays(
    api: ModuleType, reads: list[tuple[str, str]], policy: ProjectPolicy, indent: int | None
) -> None:
    turns = [wire.read(path, text, f"t{number}") for number, (path, text) in enumerate(reads)]
    document = {"model": "m", "messages": wire.join(*turns), "stream": True}
    body = json.dumps(document, indent=indent).encode()
    found = api.project_body(body, policy=policy)
    pieces = found.body
    for replacement in found.report.replacements:
        message = json.loads(found.body)["messages"][replacement.position]
        new = json.dumps(message["content"][0]["content"]).encode()
        old = json.dumps(reads[replacement.position // 2][1]).encode()
        call_id = f'"tool_use_id": "{replacement.reference}"'.encode()
        place = pieces.index(new, pieces.index(call_id))
        pieces = pieces[:place] + old + pieces[place + len(new) :]
    assert pieces == body


@given(messages=transcripts, policy=policies)
def test_unchanged_messages_are_the_callers_objects(
    api: ModuleType, messages: list[Any], policy: ProjectPolicy
) -> None:
    projected = api.project(messages, policy=policy)
    touched = {found.position for found in projected.report.replacements}
    touched |= {mend.position for mend in projected.report.mends}
    own = {id(message) for message in projected.messages}
    for position, message in enumerate(messages):
        if not touched and position not in touched:
            assert id(message) in own


@given(messages=transcripts, policy=policies)
def test_a_result_is_replaced_only_where_that_is_smaller(
    api: ModuleType, messages: list[Any], policy: ProjectPolicy
) -> None:
    report = api.project(messages, policy=policy).report
    for found in report.replacements:
        whole = api.resolve(messages, found.reference) if found.chars_before else ""
        has_media = any(f"[{kind}" in whole for kind in ("audio", "document", "image", "video"))
        assert found.chars_after < found.chars_before or found.reason == "dropped" or has_media


@given(messages=transcripts, policy=policies)
def test_every_reference_names_the_whole(
    api: ModuleType, messages: list[Any], policy: ProjectPolicy
) -> None:
    projected = api.project(messages, policy=policy)
    for found in projected.report.replacements:
        if found.reason != "dropped" or found.chars_before:
            whole = api.resolve(messages, found.reference)
            assert len(whole) >= found.chars_before


@given(messages=transcripts, policy=policies, cut=st.integers(0, 20))
def test_old_decisions_never_change(
    api: ModuleType, messages: list[Any], policy: ProjectPolicy, cut: int
) -> None:
    first = api.project(messages[:cut], policy=policy)
    then = api.project(messages, policy=policy, previous=first.decisions)
    further = {"cut": 0, "superseded": 1, "rule": 1, "cleared": 1}
    for reference, decision in first.decisions.made.items():
        now = then.decisions.made.get(reference)
        if now is not None and now != decision:
            assert further[now[0]] > further[decision[0]]


@given(value=json_values, policy=policies)
def test_no_body_raises(api: ModuleType, value: Any, policy: ProjectPolicy) -> None:
    for body in (
        json.dumps(value).encode(),
        json.dumps({"messages": value}).encode(),
        b"\x1f\x8b",
        b"{",
    ):
        found = api.project_body(body, policy=policy)
        assert found.body is body or found.report.replacements or found.report.mends
        assert isinstance(found.decisions, Decisions)


def test_only_a_whole_line_is_a_marker() -> None:
    marker = "[toolcarry: superseded by call b; whole: a]"
    assert is_marker(marker)
    for text in ("", f"{marker}\n", f"x{marker}", marker + marker, marker[:-1], "[toolcarry: a]"):
        assert not is_marker(text)
