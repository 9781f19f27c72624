"""A request is mended first, and counted then: no total is exceeded, and a second projection changes nothing."""

import json
from random import Random
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.builders.random_requests import policies, requests
from support.examples import IS_LONG
from support.oracles.repairs import ASK

from toolcarry import ProjectPolicy

COUNT = 20_000 if IS_LONG else 400
TOTALS = ("max_all_results_chars", "max_all_results_tokens", "max_request_tokens")
INTERRUPTED = "[Tool use interrupted: no result]"


def is_within(api: ModuleType, messages: list[Any], policy: ProjectPolicy) -> bool:
    """Return true if messages are within the totals of a policy, measured by a projection that keeps everything."""
    totals = {name: getattr(policy, name) for name in TOTALS}
    report = api.project(
        messages, policy=ProjectPolicy(**totals, exclude_tools=("*",), rules=())
    ).report
    return not report.over_budget and not report.over_request


def with_refused_names(messages: list[Any]) -> list[Any]:
    """Return messages in which each tool has a name that all providers but Gemini refuse."""
    return json.loads(json.dumps(messages).replace('"name": "', '"name": "files.'))  # type: ignore[no-any-return]


def test_generated_requests(api: ModuleType) -> None:
    """Many of them are ill-formed: ids twice, formats mixed, results missing, and in each third one names are refused."""
    for number in range(COUNT):
        random = Random(f"totals {number}")
        messages, policy = requests(random), policies(random)
        if number % 3 == 0:
            messages = with_refused_names(messages)
        once = api.project(messages, policy=policy)
        if once.report.over_budget or once.report.over_request:
            continue  # everything that could be removed was
        assert is_within(api, once.messages, policy), number
        assert api.project(once.messages, policy=policy).messages == once.messages, number
        again = api.project(messages, policy=policy, previous=once.decisions)
        assert again.messages == once.messages, number


def conversation(long: int, short: int) -> list[Any]:
    """Return a long result, a call without result, and a short result."""
    return [
        ASK,
        *wire.turn("Grep", {"pattern": "a"}, "x" * long, "a"),
        wire.assistant(wire.use("b", "Grep", pattern="b")),
        *wire.turn("Grep", {"pattern": "c"}, "y" * short, "c"),
        ASK,
    ]


@pytest.mark.parametrize("spare", [len(INTERRUPTED), len(INTERRUPTED) - 1])
def test_a_made_up_result_counts(api: ModuleType, spare: int) -> None:
    policy = ProjectPolicy(repair=True, max_all_results_chars=340 + spare, clear_at_least_tokens=0)
    found = api.project(conversation(300, 40), policy=policy)
    cleared = [replacement.reference for replacement in found.report.replacements]
    assert cleared == ([] if spare == len(INTERRUPTED) else ["a"])
    assert found.report.over_budget == 0


def test_a_result_that_is_left_out_does_not_count(api: ModuleType) -> None:
    ghost = wire.result("ghost", "z" * 500)
    messages = [*conversation(300, 40), wire.user(ghost, {"type": "text", "text": "Go on."})]
    policy = ProjectPolicy(repair=True, max_all_results_chars=400, clear_at_least_tokens=0)
    found = api.project(messages, policy=policy)
    assert found.report.replacements == ()
    assert "orphan_result" in {mend.kind for mend in found.report.mends}


def test_a_made_up_result_is_one_of_the_last(api: ModuleType) -> None:
    policy = ProjectPolicy(
        repair=True, keep_last_results=1, max_all_results_chars=50, clear_at_least_tokens=0
    )
    messages = conversation(300, 40)[:4]
    found = api.project(messages, policy=policy)
    assert [replacement.reference for replacement in found.report.replacements] == ["a"]
    assert api.project(found.messages, policy=policy).messages == found.messages


def test_nothing_made_up_without_repair(api: ModuleType) -> None:
    policy = ProjectPolicy(max_all_results_chars=340, clear_at_least_tokens=0)
    messages = conversation(300, 40)
    assert api.project(messages, policy=policy).messages == messages


def test_a_dropped_turn_goes_with_its_further_results(api: ModuleType) -> None:
    """They would answer nothing, and count the next time."""
    second = wire.user(wire.result("a", "more"), {"type": "text", "text": "Go on."})
    turns = [
        wire.turn("Grep", {"pattern": "a"}, "x " * 300, "a"),
        wire.turn("Grep", {"pattern": "b"}, "y " * 20, "b"),
    ]
    messages = [ASK, *turns[0], second, *turns[1]]
    found = api.project(messages, policy=ProjectPolicy(max_request_tokens=60))
    assert "tool_result" in str(found.messages)
    assert "'a'" not in str(found.messages)
