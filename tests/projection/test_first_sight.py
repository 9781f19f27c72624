"""``max_result_tokens="auto"``: a result is shortened when it is first sent, and never changes again."""

import json
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.builders.handovers import word
from support.economy import FRAME, modules, needed, sessions
from support.goldens.inputs import workload

from toolcarry import NO_LIMIT, CarryPolicy, ConfigError, ProjectPolicy, Rule
from toolcarry.types import price_models

AUTO = ProjectPolicy(max_result_tokens="auto")
KEEP = Rule("*", keep="all")
"""Nothing is superseded, so that a result changes only if its limit does."""


def output(number: int, lines: int) -> list[Any]:
    text = "".join(
        f"step {number} {word(line % 1_728)} {line} of the output\n" for line in range(lines)
    )
    return list(wire.bash(f"make t{number}", text, f"t{number}"))


def file(number: int, lines: int) -> list[Any]:
    text = "".join(f"value_{number}_{line} = {line}\n" for line in range(lines))
    return list(wire.read(f"f{number}.py", text, f"t{number}"))


def texts(messages: list[Any]) -> list[str]:
    return [part["content"] for message in messages for part in message["content"] if part["type"] == "tool_result"]  # fmt: skip


def body(messages: list[Any], system: str = "x" * 4 * FRAME) -> bytes:
    return json.dumps({"model": "m", "system": system, "messages": messages}).encode()


def sent(api: ModuleType, messages: list[Any], **frame: str) -> list[str]:
    return texts(json.loads(api.project_body(body(messages, **frame), policy=AUTO).body)["messages"])  # fmt: skip


def test_the_output_of_commands_is_shortened_first(rust: ModuleType) -> None:
    messages = [*output(0, 200), *file(1, 800), *output(2, 200), *file(3, 3_000)]
    given, found = texts(messages), sent(rust, messages)
    assert [len(text) < len(whole) for text, whole in zip(found, given, strict=True)] == [True, False, True, True]  # fmt: skip
    assert 3_000 < len(found[0]) <= 4_000
    assert len(found[2]) < len(found[0])
    assert 24_000 < len(found[3]) <= 32_000
    assert "whole: t0]" in found[0]


@pytest.mark.parametrize(("name", "is_whole"), [("Task", True), ("subagent", True), ("spawn_agent", True), ("WebFetch", False)])  # fmt: skip
def test_the_answer_of_an_agent_stays_whole(rust: ModuleType, name: str, is_whole: bool) -> None:
    """A model wrote it for the one that asked, which quotes it from anywhere."""
    text = "".join(f"Finding {line}: the module is too shallow.\n" for line in range(2_000))
    messages = wire.turn(name, {"prompt": "Review the modules."}, text, "t1")
    assert (sent(rust, messages)[0] == text) == is_whole


def test_the_limit_falls_to_half(rust: ModuleType) -> None:
    sizes = list(map(len, sent(rust, wire.join(*(output(number, 1_000) for number in range(6))))))
    assert sizes[0] <= 4_000
    assert sizes == sorted(sizes, reverse=True)
    assert all(1_800 < size <= 2_000 for size in sizes[2:])


def test_a_small_window_is_full_sooner(rust: ModuleType) -> None:
    messages = [*output(0, 200), *output(1, 200)]
    large, small = (
        texts(rust.project(wire.join(file(9, 500), messages), policy=ProjectPolicy(max_result_tokens="auto", window_tokens=window)).messages)[-1]
        for window in (None, 8_000)
    )  # fmt: skip
    assert len(small) < len(large)


def test_a_request_that_no_cache_takes_is_not_shortened(rust: ModuleType) -> None:
    """Shorter than 4,096 tokens, it would cost more than the longer one, which a cache takes."""
    assert max(each.least_of() for each in price_models().values()) == 4_096
    messages = output(0, 400)
    assert sent(rust, messages, system="") == texts(messages)
    found = sent(rust, [*messages, *output(1, 400), *output(2, 400)], system="")
    assert found[0] == texts(messages)[0]
    assert len("".join(found)) >= 4 * 4_096
    assert len(found[2]) <= 4_000


def turns(seed: int) -> list[Any]:
    random = Random(seed)
    made = [random.choice([output, file])(number, random.choice([3, 60, 500, 2_000])) for number in range(20)]  # fmt: skip
    return list(wire.join(*made))


