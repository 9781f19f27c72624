"""The bill of a conversation is at no request above that of sending it unchanged, at every provider's prices."""

from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.economy import FRAME, costs, dearer, modules, replay, session_of, sessions
from support.examples import IS_LONG
from support.goldens.inputs import workload
from support.transcripts import growing

from toolcarry import NO_LIMIT, ConfigError, ProjectPolicy
from toolcarry.types import Decisions, price_models

EXAMPLE = Path(__file__).parents[2] / "examples" / "session.jsonl"
POLICIES = {
    "nothing set": ProjectPolicy(),
    "no limit on a result": ProjectPolicy(max_result_tokens=NO_LIMIT),
    "results of 500 tokens": ProjectPolicy(max_result_tokens=500),
    "results of 2,000 characters": ProjectPolicy(max_result_chars=2_000),
    "old arguments": ProjectPolicy(clear_tool_inputs=True),
    "everything": ProjectPolicy(max_result_tokens=1_000, clear_tool_inputs=True, keep_last_turns=2),
}
"""Policies without a limit on all results or on the request, which are promises of their own."""
FRAMES = {name: (0, FRAME) if place < 2 else (FRAME,) for place, name in enumerate(POLICIES)}
"""The tokens of the system prompt and tools. A limit that a user sets may leave a short request below the least length
that a provider caches."""
LONG = "x = 1\n" * 500


@pytest.mark.parametrize("name", POLICIES)
def test_a_session(api: ModuleType, name: str) -> None:
    [session] = sessions(EXAMPLE)
    assert dearer(api, session, POLICIES[name], FRAMES[name]) == []


@pytest.mark.parametrize("size", [20, 66])
@pytest.mark.parametrize("name", POLICIES)
def test_workloads(api: ModuleType, size: int, name: str) -> None:
    session = session_of(list(workload(size).given))
    assert dearer(api, session, POLICIES[name], FRAMES[name]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_real_transcripts(api: ModuleType, real_transcripts: Path, name: str) -> None:
    for session in sessions(real_transcripts):
        assert dearer(api, session, POLICIES[name], FRAMES[name]) == [], session.name


def made(seed: int) -> Any:
    """Return a session of reads, edits and commands of few files, with results of all sizes."""
    random = Random(seed)
    turns: list[Any] = [{"role": "user", "content": "Go on."}]
    for number in range(random.choice([10, 40, 80])):
        file = f"f{random.randrange(4)}.py"
        text = f"line {random.random()}\n" * random.choice([1, 20, 200, 1_000])
        call_id = f"t{number}"
        turns += random.choice([
            wire.read(file, text, call_id),
            wire.read(file, text, call_id),
            wire.bash(random.choice(["make", "ls", "git status"]), text, call_id),
            wire.edit(file, text, text.upper(), call_id),
        ])  # fmt: skip
    return session_of([*turns, wire.assistant({"type": "text", "text": "Done."})])


@pytest.mark.parametrize("name", POLICIES)
def test_generated_sessions(api: ModuleType, name: str) -> None:
    for seed in range(8 if IS_LONG else 5):
        assert dearer(api, made(seed), POLICIES[name], FRAMES[name]) == [], seed


def test_what_was_saved_pays_for_changes(api: ModuleType) -> None:
    """Changes of what was sent are not given up: they are made once they are covered."""
    session = session_of(list(workload(66).given))
    policy = ProjectPolicy(max_result_tokens=2_000, prices="gpt-5")
    reports = [found.report for _, found in replay(api, session, policy)]
    assert any(report.cache_break_tokens for report in reports)
    assert "superseded" in {fate for fate, *_ in last_decisions(api, session, policy).made.values()}


def last_decisions(api: ModuleType, session: Any, policy: ProjectPolicy) -> Decisions:
    *_, (_, found) = replay(api, session, policy)
    decisions: Decisions = found.decisions
    return decisions


def test_without_a_cache_every_change_pays(api: ModuleType) -> None:
    policy = ProjectPolicy(prices="none")
    first = api.project(wire.read("a.py", LONG, "t1"), policy=policy)
    messages = [*wire.read("a.py", LONG, "t1"), *wire.read("a.py", LONG, "t2")]
    then = api.project(messages, policy=policy, previous=first.decisions)
    assert then.report.reasons == {"later_read": 1}


def test_in_a_cold_cache_every_change_is_free(api: ModuleType) -> None:
    messages = wire.join(*(wire.read("a.py", LONG, f"t{number}") for number in range(4)))
    first = api.project(messages[:6])
    warm = api.project(messages, previous=first.decisions)
    assert "t3" not in warm.decisions.made
    cold = api.project(messages, previous=first.decisions.when_cold())
    assert set(cold.decisions.made) == {"t0", "t1", "t2"}
    assert cold.report.cache_break_tokens == 0
    assert cold.report.write_tokens_saved > 0


def test_a_number_of_tokens_is_a_promise_whose_cost_is_reported(api: ModuleType) -> None:
    turns = wire.join(*(wire.read(f"f{number % 3}.py", LONG, f"t{number}") for number in range(24)))
    previous = None
    written = 0
    for messages in growing(turns):
        found = api.project(messages, policy=ProjectPolicy(clear_at_least_tokens=1_000), previous=previous)  # fmt: skip
        previous, written = found.decisions, written + found.report.write_tokens_saved
    assert written < 0
    assert found.decisions.savings[0] < 0 < found.decisions.savings[1]


def text_bytes(value: Any) -> int:
    """Return the bytes of all texts in a value."""
    if isinstance(value, str):
        return len(value.encode())
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(text_bytes, values))


@pytest.mark.parametrize("settings", [{}, {"max_result_chars": 3_000}, {"clear_at_least_tokens": 2_000}])  # fmt: skip
def test_the_report_is_what_a_provider_counts(api: ModuleType, settings: dict[str, Any]) -> None:
    """Within a hundredth of what was read and written, by bytes, as savings are estimated."""
    session = session_of(list(workload(66).given))
    price = price_models()["deepseek"]
    pieces = modules().cache_bill.Pieces(0, count=lambda item: text_bytes(item) / 4)
    plain = list(replay(api, session, None))
    found = list(replay(api, session, ProjectPolicy(**settings)))
    reported = [
        price.cache_write * each.report.write_tokens_saved + price.cache_read * each.report.read_tokens_saved
        for _, each in found
    ]  # fmt: skip
    without = costs(plain, price, pieces)[-1]
    with_policy = costs([(clock, each.messages) for clock, each in found], price, pieces)[-1]
    assert sum(reported) == pytest.approx(without - with_policy, abs=without / 100)
    pairs = [price.costs(each.report) for _, each in found]
    assert sum(sent.units for sent, _ in pairs) == pytest.approx(with_policy, abs=without / 100)
    assert sum(unchanged.units for _, unchanged in pairs) == pytest.approx(without, rel=0.01)


@pytest.mark.parametrize("prices", ["claude-9", "", 1])
def test_an_unknown_price_model(prices: Any) -> None:
    with pytest.raises(ConfigError, match=r"prices: .* is not allowed; allowed: 'none', 'claude'"):
        ProjectPolicy(prices=prices)
