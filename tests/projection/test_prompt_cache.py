"""The prompt cache stays warm: what was sent before changes only where that wins enough at once."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from support.builders import wire
from support.strategies import conversations as strategies
from support.strategies import policies as strategies_policies
from support.transcripts import growing, real_conversations

from toolcarry import ProjectPolicy
from toolcarry.types import Decisions

LONG = "x = 1\n" * 500
POLICY = ProjectPolicy(max_result_chars=1_000)


def replay(
    api: ModuleType, turns: Iterator[list[Any]], policy: ProjectPolicy
) -> Iterator[tuple[list[Any], list[Any], Any]]:
    """Project a conversation each time it has grown: what was sent before, what is sent now, and the projection."""
    previous: Decisions | None = None
    sent: list[Any] = []
    for messages in turns:
        projected = api.project(messages, policy=policy, previous=previous)
        now = projected.messages
        yield sent, now, projected
        previous, sent = projected.decisions, now


def written(message: Any) -> bytes:
    return json.dumps(message).encode()


def changes_earlier(sent: list[Any], now: list[Any]) -> bool:
    """True if any byte that was sent has changed. A message that did not change is the same object."""
    pairs = zip(sent, now, strict=False)
    return len(now) < len(sent) or any(
        old is not new and written(old) != written(new) for old, new in pairs
    )


def test_a_superseded_result_stays_until_enough_is_won(api: ModuleType) -> None:
    turns = [wire.read(f"f{number % 3}.py", LONG, f"t{number}") for number in range(24)]
    policy = ProjectPolicy(clear_at_least_tokens=4_000)
    changed = [
        projected.report
        for sent, now, projected in replay(api, growing(wire.join(*turns)), policy)
        if changes_earlier(sent, now)
    ]
    # Each superseded read wins nearly 750 tokens, so that the sixth makes it enough.
    assert len(changed) == 3
    assert all(report.cache_break_tokens > 0 for report in changed)
    assert [len(report.replacements) for report in changed] == [6, 12, 18]


def test_new_results_are_cut_at_once(api: ModuleType) -> None:
    turns = [wire.bash(f"run {number}", LONG, f"t{number}") for number in range(6)]
    for sent, now, projected in replay(api, growing(wire.join(*turns)), POLICY):
        assert not changes_earlier(sent, now)
        assert projected.report.cache_break_tokens == 0
        assert all(len(written(message)) < 1_500 for message in now)


def test_without_previous_decisions_all_are_made(api: ModuleType) -> None:
    messages = [*wire.read("a.py", LONG, "t1"), *wire.read("a.py", LONG, "t2")]
    assert api.project(messages).report.reasons == {"later_read": 1}
    first = api.project(messages[:2])
    then = api.project(messages, previous=first.decisions)
    assert then.report.reasons == {}
    assert then.messages == messages


def test_the_prefix_ends_at_the_first_change(api: ModuleType) -> None:
    messages = [*wire.bash("ls", "a\n" * 50, "t0"), *wire.read("a.py", LONG, "t1")]
    messages += wire.read("a.py", LONG, "t2")
    first = api.project(messages[:4])
    then = api.project(
        messages, policy=ProjectPolicy(clear_at_least_tokens=0), previous=first.decisions
    )
    report = then.report
    text = sum(len(item) for message in messages[:3] for item in texts(message))
    assert report.stable_prefix_tokens == text // 4
    assert 0 < report.cache_break_tokens < 20  # only the marker is read again
    body = json.dumps({"model": "m", "messages": messages}).encode()
    report = api.project_body(body).report
    assert report.stable_prefix_tokens == body.index(json.dumps(messages[3]).encode()) // 4


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)


@given(messages=strategies.transcripts, policy=strategies_policies.projections)
def test_sent_results_change_only_with_a_reported_break(
    api: ModuleType, messages: list[Any], policy: ProjectPolicy
) -> None:
    given = [message for message in messages if "role" in message and "uuid" not in message]
    for sent, now, projected in replay(api, growing(given), policy):
        report = projected.report
        if changes_earlier(sent, now):
            is_told = report.cache_break_tokens or report.mends or report.replacements
            assert is_told, report


def test_a_result_that_is_taken_out_breaks_no_cache(api: ModuleType) -> None:
    """It was in no request, and counts for no total."""
    lost = wire.user(wire.result("t9", "lost " * 120), {"type": "text", "text": "Go on."})
    policy = ProjectPolicy(repair=True, max_all_results_chars=1_000, clear_at_least_tokens=0)
    messages = [lost, *wire.bash("ls", "x" * 300, "t1")]
    first = api.project(messages, policy=policy)
    longer = [*messages, *wire.bash("pwd", "y" * 300, "t2")]
    then = api.project(longer, policy=policy, previous=first.decisions)
    assert then.messages[: len(messages)] == first.messages
    assert then.decisions.made == {}
    assert then.report.replacements == ()
    assert then.report.cache_break_tokens == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (ProjectPolicy(), 0),
        (ProjectPolicy(clear_at_least_tokens=8_000), 1),
        (ProjectPolicy(max_result_chars=2_000), 0),
        (ProjectPolicy(clear_at_least_tokens=0), 26),
        (ProjectPolicy(max_all_results_chars=40_000), 14),
        (ProjectPolicy(max_request_tokens=50_000), 3),
        # At the end of a request, three texts stand in for what was left out; they vanish with the next request.
        (ProjectPolicy(repair=True), 3),
    ],
    ids=("default", "many tokens", "cut", "at once", "total", "window", "repair"),
)
def test_real_conversations_keep_their_prefix(
    api: ModuleType, real_transcripts: Path, policy: ProjectPolicy, expected: int
) -> None:
    turns = changed = 0
    for name, messages in real_conversations(real_transcripts):
        for sent, now, _ in replay(api, growing(messages), policy):
            turns += 1
            if changes_earlier(sent, now):
                changed += 1
                lost = len(written(sent)) - len(written(now[: len(sent)]))
                least = policy.clear_at_least_tokens
                assert not least or lost >= 4 * least * 0.9, (name, lost)
    assert (changed, turns) == (expected, 551)
