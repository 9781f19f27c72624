"""The results that are replaced: those outside the policy's limits, the total or the window."""

from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.builders.handovers import word

from toolcarry import NO_LIMIT, ProjectPolicy, Rule, count_tokens
from toolcarry._input.json import compact_json

LONG = "".join(f"line {word(number)}\n" for number in range(200))


def test_a_policy_keeps_tools_results_and_turns(api: ModuleType) -> None:
    messages = wire.join(*(wire.bash(f"run {number}", LONG, f"t{number}") for number in range(5)))

    def cut(**settings: Any) -> list[str]:
        policy = ProjectPolicy(max_result_chars=200, **settings)
        return [
            found.reference for found in api.project(messages, policy=policy).report.replacements
        ]

    assert cut() == ["t0", "t1", "t2", "t3", "t4"]
    assert cut(keep_last_results=2) == ["t0", "t1", "t2"]
    assert cut(keep_last_turns=1) == ["t0", "t1", "t2", "t3"]
    assert cut(exclude_tools=("ba*",)) == []
    assert cut(exclude_tools="Read") == ["t0", "t1", "t2", "t3", "t4"]
    roomy = Rule("Bash", kind="command", key="command", max_result_chars=NO_LIMIT)
    assert cut(rules=(roomy,)) == []


def test_parallel_calls_are_one_turn(api: ModuleType) -> None:
    uses = [wire.use(f"t{number}", command=f"run {number}") for number in range(3)]
    results = [wire.result(f"t{number}", LONG) for number in range(3)]
    messages = [*wire.bash("old", LONG, "t9"), wire.assistant(*uses), wire.user(*results)]
    policy = ProjectPolicy(max_result_chars=100, keep_last_turns=1)
    assert [
        found.reference for found in api.project(messages, policy=policy).report.replacements
    ] == ["t9"]


def test_rules_leave_tools_out(api: ModuleType) -> None:
    messages = wire.bash("ls", LONG)
    policy = ProjectPolicy(rules=(Rule("Bash", keep="none"),))
    projected = api.project(messages, policy=policy)
    assert (
        projected.messages[1]["content"][0]["content"]
        == "[toolcarry: left out by a rule; whole: t1]"
    )
    assert projected.report.reasons == {"rule": 1}


def test_a_total_clears_the_oldest(api: ModuleType) -> None:
    messages = wire.join(*(wire.bash(f"run {number}", LONG, f"t{number}") for number in range(6)))
    policy = ProjectPolicy(max_all_results_chars=3 * len(LONG), clear_at_least_tokens=0)
    report = api.project(messages, policy=policy).report
    # At most 1.8 of them remain, and the last turn's is not cleared.
    assert [found.reference for found in report.replacements] == ["t0", "t1", "t2", "t3", "t4"]
    assert report.reasons == {"cleared": 5}
    assert report.chars_after <= 0.6 * 3 * len(LONG)
    within = ProjectPolicy(max_all_results_chars=6 * len(LONG))
    assert api.project(messages, policy=within).report.replacements == ()
    tight = api.project(messages, policy=ProjectPolicy(max_all_results_chars=600)).report
    assert tight.chars_after <= 600
    assert tight.reasons == {"cleared": 5, "cut": 1}
    least = api.project(messages, policy=ProjectPolicy(max_all_results_chars=1)).report
    assert least.over_budget == least.chars_after - 1


FUNCTIONS = "".join(
    f"def compute_{number}(values):\n    return values[{number}]\n" for number in range(120)
)


@pytest.mark.parametrize(
    "total", ["max_all_results_chars", "max_all_results_tokens", "max_request_tokens"]
)
def test_a_total_shortens_old_results_before_it_clears_any(api: ModuleType, total: str) -> None:
    """The oldest first, and no more than the target asks for. Without kinds of texts, they are cleared at once."""
    turns = [wire.turn("search", {"q": f"{n}"}, FUNCTIONS, f"t{n}") for n in range(8)]
    messages = wire.join(*turns)
    size = len(FUNCTIONS) if total.endswith("chars") else count_tokens(FUNCTIONS)

    def reasons(results: float, **settings: Any) -> list[str]:
        policy = ProjectPolicy(**{total: int(results * size)}, clear_at_least_tokens=0, **settings)
        once = api.project(messages, policy=policy)
        assert api.project(once.messages, policy=policy).messages == once.messages
        again = api.project(messages, policy=policy, previous=once.decisions)
        assert again.decisions.made == once.decisions.made
        return [found.reason for found in once.report.replacements]

    assert set(reasons(7)) == {"shortened"}
    assert len(reasons(7)) < 7
    assert reasons(7, content="off") == ["cleared"] * len(reasons(7, content="off"))
    tight = reasons(2.5)
    assert tight == sorted(tight)
    assert set(tight) == {"cleared", "shortened"}
    assert len(tight) == 7