@pytest.mark.parametrize("seed", range(4))
def test_what_was_sent_never_changes(rust: ModuleType, seed: int) -> None:
    """Neither with the decisions of the request before, nor without any memory of it."""
    policy = ProjectPolicy(max_result_tokens="auto", rules=[KEEP])
    messages = turns(seed)
    whole = rust.project(messages, policy=policy).messages
    assert whole != messages
    previous = None
    for end in range(2, len(messages) + 1, 2):
        stateless = rust.project(messages[:end], policy=policy)
        remembered = rust.project(messages[:end], policy=policy, previous=previous)
        previous = remembered.decisions
        assert stateless.messages == remembered.messages == whole[:end]


def test_a_result_that_comes_late_changes_no_limit(rust: ModuleType) -> None:
    """The call of the late result is the oldest one, but its result is behind the others."""
    [slow_call, slow], [call, done] = output(0, 2_000), output(1, 500)
    calls = {"role": "assistant", "content": [*slow_call["content"], *call["content"]]}
    before = rust.project([calls, done], policy=AUTO).messages
    after = rust.project([calls, done, slow], policy=AUTO).messages
    assert after[:2] == before


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_projection_of_a_projection_changes_nothing(rust: ModuleType, seed: int, repair: bool) -> None:  # fmt: skip
    policy = ProjectPolicy(max_result_tokens="auto", repair=repair)
    messages = [message for number, message in enumerate(turns(seed)) if not repair or number % 7]
    once = rust.project(messages, policy=policy).messages
    assert rust.project(once, policy=policy).messages == once


def test_other_limits_hold(rust: ModuleType) -> None:
    messages = [*output(0, 2_000), *output(1, 2_000)]
    shorter = ProjectPolicy(max_result_tokens="auto", max_result_chars=500)
    assert all(len(text) <= 500 for text in texts(rust.project(messages, policy=shorter).messages))
    rule = Rule("Bash", kind="command", keep="all", max_result_chars=6_000)
    by_rule = ProjectPolicy(max_result_tokens="auto", rules=[rule])
    found = texts(rust.project(messages, policy=by_rule).messages)
    assert all(5_000 < len(text) <= 6_000 for text in found)


def test_no_result_is_cleared(rust: ModuleType) -> None:
    """An image as a data URL can't be shortened, only cleared."""
    image = "data:image/png;base64," + "iVBORw0KGgo" * 10_000
    messages = list(wire.bash("screenshot", image, "t1"))
    assert rust.project(messages, policy=AUTO).messages == messages


def test_old_results_that_were_sent_whole_stay(rust: ModuleType) -> None:
    messages = [*output(0, 2_000), *output(1, 2_000)]
    first = rust.project(messages[:2], policy=ProjectPolicy(max_result_tokens=NO_LIMIT))
    then = rust.project(messages, policy=AUTO, previous=first.decisions)
    assert then.messages[:2] == messages[:2]
    assert set(then.decisions.made) == {"t1"}


@pytest.mark.slow
@pytest.mark.usefixtures("rust")
def test_what_later_calls_quote_was_sent(real_transcripts: Path) -> None:
    """At least 99 of 100 words and lines that calls quote from results were in what had been sent."""
    policy = modules().request_policies.ours_in_bodies(FRAME, max_result_tokens="auto")
    held, all_needed = needed(sessions(real_transcripts), policy)
    assert all_needed > 300
    assert held / all_needed >= 0.99


@pytest.mark.usefixtures("rust")
def test_the_measure_sees_what_is_left_out() -> None:
    found = [modules().session_requests.session_of("", list(workload(66).given), {})]
    policies = modules().request_policies
    held, all_needed = needed(found, policies.ours(max_result_tokens=100))
    assert held < all_needed == needed(found, policies.ours())[0]


@pytest.mark.parametrize("given", ["automatic", "", "auto "])
def test_another_word_is_refused(given: str) -> None:
    with pytest.raises(ConfigError, match=r"max_result_tokens: .* a share such as '80%', 'auto'"):
        ProjectPolicy(max_result_tokens=given)


def test_a_context_has_no_such_limit() -> None:
    with pytest.raises(ConfigError, match=r"max_result_tokens: 'auto' is not allowed; allowed: "):
        CarryPolicy(max_result_tokens="auto")