def test_a_request_fits_the_window(api: ModuleType) -> None:
    turns = [wire.bash(f"run {number}", LONG, f"t{number}") for number in range(6)]
    messages = [wire.user({"type": "text", "text": "Go on. " * 50}), *wire.join(*turns)]
    whole = api.project(messages, policy=ProjectPolicy(max_request_tokens=NO_LIMIT)).report
    assert whole.tokens_after == whole.tokens_before
    assert whole.replacements == ()
    for limit, reasons in (
        (4_000, {"cleared", "cut"}),
        (1_000, {"cleared", "cut"}),
        (300, {"dropped", "cut"}),
    ):
        projected = api.project(
            messages, policy=ProjectPolicy(max_request_tokens=limit, clear_at_least_tokens=0)
        )
        assert projected.report.tokens_after <= limit
        assert set(projected.report.reasons) <= {*reasons, "dropped"}
        assert projected.messages[0] is messages[0]
    least = api.project(messages, policy=ProjectPolicy(max_request_tokens=10))
    assert least.report.over_request == least.report.tokens_after - 10
    assert len(least.messages) == 3


def test_results_removed_by_repair_need_no_room(api: ModuleType) -> None:
    """This covers a result without a call and a result in the model's own message."""
    words = {"type": "text", "text": "Go on."}
    lost = wire.user(wire.result("t9", LONG), words)
    turns = [*wire.bash("ls", "x", "t1"), *wire.bash("pwd", "y", "t2")]
    policy = ProjectPolicy(repair=True, max_request_tokens=200, clear_at_least_tokens=0)
    found = api.project([lost, *turns], policy=policy)
    assert found.messages == [wire.user(words), *turns]
    said = wire.assistant(wire.use("t0"), wire.result("t0", LONG))
    both = [lost, said, wire.user(words), *turns]
    once = api.project(both, policy=policy)
    assert once.report.tokens_after <= 200
    assert api.project(both, policy=policy, previous=once.decisions).messages == once.messages


def test_decisions_are_applied(api: ModuleType) -> None:
    """Also where it is shorter, and has as many tokens."""
    for size in range(40, 70):
        messages = wire.bash("ls", "y" * size)
        policy = ProjectPolicy(repair=True, max_request_tokens=20)
        once = api.project(messages, policy=policy)
        assert (once.messages != messages) == bool(once.report.replacements)
        again = api.project(messages, policy=policy, previous=once.decisions)
        assert again.messages == once.messages


def test_a_body_counts_its_system_prompt_and_its_tools(api: ModuleType) -> None:
    messages = wire.bash("ls", LONG)
    limit = ProjectPolicy(max_request_tokens=2_000)
    bare = api.project_body(compact_json({"messages": messages}).encode(), policy=limit).report
    body = {"system": "word " * 500, "messages": messages, "tools": [{"name": "Bash"}]}
    full = api.project_body(compact_json(body).encode(), policy=limit).report
    assert full.tokens_before - bare.tokens_before > 500


def test_loops_that_went_stay_away(api: ModuleType) -> None:
    turns = [wire.bash(f"run {number}", LONG, f"t{number}") for number in range(6)]
    messages = [wire.user({"type": "text", "text": "Go on."}), *wire.join(*turns)]
    first = api.project(
        messages, policy=ProjectPolicy(max_request_tokens=300, clear_at_least_tokens=0)
    )
    gone = [found.reference for found in first.report.replacements if found.reason == "dropped"]
    assert gone
    assert first.decisions.dropped == frozenset(gone)
    assert not set(gone) & set(first.decisions.made)
    assert first.report.chars_after == sum(
        found.chars_after for found in first.report.replacements if found.reason != "dropped"
    ) + len(LONG) * (6 - len(first.report.replacements))
    later = api.project(messages, previous=first.decisions)
    assert later.messages == first.messages
    roomy = ProjectPolicy(max_all_results_chars=6 * len(LONG) - len(gone) * len(LONG))
    total = api.project(messages, policy=roomy, previous=first.decisions)
    assert total.messages == first.messages


def test_parts_that_become_text_may_have_more_bytes_by_their_quotes(api: ModuleType) -> None:
    """Found by fuzzing. A limit counts characters: a quote is one, and two bytes where it stands in a string."""
    words = "one two three " * 4
    part = {"data": words, "kind": words, "name": words, "text": "taken", "unit": words}
    messages = wire.join(wire.bash("ls", [part], "t1"))
    body = compact_json({"messages": messages}).encode()
    size = len(compact_json([part]))
    found = api.project_body(body, policy=ProjectPolicy(max_result_chars=size // 3))
    (cut,) = found.report.replacements
    assert cut.chars_after < cut.chars_before == size
    assert len(found.body) - found.body.count(b'\\"') <= len(body)
